"""Model files: one documented format without code in it (docs/model-format.md)."""
