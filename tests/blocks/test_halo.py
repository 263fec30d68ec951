"""Bytes that blocks read: of pipelines whose accesses are affine, the halo that these have, and none beyond it.

The halo is computed here a second time, by plain interval arithmetic: the least box around the accesses of a block,
from the last Func of a chain to the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import dask.array as da
import numpy as np
import pytest

import halide_core as hl
from tests.blocks.pipelines import x, y

Affine = tuple[int, int, int]
"""a*x + b*y + c."""
Reads = Sequence[tuple[Affine, Affine]]
Interval = tuple[int, int]
"""The first and the last."""
CHAINS: dict[str, list[Reads]] = {
    "neighbours, thrice": [[((1, 0, -1), (0, 1, 0)), ((1, 0, 2), (0, 1, 1))]] * 3,
    "every second point of every second": [[((2, 0, 0), (0, 2, 0)), ((2, 0, 1), (0, 2, 1))]] * 2,
    "reversed": [[((-1, 0, 4), (0, -3, 2)), ((-1, 0, 5), (0, -3, 2))]],
    "transposed, then sheared": [[((0, 1, 0), (1, 0, 0))], [((1, 1, 0), (0, 1, -1))]],
    "reversed, then of one row": [[((-1, 0, 0), (0, 1, 0)), ((-2, 0, 3), (0, 1, 0))], [((1, 0, 0), (0, 0, 7))]],
    "far apart": [[((1, 0, 0), (0, 1, 0)), ((1, 0, 29), (0, 1, -31))]],
}


def _values(of: Affine, box: Sequence[Interval]) -> Interval:
    found = [of[0] * p + of[1] * q + of[2] for p, q in product(*box)]
    return min(found), max(found)


def _halo(chain: Sequence[Reads], box: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """The box of the input that a box of the result reads."""
    for reads in reversed(chain):
        each = [[_values(affine, box) for affine in read] for read in reads]
        box = tuple((min(v[d][0] for v in each), max(v[d][1] for v in each)) for d in (0, 1))
    return box


class _Recorded:
    """An array that remembers the boxes that are read of it, x first."""

    def __init__(self, array: Any) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype
        self.boxes: list[tuple[Interval, ...]] = []

    def __getitem__(self, index: tuple[slice, ...]) -> Any:
        self.boxes.append(tuple((s.start, s.stop - 1) for s in reversed(index)))
        return self._array[index]


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("root", [False, True])
def test_a_block_reads_its_halo_and_nothing_beyond_it(name: str, *, root: bool) -> None:
    chain, shape, chunks = CHAINS[name], (17, 23), (6, 9)
    image = hl.ImageParam(hl.Int(32), 2, "image")
    f: Any = image
    low = [n for n, _ in _halo(chain, ((0, shape[1] - 1), (0, shape[0] - 1)))]  # the input begins there
    for k, reads in enumerate(chain):
        g, at = hl.Func(f"f{k}"), low if k == 0 else (0, 0)
        terms = [
            f[p[0] * x + p[1] * y + (p[2] - at[0]), q[0] * x + q[1] * y + (q[2] - at[1])] * (weight + 1)
            for weight, (p, q) in enumerate(reads)
        ]
        g[x, y] = sum(terms, hl.i32(0))
        if root and k < len(chain) - 1:
            g.compute_root()
        f = g
    boxes = []
    for rows, columns in product(((0, 5), (6, 11), (12, 16)), ((0, 8), (9, 17), (18, 22))):
        box = _halo(chain, (columns, rows))
        boxes.append(tuple((b - n, e - n) for (b, e), n in zip(box, low, strict=True)))
    size = [1 + max(e for _, e in ends) for ends in zip(*boxes, strict=True)]
    array = np.random.default_rng(0).integers(-9, 9, size[::-1]).astype(np.int32)
    image.set(array)
    want = np.asarray(f.realize([shape[1], shape[0]]))
    recorded = _Recorded(array)
    lazy = hl.dask.realize(f, shape, chunks=chunks, inputs={image: recorded})
    assert np.array_equal(lazy.compute(scheduler="synchronous"), want)
    assert sorted(recorded.boxes) == sorted(boxes)
    plan = hl.dask.plan(f, shape, chunks=chunks, inputs={image: da.from_array(array, chunks=5)})
    ideal = 4 * sum((b[1] - b[0] + 1) * (c[1] - c[0] + 1) for b, c in boxes)
    assert plan.reads[0].needed == plan.reads[0].transferred == ideal
