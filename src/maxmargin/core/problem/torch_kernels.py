"""Softmax of a chunk in one pass over its scores, by Triton where there is a CUDA device.

The arithmetic is that of ``torch_outputs.py``, in the scores' width, without a trip to memory
between its steps: a program reads one row, its parts added, and writes what products need next.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Classes up to which a row fits one program.
MAX_FUSED_CLASSES = 8192


@triton.jit
def _look(S, shift, y, share, R, Q, told, k, n, margin,
          PARTS: tl.constexpr, SPLIT: tl.constexpr,
          WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < k
    s = tl.load(S + row * PARTS * k + columns, mask=inside, other=0.0)
    for more in tl.static_range(1, PARTS):
        s += tl.load(S + (row * PARTS + more) * k + columns, mask=inside, other=0.0)
    s += tl.load(shift + columns, mask=inside, other=0.0)
    mine = columns == tl.load(y + row)
    s = tl.where(mine, s - margin, s)
    s = tl.where(inside, s, float("-inf"))
    s = s - tl.max(s, 0)
    own = tl.sum(tl.where(mine, s, 0.0), 0)
    e = tl.exp(s)
    mean = tl.sum(tl.where(inside, e * s, 0.0), 0)
    e = tl.where(mine, 0.0, e)
    others = tl.sum(e, 0)
    total = tl.exp(own) + others
    q = e / total
    wrong = others / total
    r = tl.where(mine, -wrong, q)
    # log(1 + x) without cancellation: log(u) x / (u − 1) for u = 1 + x, as rounded
    u = 1.0 + others
    tiny = u == 1.0
    small = tl.where(tiny, others, tl.log(u) * others / tl.where(tiny, 1.0, u - 1.0))
    value = tl.where(own == 0.0, small, tl.log(total) - own)
    conjugate = mean / total - tl.log(total)
    if WEIGHTED:
        w = tl.load(share + row)
        r, value, conjugate, wrong = r * w, value * w, conjugate * w, wrong * w
    tl.store(told + row, value)
    tl.store(told + n + row, conjugate)
    tl.store(told + 2 * n + row, wrong)
    tl.store(Q + row * k + columns, q.to(Q.dtype.element_ty), mask=inside)
    first = r.to(R.dtype.element_ty)
    tl.store(R + row * SPLIT * k + columns, first, mask=inside)
    if SPLIT == 2:
        rest = (r - first.to(tl.float32)).to(R.dtype.element_ty)
        tl.store(R + (row * SPLIT + 1) * k + columns, rest, mask=inside)


@triton.jit
def _bend(Z, shift, Q, y, share, T, k,
          PARTS: tl.constexpr, WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < k
    z = tl.load(Z + row * PARTS * k + columns, mask=inside, other=0.0).to(tl.float32)
    for more in tl.static_range(1, PARTS):
        z += tl.load(Z + (row * PARTS + more) * k + columns, mask=inside, other=0.0).to(tl.float32)
    z += tl.load(shift + columns, mask=inside, other=0.0)
    q = tl.load(Q + row * k + columns, mask=inside, other=0.0).to(tl.float32)
    mine = columns == tl.load(y + row)
    own = tl.sum(tl.where(mine, z, 0.0), 0)
    mean = tl.sum(q * z, 0) + (1.0 - tl.sum(q, 0)) * own
    t = q * (z - mean)
    t = tl.where(mine, -tl.sum(t, 0), t)
    if WEIGHTED:
        t = t * tl.load(share + row)
    tl.store(T + row * k + columns, t.to(T.dtype.element_ty), mask=inside)


def fused_look(S, shift, y, share, Q, dtype: torch.dtype, split: int, margin: float = 0.0):
    """Residuals of a chunk, in so many parts; Q is filled.  Also told are every row's loss,
    conjugate and 1 − p_y, weighted, as (3, rows)."""
    m, k = Q.shape
    parts = S.shape[1] // k
    R = torch.empty((m, split * k), dtype=dtype, device=S.device)
    told = torch.empty((3, m), dtype=S.dtype, device=S.device)
    block = triton.next_power_of_2(k)
    _look[(m,)](
        S, shift, y, told if share is None else share, R, Q, told, k, m, float(margin),
        PARTS=parts, SPLIT=split, WEIGHTED=share is not None, BLOCK=block,
        num_warps=_warps(block),
    )  # fmt: skip
    return R, told


def fused_bend(Z, shift, Q, y, share) -> torch.Tensor:
    """∇²f (Z + shift), weighted; Z in one part or two."""
    m, k = Q.shape
    block = triton.next_power_of_2(k)
    parts = Z.shape[1] // k
    T = Z if parts == 1 else torch.empty((m, k), dtype=Z.dtype, device=Z.device)
    _bend[(m,)](
        Z, shift, Q, y, shift if share is None else share, T, k,
        PARTS=parts, WEIGHTED=share is not None, BLOCK=block, num_warps=_warps(block),
    )  # fmt: skip
    return T


def _warps(block: int) -> int:
    return min(8, max(1, block // 256))
