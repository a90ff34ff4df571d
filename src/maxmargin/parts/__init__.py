"""Problems whose rows are never all here at once: files read in pieces, partitions of a cluster."""
