"""What is wrong with a model file, in one sentence."""


class ModelFileError(ValueError):
    """A model file that cannot be read: truncated, altered, too new, or no model file at all."""


class NotStorableError(ValueError, TypeError):
    """A model, or a part of one, that a file without code cannot hold."""
