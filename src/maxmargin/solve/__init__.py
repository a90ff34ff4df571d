"""One algorithm per file: a Problem goes in, a Solution comes out."""
