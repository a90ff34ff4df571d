"""One algorithm per file, one folder per family: a problem goes in, a solution comes out."""
