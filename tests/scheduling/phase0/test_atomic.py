"""``atomic``: iterations that meet take turns; they leave what serial ones leave, and the certificate says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.algorithm.model import AlgebraicLaw
from halide_core.analysis.associativity import law_of
from halide_core.bounds.verify.program import program_claims
from halide_core.bounds.verify.vc import ClaimKind, Status
from halide_core.ir import Provide, Stmt, Store
from halide_core.ir.visitor import Rewriter, walk
from halide_core.loop_nest import Program
from halide_core.lowering.driver import LoweringTrace, certify, lower
from halide_core.lowering.interpreter.machine import interpret
from halide_core.lowering.interpreter.memory_model import RaceError
from halide_core.runtime.codegen.unit import emit_c
from halide_core.scheduling import reductions
from halide_core.scheduling.phase0 import atomic_laws
from tests.support.checking import check, image, numbers, same

x, y, u = (hl.Var(n) for n in "x y u".split())
ro, ri = hl.RVar("ro"), hl.RVar("ri")
GUARD = hl.TailStrategy.GuardWithIf
INT = hl.Int(32)
DATA = numbers((40, 30), np.uint8)
Update = Callable[[hl.Expr, hl.Expr], hl.Expr]
OPERATORS: dict[str, Update] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * (b | 1), "max": hl.max, "min": hl.min,
    "&": lambda a, b: a & ~b, "|": lambda a, b: a | b, "^": lambda a, b: b ^ a,
}  # fmt: skip


def histogram(operator: Update = OPERATORS["+"], type: hl.Type = INT) -> tuple[hl.Func, hl.RDom]:
    """Values of a picture by brightness, put together by an operator."""
    im, r, h = image(DATA, "im"), hl.RDom([(0, 30), (0, 40)], "r"), hl.Func("h")
    h[x] = hl.cast(type, 5)
    bin = hl.i32(im[r.x, r.y]) // 16
    h[bin] = operator(h[bin], hl.cast(type, r.x + 7 * r.y))
    return h, r


def serial(operator: Update = OPERATORS["+"], type: hl.Type = INT) -> Any:
    """The values that serial loops leave."""
    return np.asarray(histogram(operator, type)[0].realize([16]))


@pytest.mark.parametrize("type", [hl.UInt(8), hl.Int(16), hl.Int(32), hl.UInt(64)], ids=str)
@pytest.mark.parametrize("operator", list(OPERATORS))
def test_operators_in_threads_and_lanes(operator: str, type: hl.Type) -> None:
    for way in ("parallel", "vectorize"):
        h, r = histogram(OPERATORS[operator], type)
        stage = h.update().atomic()
        stage.parallel(r.y) if way == "parallel" else stage.vectorize(r.x, 8)
        same(h.realize([16]), serial(OPERATORS[operator], type))


@pytest.mark.parametrize("type", [hl.Float(16), hl.BFloat(16)], ids=str)
def test_floats_of_16_bits_in_threads_and_lanes(type: hl.Type) -> None:
    for way in ("parallel", "vectorize"):
        h, r = hl.Func("h"), hl.RDom([(0, 60)], "r")
        h[x] = hl.cast(type, 0)
        h[r.x % 7] += hl.cast(type, 2)
        h[r.x % 7] = hl.max(h[r.x % 7], hl.cast(type, r.x))
        for k in range(2):
            getattr(h.update(k).atomic(), way)(r.x)
        out = hl.Func("out")
        out[x] = hl.f32(h.compute_root()[x])
        assert np.asarray(out.realize([7])).tolist() == [56, 57, 58, 59, 53, 54, 55]


def test_saturating_sums_in_lanes() -> None:
    h, r, im = hl.Func("h"), hl.RDom([(0, 40), (0, 2)], "r"), image(DATA, "im")
    h[x] = hl.u8(0)
    h[x] = hl.saturating_add(h[x], im[r.y + x, r.x] // 32)
    h.update().atomic().vectorize(r.x, 8).parallel(r.y)
    sums = [int((DATA[:, k : k + 2] // 32).astype(int).sum()) for k in range(4)]
    assert np.asarray(h.realize([4])).tolist() == [min(s, 255) for s in sums]


def test_instructions_where_machines_have_them() -> None:
    for operator, text in (("+", "fetch_add("), ("^", "fetch_xor("), ("max", "compare_exchange(")):
        h, r = histogram(OPERATORS[operator])
        h.update().atomic().parallel(r.y)
        assert f"__atomic_{text}" in emit_c(lower(h._request()))
    h, r = histogram()
    h.update().atomic().vectorize(r.x, 8)
    assert "__atomic" not in emit_c(lower(h._request()))  # lanes of one thread


def test_splits_and_pure_loops_around() -> None:
    im, r = image(DATA, "im"), hl.RDom([(0, 40)], "r")
    f = hl.Func("f")
    f[x] = hl.u64(1)
    f[x] += hl.u64(im[x, r.x]) * hl.u64(r.x)
    f.update().split(r.x, ro, ri, 7, GUARD).reorder(x, ri, ro).atomic().parallel(ro).vectorize(x, 4, GUARD)
    check(f, [30], np.asarray(f.evaluate([30])))
    g = hl.Func("g")
    g[x] = hl.u64(1)
    g[x] += hl.u64(im[x, r.x]) * hl.u64(r.x)
    g.update().atomic().unroll(x, 2, GUARD).split(r.x, ro, ri, 8, GUARD).vectorize(ri).parallel(ro).parallel(x)
    check(g, [30], np.asarray(f.evaluate([30])))


def test_floats_are_assumed() -> None:
    im, r, f = image(DATA, "im"), hl.RDom([(0, 30), (0, 40)], "r"), hl.Func("f")
    f[()] = hl.f64(0)
    f[()] += hl.f64(im[r.x, r.y])
    f.update().atomic().parallel(r.y)
    assumed = [result for result in f.certify().results if result.status is Status.ASSUMED]
    assert [result.assumptions[0].told for result in assumed] == ["f.update().atomic()"]
    assert float(np.asarray(f.realize([]))) == float(DATA.sum())  # whole numbers: sums are exact


def test_values_of_a_tuple_in_lanes() -> None:
    im, r, f = image(DATA, "im"), hl.RDom([(0, 40)], "r"), hl.Func("f")
    f[x] = (hl.i32(0), hl.u8(0))
    f[x] = (f[x][0] + hl.i32(im[x, r.x]), hl.max(f[x][1], im[x, r.x]))
    f.update().atomic().vectorize(r.x, 8)
    totals, most = (np.asarray(each) for each in f.realize([30]))
    same(totals, DATA.sum(axis=0, dtype=np.int32))
    same(most, DATA.max(axis=0))


def test_merge_of_partial_results() -> None:
    h, r = histogram()
    part = h.update().atomic().rfactor(r.y, u)
    part.compute_root().update().parallel(u)
    h.update().atomic().parallel(r.y)
    same(h.realize([16]), serial())


def test_specialized_stage() -> None:
    p = hl.Param(hl.Int(32), "p", 3)
    h, r = histogram()
    h.update().atomic().specialize(p > 2).parallel(r.y)
    h.update().vectorize(r.x, 4)
    for value in (3, 1):
        p.set(value)
        same(h.realize([16]), serial())


def test_word_of_the_user() -> None:
    im, r, f = image(DATA, "im"), hl.RDom([(0, 30), (0, 40)], "r"), hl.Func("f")
    f[x] = hl.i32(-1)
    f[hl.i32(im[r.x, r.y]) // 16] = hl.select(f[hl.i32(im[r.x, r.y]) // 16] < 0, hl.i32(7), hl.i32(7))
    f.update().atomic(True).parallel(r.y)
    assert "f.update().atomic(True)" in [a.told for result in f.certify().results for a in result.assumptions]
    check(f, [16], np.asarray(f.evaluate([16])))


def test_what_is_traced_is_shown_once(capfd: pytest.CaptureFixture[str]) -> None:
    for operator in ("+", "max"):
        h, r = histogram(OPERATORS[operator])
        h.trace_stores().trace_loads()
        h.update().atomic().parallel(r.y)
        same(h.realize([16]), serial(OPERATORS[operator]))
        lines = capfd.readouterr().out.splitlines()
        assert sum(line.startswith("Store h.0(") for line in lines) == 16 + DATA.size
        assert sum(line.startswith("Load h.0(") for line in lines) == DATA.size


class _Plain(Rewriter):
    """Updates that are no single steps."""

    def rewrite_Provide(self, s: Provide) -> Stmt:
        """Without the mark."""
        return replace(s, atomic=False)

    def rewrite_Store(self, s: Store) -> Stmt:
        """Without the mark."""
        return replace(s, atomic=False)


def test_without_the_mark_it_is_a_race() -> None:
    h, r = histogram()
    h.bound(x, 0, 16).update().atomic().parallel(r.y)
    trace = LoweringTrace()
    lowered = lower(h._request(), trace=trace)
    assert trace.query is not None and trace.answers is not None
    given: Any = [hl.Buffer(DATA)], [hl.Buffer(hl.Int(32), [16])]
    for tree in (dict(trace.passes)["layout_checks"], lowered.body):
        assert any(isinstance(s, Provide | Store) and s.atomic for s in walk(tree))
        outcome = interpret(tree, lowered.arguments, *given)
        same(outcome.result(0, [(0, 16)]), serial())
        with pytest.raises(RaceError):
            interpret(_Plain().stmt(tree), lowered.arguments, *given)
    certified = dict(trace.passes)["layout_checks"]
    for tree, apart in ((certified, False), (_Plain().stmt(certified), True)):
        claims = program_claims(trace.query, trace.answers, tree).tree
        races = [claim for claim in claims if claim.kind is ClaimKind.RACE]
        assert any("take turns" in str(claim.text) for claim in races) is not apart
        assert any("no two iterations" in str(claim.text) for claim in races) is apart


# -- where no iterations that may meet run at once, atomic adds nothing


def crossed() -> tuple[hl.Func, hl.RDom]:
    """Components that trade places with each step: of no law."""
    f, r = hl.Func("f"), hl.RDom([(0, 5)], "r")
    f[x, y] = (x, y)
    f[x, y] = (f[x, y][1] + r, f[x, y][0] * 3)
    return f, r


def halves() -> tuple[hl.Func, hl.RDom]:
    """Even points are computed of odd ones."""
    f, r = hl.Func("f"), hl.RDom([(0, 16)], "r")
    f[x, y] = x * 3 + y
    f[2 * r, y] = f[2 * r + 1, y] + y
    return f, r


def waves() -> tuple[hl.Func, hl.RDom]:
    """Each row of the one before it."""
    f, r = hl.Func("f"), hl.RDom([(1, 12), (1, 6)], "r")
    f[x, y] = x * 3 + y
    f[r.x, r.y] = f[r.x - 1, r.y - 1] + f[r.x + 1, r.y - 1]
    return f, r


PLAIN: dict[str, tuple[Callable[[], tuple[hl.Func, hl.RDom]], Callable[[hl.Stage, hl.RDom], object]]] = {
    "serial": (crossed, lambda s, r: s.atomic()),
    "threads of a dimension": (crossed, lambda s, r: s.parallel(y).atomic()),
    "threads and lanes of dimensions": (crossed, lambda s, r: s.atomic().parallel(y).vectorize(x, 8, GUARD)),
    "a reduction loop outside": (crossed, lambda s, r: s.atomic().reorder(x, y, r).parallel(y).vectorize(x, 4, GUARD)),
    "threads that keep apart": (halves, lambda s, r: s.parallel(r).atomic()),
    "lanes that keep apart": (halves, lambda s, r: s.atomic().vectorize(r, 4)),
    "both": (halves, lambda s, r: s.atomic().split(r, ro, ri, 8).vectorize(ri).parallel(ro).parallel(y)),
    "threads within a step in time": (waves, lambda s, r: s.atomic().parallel(r.x)),
    "lanes within a step in time": (waves, lambda s, r: s.atomic().vectorize(r.x, 4)),
}


@pytest.mark.parametrize("case", list(PLAIN))
def test_iterations_that_never_meet_need_no_law(case: str) -> None:
    make, way = PLAIN[case]
    f, r = make()
    way(f.update(), r)
    f.bound(x, 0, 32).bound(y, 0, 9)
    certificate = f.certify()
    assert certificate.ok
    assert not any(result.status is Status.ASSUMED for result in certificate.results)
    assert not any(result.claim.kind is ClaimKind.LAW for result in certificate.results)
    assert "__atomic" not in emit_c(lower(f._request()))
    found, told = f.realize([32, 9]), f.evaluate([32, 9])
    pairs = zip(found, told, strict=True) if isinstance(found, tuple) else [(found, told)]
    for a, b in pairs:
        same(np.asarray(a), np.asarray(b))


def test_pure_definitions_and_plain_updates() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x
    f[3] = 125
    f.compute_root().atomic().parallel(x).update().atomic()
    g[x] = f[x]
    assert g.certify().ok
    assert np.asarray(g.realize([8])).tolist() == [0, 1, 2, 125, 4, 5, 6, 7]


def test_sum_of_floats_that_keeps_apart_is_proven() -> None:
    """Under strict_float too: none are bracketed in another way."""
    f, r, im = hl.Func("f"), hl.RDom([(0, 30)], "r"), image(DATA, "im")
    f[x] = hl.f32(0.1)
    f[r] += hl.f32(im[r, 3])
    f.update().atomic().parallel(r)
    certificate = f.certify()
    assert certificate.ok
    assert not any(result.status is Status.ASSUMED for result in certificate.results)
    strict = hl.get_host_target().with_feature(hl.TargetFeature.StrictFloat)
    same(np.asarray(f.realize([30], target=strict)), np.asarray(f.evaluate([30])))


def test_specialized_stage_has_the_law_where_it_needs_it() -> None:
    p = hl.Param(hl.Int(32), "p", 3)
    f, r = crossed()
    f.update().atomic().specialize(p > 2).parallel(y)
    f.update().vectorize(x, 4, GUARD)
    assert f.certify().ok
    with pytest.raises(hl.ScheduleError, match="order of steps shows"):
        f.update().specialize(p > 2).parallel(r)


def test_law_of_what_is_inlined() -> None:
    """The law is of the definition as the user wrote it, for every case and copy of it."""
    p = hl.Param(hl.Int(32), "p", 3)
    h, r, one, out = hl.Func("h"), hl.RDom([(0, 40)], "r"), hl.Func("one"), hl.Func("out")
    one[x] = hl.u8(9)
    h[x] = hl.u8(0)
    h[x] = hl.saturating_add(h[x], one[r])
    out[x, y] = h[x] + y
    h.compute_at(out, y).update().atomic().parallel(r)
    out.specialize(p > 2).parallel(y)
    assert out.certify().ok
    same(np.asarray(out.realize([7, 5])), np.asarray(out.evaluate([7, 5])))


@pytest.mark.parametrize("way", ["turns", "another order"])
def test_certificate_refutes_an_order_that_rests_on_no_law(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setattr(reductions, "_resting", lambda program, _law: program)
    h, r = histogram(lambda a, b: a + b * 37)  # a program that is certified nowhere else
    h.update().atomic().parallel(r.y) if way == "turns" else h.update().reorder(r.y, r.x)
    assert "the order of the updates of stage 1 rests on a law" in str(h.certify())


def failures(f: hl.Func) -> str:
    """The claims of a certificate that fail."""
    return " ".join(each.claim.told() for each in certify(f._request()).failures)


def test_what_a_condition_reads_is_no_part_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read before: two iterations may find 9, and both add 1."""
    for each in (atomic_laws, reductions):
        monkeypatch.setattr(each, "updates_points", lambda *_: True)
    im, r, f = image(DATA, "im"), hl.RDom([(0, 30), (0, 40)], "r"), hl.Func("f")
    f[x] = 0
    at = hl.i32(im[r.x, r.y]) // 16
    r.where(f[at] < 10)
    f[at] += 1
    f.update().atomic(True).parallel(r.y)
    assert "no iteration writes f where another reads it" in failures(f)


def test_certificate_refutes_an_order_that_its_law_does_not_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal values the first counts: associative, as the law says, but nothing else."""

    def resting(program: Program, law: AlgebraicLaw) -> Program:
        first = law_of(law.directive.func, law.directive.func.definitions[1])
        assert first is not None and not first.commutes
        return known(program, AlgebraicLaw(law.directive, first))

    known = reductions._resting
    monkeypatch.setattr(reductions, "_resting", resting)
    im, r, f = image(DATA, "im"), hl.RDom([(0, 30), (0, 40)], "r"), hl.Func("f")
    f[()] = (0, hl.u8(255))
    less = im[r.x, r.y] < f[()][1]
    f[()] = (hl.select(less, r.x, f[()][0]), hl.select(less, im[r.x, r.y], f[()][1]))
    f.update().atomic(True).parallel(r.y)
    assert "the order of the updates of stage 1 rests on a law" in failures(f)


def test_certificate_takes_no_word_that_was_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    known = reductions._resting
    monkeypatch.setattr(
        reductions, "_resting", lambda program, law: known(program, AlgebraicLaw(law.directive, None))
    )
    h, r = histogram(lambda a, b: a + b * 41)  # a program that is certified nowhere else
    h.update().atomic().parallel(r.y)
    assert "the order of updates does not matter" in failures(h)
