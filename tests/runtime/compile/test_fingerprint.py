"""The key of the compile cache: equal for equal programs in every process, different for all that changes the code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import halide_core as hl
from halide_core.run.backend import Request
from halide_core.runtime.compile.fingerprint import fingerprint
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler

ROOT = Path(__file__).resolve().parents[3]
x, y, xo, xi = (hl.Var(n) for n in "x y xo xi".split())
COMPILER, OPTIONS = Compiler(("cc",), "one"), CompileOptions()


def key(f: hl.Func, compiler: Compiler = COMPILER, options: CompileOptions = OPTIONS) -> str:
    return fingerprint(f._request(), compiler, options)


def pair(
    value: Callable[[Any, Any], Any] = lambda g, p: g[x, y] + p,
    *,
    name: str = "f",
    param: str = "p",
    schedule: Callable[[hl.Func, hl.Func], object] = lambda g, f: None,
    low: int | None = None,
    type: hl.Type | None = None,
) -> hl.Func:
    """f, which reads g and a Param."""
    p = hl.Param(type or hl.Int(32), param)
    if low is not None:
        p.set_min_value(low)
    g, f = hl.Func("g"), hl.Func(name)
    g[x, y] = x * 2 + y
    f[x, y] = value(g, p)
    schedule(g, f)
    return f


def specialized(act: Callable[[hl.Func, hl.Stage], object]) -> Callable[[hl.Func, hl.Func], object]:
    """A schedule that specializes f, and then gives directives to it or to the case."""
    return lambda g, f: act(f, f.specialize(hl.Param(hl.Int(32), "n") > 5))


def updated() -> hl.Func:
    f = pair()
    f[x, 0] = 1
    return f


CHANGES: dict[str, Callable[[], hl.Func]] = {
    "nothing": pair,
    "a constant": lambda: pair(lambda g, p: g[x, y] + p + 1),
    "another constant": lambda: pair(lambda g, p: g[x, y] + p + 2),
    "a float": lambda: pair(lambda g, p: hl.f32(g[x, y] + p) + 0.0),
    "a negative zero": lambda: pair(lambda g, p: hl.f32(g[x, y] + p) + -0.0),
    "a double": lambda: pair(lambda g, p: hl.f64(g[x, y] + p)),
    "an operator": lambda: pair(lambda g, p: g[x, y] - p),
    "operands": lambda: pair(lambda g, p: p - g[x, y]),
    "a coordinate": lambda: pair(lambda g, p: g[y, x] + p),
    "sharing": lambda: pair(lambda g, p: (g[x, y] + p) * (g[x, y] + p)),
    "a name": lambda: pair(name="h"),
    "a Param's name": lambda: pair(param="q"),
    "a Param's type": lambda: pair(type=hl.Int(16)),
    "a Param's range": lambda: pair(low=0),
    "a Param's other range": lambda: pair(low=1),
    "an update": updated,
    "compute_root": lambda: pair(schedule=lambda g, f: g.compute_root()),
    "compute_at": lambda: pair(schedule=lambda g, f: g.compute_at(f, x)),
    "compute_at elsewhere": lambda: pair(schedule=lambda g, f: g.compute_at(f, y)),
    "a factor": lambda: pair(schedule=lambda g, f: f.split(x, xo, xi, 4)),
    "another factor": lambda: pair(schedule=lambda g, f: f.split(x, xo, xi, 8)),
    "a tail": lambda: pair(schedule=lambda g, f: f.split(x, xo, xi, 8, hl.TailStrategy.GuardWithIf)),
    "a kind": lambda: pair(schedule=lambda g, f: f.parallel(y)),
    "another kind": lambda: pair(schedule=lambda g, f: f.unroll(y)),
    "an order": lambda: pair(schedule=lambda g, f: f.reorder(y, x)),
    "a specialization": lambda: pair(schedule=lambda g, f: f.specialize(hl.Param(hl.Int(32), "n") > 3)),
    "another specialization": lambda: pair(schedule=lambda g, f: f.specialize(hl.Param(hl.Int(32), "n") > 4)),
    "a specialization by a shape": lambda: pair(schedule=lambda g, f: f.specialize(f.output_buffer().width() > 3)),
    "a directive of the general case": lambda: pair(schedule=specialized(lambda f, case: f.parallel(y))),
    "a directive of a case": lambda: pair(schedule=specialized(lambda f, case: case.parallel(y))),
    "a failing case": lambda: pair(schedule=specialized(lambda f, case: f.specialize_fail("no"))),
    "another message": lambda: pair(schedule=specialized(lambda f, case: f.specialize_fail("none"))),
    "an alignment": lambda: pair(schedule=lambda g, f: f.align_bounds(x, 8)),
    "another alignment": lambda: pair(schedule=lambda g, f: f.align_bounds(x, 8, 1)),
    "an aligned extent": lambda: pair(schedule=lambda g, f: f.align_extent(x, 8)),
    "another loop's name": lambda: pair(schedule=lambda g, f: f.rename(x, xo)),
    "two directives": lambda: pair(schedule=lambda g, f: f.reorder(y, x).parallel(y)),
    "two directives, swapped": lambda: pair(schedule=lambda g, f: f.parallel(y).reorder(y, x)),
}


def test_keys_differ_when_anything_does() -> None:
    keys = {what: key(make()) for what, make in CHANGES.items()}
    assert len(set(keys.values())) == len(CHANGES), keys


@pytest.mark.parametrize("what", CHANGES)
def test_key_is_the_same_when_built_again(what: str) -> None:
    assert key(CHANGES[what]()) == key(CHANGES[what]())


def test_key_differs_when_the_compiler_or_the_order_of_arguments_does() -> None:
    f = pair(lambda g, p: g[x, y] + p + hl.Param(hl.Int(32), "q"))
    other = Compiler(("cc",), "two")
    request = f._request()
    reversed_ = Request(request.outputs, request.inputs[::-1], request.name)
    keys = [
        key(f),
        key(f, other),
        key(f, options=CompileOptions(extra_flags=("-O3",))),
        key(f, options=CompileOptions(march=None)),
        fingerprint(reversed_, COMPILER, OPTIONS),
        fingerprint(Request(request.outputs, request.inputs, "other"), COMPILER, OPTIONS),
    ]
    assert len(set(keys)) == len(keys)


def unused(of: hl.ImageParam | hl.Param) -> str:
    """The key of a program with an argument that nothing reads."""
    f = hl.Func("f")
    f[x] = x
    return fingerprint(f._request([of.source]), COMPILER, OPTIONS)


def image(type: hl.Type, dimensions: int, about: Callable[[hl.ImageParam], object] = id) -> hl.ImageParam:
    made = hl.ImageParam(type, dimensions, "u")
    about(made)
    return made


def ranged(low: int) -> hl.Param:
    p = hl.Param(hl.Int(32), "u")
    p.set_min_value(low)
    return p


def test_key_tells_arguments_apart_that_nothing_reads() -> None:
    kinds: list[hl.ImageParam | hl.Param] = [
        image(hl.UInt(8), 1),
        image(hl.UInt(8), 2),
        image(hl.Int(16), 1),
        image(hl.Int(16), 1, lambda u: u.set_host_alignment(64)),
        image(hl.Int(16), 1, lambda u: u.dim(0).set_min(5)),
        image(hl.Int(16), 1, lambda u: u.dim(0).set_extent(5)),
        hl.Param(hl.Int(32), "u"),
        hl.Param(hl.Float(32), "u"),
        ranged(0),
        ranged(1),
    ]
    assert len({unused(of) for of in kinds}) == len(kinds)


def test_key_depends_on_what_a_target_traces() -> None:
    f = pair()
    targets = [None, *map(hl.Target, ("host-trace_loads", "host-trace_stores", "host-trace_all", "host-strict_float"))]
    keys = {fingerprint(f._request(target=t), COMPILER, OPTIONS) for t in targets}
    assert len(keys) == len(targets)


def test_key_does_not_depend_on_values_and_data() -> None:
    p = hl.Param(hl.Int(32), "p", 3)
    f = hl.Func("f")
    f[x] = x + p
    before = key(f)
    p.set(4)
    assert key(f) == before


def test_key_is_the_same_in_every_process() -> None:
    code = """
from tests.runtime.compile.test_fingerprint import CHANGES, key
print(*[key(make()) for make in CHANGES.values()])
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert found == {" ".join(key(make()) for make in CHANGES.values()) + "\n"}
