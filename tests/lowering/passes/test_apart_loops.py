"""Loops over reduction variables: those that keep iterations apart go anywhere, and run at once; others trade places
where an operator allows it. Against numpy, the reference semantics, every pass and the certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.verify.vc import ClaimKind, Status
from tests.lowering.passes.test_uniquify_names import line, over, plane
from tests.scheduling.test_legality import refused
from tests.support.checking import Array, check, image, numbers
from tests.support.counting import counted
from tests.support.dumps import scheduled

pytestmark = pytest.mark.uncertified("each test certifies what it compiles, even where another did before")

x, y, z = (hl.Var(n) for n in "x y z".split())
ro, ri, rt = (hl.RVar(n) for n in "ro ri rt".split())
GUARD = hl.TailStrategy.GuardWithIf
DATA = numbers((12, 19), np.int32)
Schedule = Callable[[hl.Stage, hl.RDom], object]


def proven(f: hl.Func) -> list[str]:
    """The certificate has no open end, and takes nobody's word: what it says of order and of races."""
    results = f.certify().results
    assert [r.claim.text for r in results if r.status not in (Status.PROVEN, Status.ASSERTED)] == []
    return ["".join(map(str, r.claim.text)) for r in results if r.claim.kind in (ClaimKind.ORDER, ClaimKind.RACE)]


def loops(f: hl.Func) -> list[str]:
    """The loops of the first update, innermost first."""
    (nest,) = (nest for key, nest in scheduled(f).nests.items() if key.func.name == f.name() and key.stage == 1)
    return [loop.name.var for loop in reversed(nest.loops)]


def agree(f: hl.Func, window: Sequence[tuple[int, int]], wanted: Array) -> None:
    """The compiled result, the reference and every pass agree, whichever thread or lane comes first."""
    check(f, window, wanted)
    counted(f, window)


def columns() -> tuple[hl.Func, hl.RDom]:
    """Each column is a scan: ``r.x`` keeps iterations apart."""
    im, f, r = image(DATA, "im"), hl.Func("f"), hl.RDom([(0, 19), (1, 11)], "r")
    f[x, y] = im[x, y]
    f[r.x, r.y] = f[r.x, r.y - 1] * 3 + im[r.x, r.y]
    return f, r


def scanned() -> Array:
    """``columns`` by numpy."""
    wanted = DATA.copy()
    for row in range(1, 12):
        wanted[row] += wanted[row - 1] * 3
    return wanted


COLUMNS: dict[str, tuple[Schedule, str]] = {
    "reorder": (lambda s, r: s.reorder(r.y, r.x), "r.y r.x"),
    "parallel": (lambda s, r: s.reorder(r.y, r.x).parallel(r.x), "r.y r.x"),
    "vectorize": (lambda s, r: s.vectorize(r.x, 4), "r.x.v r.x r.y"),
    "vectors_around": (lambda s, r: s.reorder(r.y, r.x).vectorize(r.x, 4), "r.y r.x.v r.x"),
    "unroll": (lambda s, r: s.reorder(r.y, r.x).unroll(r.x, 2), "r.y r.x.u r.x"),
    "halves": (lambda s, r: s.split(r.x, ro, ri, 4).reorder(ro, r.y, ri), "ro r.y ri"),
    "halves_back": (lambda s, r: s.split(r.x, ro, ri, 4).reorder(ro, ri), "ro ri r.y"),
    "both_halves": (
        lambda s, r: s.split(r.x, ro, ri, 4).reorder(ri, r.y, ro).vectorize(ri).parallel(ro), "ri r.y ro",
    ),
    "rows_in_halves": (lambda s, r: s.split(r.y, ro, ri, 4).reorder(ri, r.x, ro).parallel(r.x), "ri r.x ro"),
    "predicated_halves": (
        lambda s, r: s.split(r.x, ro, ri, 4, hl.TailStrategy.Predicate).reorder(r.y, ro, ri).parallel(ri), "r.y ro ri",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(COLUMNS))
def test_loops_that_keep_apart_go_anywhere(name: str) -> None:
    schedule, order = COLUMNS[name]
    f, r = columns()
    schedule(f.update(), r)
    assert " ".join(loops(f)) == order
    agree(f, [(0, 19), (0, 12)], scanned())
    assert all("in any order" not in told for told in proven(f))


def test_the_certificate_says_that_only_points_in_common_keep_their_order() -> None:
    f, r = columns()
    assert any(told.endswith("run each of its updates once, and in the order of its domain") for told in proven(f))
    f.update().reorder(r.y, r.x).parallel(r.x)
    told = proven(f)
    assert any(each.endswith("in the order of its domain where they touch one point") for each in told)
    assert any(each.startswith('loop "f.s1.r.x": no two iterations') for each in told)


def test_loops_that_meet_keep_their_order() -> None:
    f, r = columns()
    s = f.update()
    refused(lambda: s.parallel(r.y), f, '"r.y"', "may meet in one point")
    f, r = columns()
    s = f.update().split(r.y, ro, ri, 4)
    refused(lambda: s.reorder(ro, ri), f, "They must stay, innermost first", "ri, ro")
    f, r = columns()
    s = f.update().fuse(r.x, r.y, rt)
    refused(lambda: s.parallel(rt), f, '"rt"', "may meet in one point")


def test_two_that_keep_apart_fused() -> None:
    for way in ("parallel", "vectorize", "halves"):
        im, f, r = image(DATA, "im"), hl.Func("f"), over(19, 3, 4)
        f[x, y] = 0
        f[r.x, r.y + 3 * r.z] = im[r.x, r.y + 3 * r.z] * 2 + f[r.x, r.y + 3 * r.z]
        s = f.update().fuse(r.x, r.y, rt)
        if way == "parallel":
            s.reorder(r.z, rt).parallel(rt)
        elif way == "vectorize":
            s.vectorize(rt, 4)
        else:
            s.split(rt, ro, ri, 5, GUARD).reorder(ro, r.z, ri).parallel(ri)
        agree(f, [(0, 19), (0, 12)], DATA * 2)
        proven(f)


def test_a_scan_inside_two_fused() -> None:
    data = numbers((5, 6, 7), np.int32)
    im, f, r = image(data, "im"), hl.Func("f"), hl.RDom([(0, 7), (0, 6), (1, 4)], "r")
    f[x, y, z] = im[x, y, z]
    f[r.x, r.y, r.z] += f[r.x, r.y, r.z - 1]
    f.update().fuse(r.x, r.y, rt).reorder(r.z, rt).parallel(rt)
    assert loops(f) == ["r.z", "rt"]
    agree(f, [(0, 7), (0, 6), (0, 5)], np.cumsum(data, axis=0, dtype=np.int32))
    proven(f)


@pytest.mark.parametrize("way", ["parallel", "vectorize", "reorder"])
def test_digits(way: str) -> None:
    f, r = line(), over(6, 4)
    f[4 * r.x + r.y] = f[4 * r.x + r.y] * 10 + r.x - r.y
    s = f.update()
    if way == "reorder":
        s.reorder(r.y, r.x).parallel(r.x).vectorize(r.y)
    else:
        getattr(s, way)(r.y, *([4] if way == "vectorize" else []))
    points = np.arange(24, dtype=np.int32)
    agree(f, [(0, 24)], points * 10 + points // 4 - points % 4)
    proven(f)


@pytest.mark.parametrize("way", ["parallel", "vectorize"])
def test_odd_points_from_even_ones(way: str) -> None:
    f, r = line(), over(11)
    f[2 * r.x + 1] = f[2 * r.x] * 7
    getattr(f.update(), way)(r.x, *([4] if way == "vectorize" else []))
    points = np.arange(22, dtype=np.int32)
    agree(f, [(0, 22)], np.where(points % 2, (points - 1) * 7, points))
    proven(f)


@pytest.mark.parametrize("way", ["parallel", "vectorize"])
def test_backwards(way: str) -> None:
    f, r = line(), over(11)
    f[10 - r.x] = f[10 - r.x] * 3 + r.x
    getattr(f.update(), way)(r.x, *([4] if way == "vectorize" else []))
    points = np.arange(11, dtype=np.int32)
    agree(f, [(0, 11)], points * 3 + 10 - points)
    proven(f)


@pytest.mark.parametrize("length", [0, 1, 9])
def test_lengths_that_a_run_knows(length: int) -> None:
    n, f = hl.Param(hl.Int(32), "n", length), plane()
    r = hl.RDom([(0, n), (1, n)], "r")
    f[r.x, r.y] += f[r.x, r.y - 1]
    f.update().split(r.x, ro, ri, 4).reorder(r.y, ri, ro).parallel(ro).vectorize(ri)
    wanted = np.add.outer(np.arange(11), np.arange(10)).astype(np.int32)
    for row in range(1, length + 1):
        wanted[row, :length] += wanted[row - 1, :length]
    agree(f, [(0, 10), (0, 11)], wanted)
    proven(f)


@pytest.mark.parametrize("way", ["parallel", "vectorize"])
def test_conditions_on_the_func_itself(way: str) -> None:
    im, f, r = image(DATA, "im"), hl.Func("f"), hl.RDom([(0, 19), (1, 11)], "r")
    f[x, y] = im[x, y]
    r.where(f[r.x, r.y - 1] > 0)
    f[r.x, r.y] = -im[r.x, r.y]
    s = f.update().reorder(r.y, r.x)
    s.parallel(r.x) if way == "parallel" else s.vectorize(r.x, 4)
    wanted = DATA.copy()
    for row in range(1, 12):
        wanted[row] = np.where(wanted[row - 1] > 0, -DATA[row], DATA[row])
    agree(f, [(0, 19), (0, 12)], wanted)
    proven(f)


def test_values_of_a_tuple() -> None:
    f, out, r = hl.Func("f"), hl.Func("out"), over(12)
    f[x] = (x, x * 3)
    f[r.x] = (f[r.x][1], f[r.x][0] - r.x)
    out[x] = f[x][0] * 100 + f[x][1]
    f.compute_root().update().vectorize(r.x, 4)
    points = np.arange(12, dtype=np.int32)
    agree(out, [(0, 12)], points * 300)
    proven(out)


def test_a_producer_inside_a_parallel_reduction() -> None:
    g, f, r = hl.Func("g"), plane(), hl.RDom([(0, 7), (1, 8)], "r")
    g[x, y] = x * y + 1
    f[r.x, r.y] = f[r.x, r.y - 1] + g[r.x, r.y] * g[r.x, r.y + 1]
    g.store_at(f, r.x).compute_at(f, r.y)
    f.update().reorder(r.y, r.x).parallel(r.x)
    across, down = np.meshgrid(np.arange(7), np.arange(9))
    wanted = (across + down).astype(np.int32)
    for row in range(1, 9):
        wanted[row] = wanted[row - 1] + (across[row] * row + 1) * (across[row] * (row + 1) + 1)
    agree(f, [(0, 7), (0, 9)], wanted)
    assert '"y" slides along f.s1.r.y' in f.loop_nest()
    proven(f)


def test_each_case_has_an_order_of_its_own() -> None:
    p = hl.Param(hl.Int(32), "p", 1)
    f, r = columns()
    f.update().specialize(p > 0).reorder(r.y, r.x).parallel(r.x)
    for value in (1, 0):
        p.set(value)
        agree(f, [(0, 19), (0, 12)], scanned())
    proven(f)


# -- operators of which the order does not matter


def totals(type: hl.Type) -> tuple[hl.Func, hl.RDom]:
    """Sums of a picture's columns, in three parts; no variable keeps iterations apart."""
    im, f, r = image(DATA % 100, "im"), hl.Func("f"), over(3, 4)
    f[x] = hl.cast(type, 0)
    f[x] += hl.cast(type, im[x, r.x + 3 * r.y])
    return f, r


REORDERED: dict[str, Schedule] = {
    "both": lambda s, r: s.reorder(r.y, r.x),
    "halves": lambda s, r: s.split(r.x, ro, ri, 2).reorder(ro, r.y, ri),
    "around_a_pure_one": lambda s, r: s.reorder(r.y, x, r.x).vectorize(x, 4, GUARD),
    "fused": lambda s, r: s.reorder(r.y, r.x).fuse(r.y, r.x, rt).split(rt, ro, ri, 5).reorder(ro, ri),
}


@pytest.mark.parametrize("name", list(REORDERED))
def test_sums_of_integers_are_taken_in_any_order(name: str) -> None:
    f, r = totals(hl.Int(32))
    REORDERED[name](f.update(), r)
    agree(f, [(0, 19)], (DATA % 100).sum(axis=0, dtype=np.int32))
    assert any("in any order" in told for told in proven(f))
    laws = [r for r in f.certify().results if r.claim.kind is ClaimKind.LAW]
    assert laws
    assert all(r.status is Status.PROVEN for r in laws)


def operators() -> Iterator[tuple[str, Callable[[Any, Any], Any], Callable[[Array], Array]]]:
    """Operators, and what numpy makes of the columns."""
    yield "max", hl.max, lambda a: a.max(axis=0)
    yield "xor", lambda a, b: a ^ b, lambda a: np.bitwise_xor.reduce(a, axis=0)
    yield "times", lambda a, b: a * b, lambda a: np.multiply.reduce(a, axis=0, dtype=np.int32)
    yield "minus", lambda a, b: a - b, lambda a: 2 * a[0] - a.sum(axis=0, dtype=np.int32)


@pytest.mark.parametrize(("operator", "wanted"), [pytest.param(f, g, id=name) for name, f, g in operators()])
def test_operators_in_any_order(operator: Callable[[Any, Any], Any], wanted: Callable[[Array], Array]) -> None:
    im, f, r = image(DATA, "im"), hl.Func("f"), hl.RDom([(1, 1), (0, 11)], "r")
    f[x] = im[x, 0]
    f[x] = operator(f[x], im[x, r.x + r.y])
    f.update().reorder(r.y, r.x)
    agree(f, [(0, 19)], wanted(DATA))
    proven(f)


def test_order_that_shows_is_kept() -> None:
    f, r = hl.Func("f"), over(3, 4)
    f[x] = 0
    f[x] = f[x] * 2 + r.x - r.y
    s = f.update()
    refused(lambda: s.reorder(r.y, r.x), f, "associative and commutative", "r.x, r.y")


def test_sums_of_floats_are_assumed() -> None:
    f, r = totals(hl.Float(32))
    f.update().reorder(r.y, r.x)
    check(f, [(0, 19)], (DATA % 100).sum(axis=0).astype(np.float32))  # whole numbers: sums are exact
    results = f.certify().results
    assumed = [r for r in results if r.status not in (Status.PROVEN, Status.ASSERTED)]
    assert [(r.claim.kind, r.status) for r in assumed] == [(ClaimKind.LAW, Status.ASSUMED)]
    assert [a.told for r in assumed for a in r.assumptions] == ["f.update().reorder(r.y, r.x)"]


def test_sums_of_floats_keep_their_order_under_strict_float() -> None:
    strict = hl.Target("host-strict_float")
    f, r = totals(hl.Float(32))
    f.update().reorder(r.y, r.x)
    with pytest.raises(hl.ScheduleError, match=r"f\.update\(\)\.reorder\(r\.y, r\.x\).*strict_float"):
        f.compile_jit(strict)


def test_floats_that_never_meet_go_anywhere_under_strict_float() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 7), (1, 4)], "r")
    f[x, y] = hl.f32(x) / 3
    f[r.x, r.y] = f[r.x, r.y - 1] / 7 + hl.f32(r.x)
    f.update().reorder(r.y, r.x).vectorize(r.x, 4)
    found = np.asarray(f.realize([7, 5], hl.Target("host-strict_float")))
    np.testing.assert_array_equal(found, f.evaluate([7, 5], strict_float=True))
