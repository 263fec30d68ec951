"""Vectors are no wider than the registers of the machine that code is made for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lowering.driver import lower, register_bytes
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import image, numbers, same, variables

(x,) = variables("x")
TARGETS = {
    "x86-64-linux-avx512_skylake-avx2-avx-fma-f16c-sse41": 64,
    "x86-64-linux-avx2-avx-sse41": 32,
    "x86-64-linux-avx-sse41": 16,
    "x86-64-linux": 16,
}


@pytest.mark.parametrize(("target", "size"), TARGETS.items(), ids=list(TARGETS))
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64], ids=lambda d: d.__name__)
def test_vectors_fit_the_registers(dtype: type, target: str, size: int) -> None:
    source = image(numbers((256,), dtype), "source")
    f = hl.Func("f")
    f[x] = source[x] + source[x]
    f.vectorize(x, 64)
    assert register_bytes(hl.Target(target)) == size
    lowered = lower(replace(f._request(), target=hl.Target(target)))
    stores = [s.value.type for s in walk(lowered.body) if isinstance(s, ir.Store)]
    assert stores and {t.lanes() * t.bytes() for t in stores} == {size}
    loads = [e for s in walk(lowered.body) for e in subexpressions(stmt_exprs(s)) if isinstance(e, ir.Load)]
    assert all(e.type.lanes() * e.type.bytes() == size for e in loads)
    assert f"vector_size({2 * size})" not in emit_c(lowered)
    if hl.get_host_target().has_feature(hl.TargetFeature.AVX2) and size < 64:
        given = np.asarray(source.get())
        same(np.asarray(f.realize([256], hl.Target(target))), given + given)


def test_registers_of_this_machine() -> None:
    assert register_bytes(None) == hl.get_host_target().natural_vector_size(hl.UInt(8))
