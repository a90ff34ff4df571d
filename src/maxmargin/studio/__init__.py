"""The studio: a page on this machine to draw points, step perceptrons and fit files."""
