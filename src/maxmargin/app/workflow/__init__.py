"""From a file to a model, and from a model to predictions: what the commands do."""
