"""Training on data larger than memory: sources of chunks, a cache on disk, passes over it."""
