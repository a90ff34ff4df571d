"""Models of changed data: some rows gone, or some more, without beginning anew."""
