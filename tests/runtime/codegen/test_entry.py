"""Pipelines under the words of C, of its headers and of our own entry."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import halide_core as hl

x = hl.Var("x")


@pytest.mark.parametrize(
    "name", ["arguments", "_arguments", "size_t", "ptrdiff_t", "offsetof", "max_align_t", "free", "y1", "int"]
)
def test_a_pipeline_can_have_any_name(name: str, tmp_path: Path) -> None:
    f = hl.Func(name)
    f[x] = x * 2
    assert list(f.realize([3])) == [0, 2, 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HalideWarning)  # C calls it otherwise
        f.compile_to_static_library(str(tmp_path / "made"), [], name)
    assert (tmp_path / "made.a").exists()
