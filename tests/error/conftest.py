"""After every bad input: the interpreter is alive, the next pipeline runs, and the cache holds whole entries only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from tests.support import blame


@pytest.fixture(autouse=True)
def fixture_sound_afterwards(cache_folder: Path) -> Iterator[None]:
    yield
    if not blame.RUNS_AFTERWARDS:
        return
    x, f = hl.Var("x"), hl.Func("alive")
    f[x] = x * 3
    assert np.asarray(f.realize([4])).tolist() == [0, 3, 6, 9]
    blame.cache_is_sound(cache_folder)
