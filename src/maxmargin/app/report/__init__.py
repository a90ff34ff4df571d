"""The report: one HTML page of what was done, how good it is and how sure."""
