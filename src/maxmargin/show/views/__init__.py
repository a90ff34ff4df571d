"""One file per picture: what it shows, as plain arrays."""
