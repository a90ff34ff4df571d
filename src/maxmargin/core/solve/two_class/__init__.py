"""Two classes: one hyperplane, one multiplier per row."""
