"""k classes at once: the "max" and the "sum" rule."""
