"""Boundary conditions, by the reference semantics: the values are those that Halide 21 gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

BC = hl.BoundaryConditions
x, y = hl.Var("x"), hl.Var("y")


def source() -> hl.Buffer:
    b = hl.Buffer(np.array([10, 20, 30], np.uint8))
    b.set_min([2])
    return b


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (BC.repeat_edge, [10, 10, 10, 20, 30, 30, 30, 30, 30, 30]),
        (BC.repeat_image, [20, 30, 10, 20, 30, 10, 20, 30, 10, 20]),
        (BC.mirror_image, [20, 10, 10, 20, 30, 30, 20, 10, 10, 20]),
        (BC.mirror_interior, [30, 20, 10, 20, 30, 20, 10, 20, 30, 20]),
        (lambda b: BC.constant_exterior(b, 7), [7, 7, 10, 20, 30, 7, 7, 7, 7, 7]),
    ],
)
def test_values_when_read_outside(make: Callable[[hl.Buffer], hl.Func], expected: list[int]) -> None:
    assert make(source()).evaluate([10]).tolist() == expected
    ip = hl.ImageParam(hl.UInt(8), 1)
    ip.set(source())
    assert make(ip).evaluate([10]).tolist() == expected  # type: ignore[arg-type]  # each takes both


def test_bounds_when_given() -> None:
    g = hl.Func("g")
    g[x, y] = x * 10 + y
    assert BC.repeat_edge(g, [(1, 2), (0, 1)]).evaluate([4, 2]).tolist() == [[10, 10, 20, 20]] * 2
    assert BC.repeat_edge(g, [hl.Range(), hl.Range(0, 1)]).evaluate([2, 2]).tolist() == [[0, 10], [0, 10]]
    assert BC.constant_exterior(g, -1, [(1, 1)]).evaluate([3, 1]).tolist() == [[-1, 10, -1]]


def test_result_when_inspected() -> None:
    f = BC.repeat_edge(hl.ImageParam(hl.UInt(8), 2, "ip"), [(0, 5)])
    assert f.name() == "repeat_edge"
    assert repr(f.value()) == "ip[max(min(_0, 0 + 5 - 1), 0), _1]"
    assert f.function.directives == []


def test_error_when_bounds_or_values_do_not_fit() -> None:
    g = hl.Func("g")
    g[x] = x
    ip = hl.ImageParam(hl.UInt(8), 1, "ip")
    raised(hl.DefinitionError, lambda: BC.repeat_edge(g), "g", "bounds")
    raised(hl.DefinitionError, lambda: BC.repeat_edge(ip, [(0, 1), (0, 1)]), "2 bounds")
    raised(hl.TypeMismatchError, lambda: BC.constant_exterior(ip, 300), "300")
    raised(hl.TypeMismatchError, lambda: BC.constant_exterior(ip, 2.5), "uint8", "float32")
    raised(hl.DefinitionError, lambda: BC.repeat_edge(x), "ImageParam")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("make", [BC.repeat_edge, BC.repeat_image, BC.mirror_image, BC.mirror_interior])
def test_tuples_are_those_of_the_components(make: Callable[..., hl.Func]) -> None:
    both, first, second = hl.Func("both"), hl.Func("first"), hl.Func("second")
    both[x, y] = (x * 10 + y, hl.u8(y))
    first[x, y], second[x, y] = both[x, y][0], both[x, y][1]
    bounds = [(1, 3), (0, 2)]
    expected = [make(f, bounds).realize([6, 5]) for f in (first, second)]
    found = make(both, bounds).realize([6, 5])
    assert [np.asarray(b).tolist() for b in found] == [np.asarray(b).tolist() for b in expected]


def test_tuple_outside_when_the_source_has_tuples() -> None:
    g = hl.Func("g")
    g[x] = (x, hl.u8(x * 2))
    f = BC.constant_exterior(g, (-1, 255), [(1, 2)])
    assert [np.asarray(b).tolist() for b in f.realize([4])] == [[-1, 1, 2, -1], [255, 2, 4, 255]]
    values = hl.Tuple(hl.i32(-1), hl.u8(255))
    unbounded = BC.constant_exterior(g, values, [hl.Range()])
    assert [np.asarray(b).tolist() for b in unbounded.realize([3])] == [[0, 1, 2], [0, 2, 4]]
    raised(hl.TypeMismatchError, lambda: BC.constant_exterior(g, 7, [(1, 2)]), "2 values", "given 1")
    raised(hl.TypeMismatchError, lambda: BC.constant_exterior(g, (7, 256), [(1, 2)]), "256")


def test_undefined_ends_leave_a_dimension_unbounded() -> None:
    image = hl.Buffer(np.arange(12, dtype=np.int32).reshape(3, 4))
    f, x, y = BC.repeat_edge(image, [(0, 4), (hl.Expr(), hl.Expr())]), hl.Var("x"), hl.Var("y")
    g = hl.Func("g")
    g[x, y] = f[x - 1, y]
    assert np.asarray(g.realize([6, 3]))[1].tolist() == [4, 4, 5, 6, 7, 7]
    with pytest.raises(hl.PipelineError):
        g.realize([6, 4])
