"""Rows in a torch tensor, on any device: one more storage, multiplied a chunk at a time.

Data stay in their own width (float16, bfloat16, float32, float64) and are never copied to a wider
one as a whole.  Products come in three precisions:

    QUICK   operands rounded to the data's width (tf32 for float32), sums in float32
    FINE    operands as a sum of parts in the data's width, each multiplied exactly:
            X V = X V₁ + X V₂ + X V₃;  float32 data in float32
    EXACT   every chunk converted to float64

and chunks are always added up in float64.  Rows that do not fit the device stay in the host's
memory and come by way of two pinned buffers, one being filled while the other is multiplied.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

import torch

from .rows import shape

# Rows multiplied at once.  Sums of many rows in float32 lose digits (1e-5 at 65,536 on a tensor
# core, 8e-5 at 262,144), and fewer rows do not fill the device.
CHUNK_ROWS = 65_536
# Values of a float64 chunk, of data or of scores: 256 MB.
EXACT_CHUNK_VALUES = 1 << 25
# The environment variable that lowers the first, where a device is small.
CHUNK_VARIABLE = "MAXMARGIN_CHUNK_ROWS"
# Share of a device's free memory that the data may take; more are left in the host's.
MAX_DATA_SHARE = 0.6
# float16 has few exponents: operands are scaled to this largest value, a power of two.
LARGEST_HALF = 1024.0

WIDTHS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class Precision(Enum):
    QUICK = 1
    FINE = 2
    EXACT = 3

    @property
    def weight_parts(self) -> int:
        """More than residuals have: what rounding does to weights the Hessian makes large."""
        return 3 if self is Precision.FINE else 1

    @property
    def residual_parts(self) -> int:
        return 2 if self is Precision.FINE else 1


class TorchRows:
    """An (n, d) tensor, and the device its products are computed on."""

    def __init__(self, X: torch.Tensor, device: torch.device | str | None = None):
        self.device = torch.device(X.device if device is None else device)
        self.X = X if X.device == self.device or not _fits(X, self.device) else X.to(self.device)
        self.n, self.d = X.shape
        self.dtype = X.dtype
        self.narrow = X.dtype in (torch.float16, torch.bfloat16)
        self.cuda = self.device.type == "cuda"
        self.chunk = int(os.environ.get(CHUNK_VARIABLE, CHUNK_ROWS))

    @property
    def streamed(self) -> bool:
        return self.X.device != self.device

    def take(self, index: torch.Tensor) -> TorchRows:
        """A copy of the rows named by ``index``, where these rows are."""
        return TorchRows(self.X[index.to(self.X.device)], self.device)

    def exact(self, index: torch.Tensor) -> torch.Tensor:
        """A float64 copy of a few rows, on the device."""
        return self.X[index.to(self.X.device)].to(self.device, torch.float64)

    def chunks(self, k: int = 1, precision: Precision = Precision.QUICK) -> Iterator:
        """(slice, rows) of every chunk, for products with k vectors."""
        size = self.chunk
        if precision is Precision.EXACT:
            size = min(size, max(256, EXACT_CHUNK_VALUES // max(self.d, k, 1)))
        parts = [slice(i, min(self.n, i + size)) for i in range(0, self.n, size)]
        if self.streamed and self.cuda:
            yield from self._staged(parts, size)
        else:
            for part in parts:
                yield part, self.X[part].to(self.device)

    def _staged(self, parts: list[slice], size: int) -> Iterator:
        """Chunks by way of two pinned buffers, each filled again once its copy has been made."""
        stream = torch.cuda.Stream(self.device)
        pinned = [torch.empty((size, self.d), dtype=self.dtype, pin_memory=True) for _ in "ab"]
        copied: list[torch.cuda.Event | None] = [None, None]
        ahead: list = []

        def send(at: int) -> None:
            part, side = parts[at], at % 2
            if (event := copied[side]) is not None:
                event.synchronize()
            rows = pinned[side][: part.stop - part.start]
            rows.copy_(self.X[part])
            with torch.cuda.stream(stream):
                block = rows.to(self.device, non_blocking=True)
            copied[side] = stream.record_event()
            ahead.append(block)

        send(0)
        for at, part in enumerate(parts):
            block, event = ahead.pop(0), copied[at % 2]
            if at + 1 < len(parts):
                send(at + 1)
            assert event is not None
            torch.cuda.current_stream(self.device).wait_event(event)
            block.record_stream(torch.cuda.current_stream(self.device))
            yield part, block

    # --- products of one chunk ------------------------------------------------------------

    def operand(self, V: torch.Tensor, precision: Precision) -> tuple[torch.Tensor, float]:
        """V (d, k) ready to be multiplied, its parts side by side, and what to multiply by."""
        if precision is Precision.EXACT:
            return V.double(), 1.0
        if not self.narrow:
            return V.to(self.dtype), 1.0
        scale = _power(V) if self.dtype is torch.float16 else 1.0
        return split(V * scale, self.dtype, precision.weight_parts), 1.0 / scale

    def scores(self, block: torch.Tensor, operand: tuple[torch.Tensor, float], k: int):
        """X V of a chunk, its parts added, in float32 or float64."""
        V, scale = operand
        S = added(product(block, V), k)
        return S if scale == 1.0 else S.mul_(scale)

    @contextmanager
    def width(self, precision: Precision):
        """tf32 for quick products of float32 data, and only there."""
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = (
            precision is Precision.QUICK and self.dtype is torch.float32
        )
        try:
            yield
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before


def product(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """A B summed in float32, or in float64 where B is so."""
    if B.dtype is torch.float64:
        return A.double() @ B
    if A.dtype not in (torch.float16, torch.bfloat16):
        return A @ B
    if A.device.type == "cuda":
        return torch.mm(A, B, out_dtype=torch.float32)
    return A.float() @ B.float()


def added(S: torch.Tensor, k: int) -> torch.Tensor:
    """The sum of parts of k columns that are side by side."""
    return S if S.shape[1] == k else S.view(len(S), -1, k).sum(1)


def split(V: torch.Tensor, dtype: torch.dtype, parts: int) -> torch.Tensor:
    """V₁, V₂, … side by side: each the rounded rest of what those before it leave."""
    found = []
    for _ in range(parts):
        part = V.to(dtype)
        found.append(part)
        V = V - part.to(V.dtype)
    return torch.cat(found, dim=1) if parts > 1 else found[0]


def _power(V: torch.Tensor) -> float:
    """The power of two that makes V's largest entry nearly ``LARGEST_HALF``."""
    top = float(V.abs().max())
    return 2.0 ** float(torch.tensor(LARGEST_HALF / top).log2().floor()) if top > 0 else 1.0


def _fits(X: torch.Tensor, device: torch.device) -> bool:
    if device.type != "cuda":
        return True
    free, _ = torch.cuda.mem_get_info(device)
    return X.numel() * X.element_size() <= MAX_DATA_SHARE * free


@shape.register
def _(rows: TorchRows) -> tuple[int, int]:
    return rows.n, rows.d
