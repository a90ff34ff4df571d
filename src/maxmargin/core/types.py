"""What users may hand in, for annotations: frames and lists, too, which numpy's names lack."""

from __future__ import annotations

from typing import Any, TypeAlias

# One value per row, or per class: arrays, lists, columns of frames.
ArrayLike: TypeAlias = Any
# n rows of d columns: arrays, sparse matrices, data frames.
MatrixLike: TypeAlias = Any
