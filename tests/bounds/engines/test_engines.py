"""Every engine, range by range, against brute force: sound, never looser than β₀ or than interval arithmetic, and isl
exact on affine paths."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halide_core import ir
from halide_core.bounds.engines import polyhedral
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.engines.polyhedral import CHAINED
from halide_core.bounds.engines.registry import chosen_engine, ranges_of
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Ends, Engine
from halide_core.bounds.query.query import Define, ForAll, Where
from halide_core.errors import HalideError
from halide_core.ir import Binary, BinaryOp, ExprNode, Interval, Select
from halide_core.ir.types import INT64
from tests.support.integers import conditions, expressions, linear_expressions, value
from tests.support.paths import OUTER, PATHS, Drawn, p, q, x, y, z

FIVE = (ForAll(x, Interval(ir.ZERO, ir.i64(5))), ForAll(y, Interval(ir.ZERO, ir.i64(8))))


def ends(engine: Engine, drawn: Drawn, e: ExprNode) -> Ends:
    """The range of an expression inside every binder, by one engine."""
    top, inside = drawn.path()
    return ranges_of(engine).ends(e, inside, top)


def check_sound(drawn: Drawn, e: ExprNode, found: Ends) -> None:
    for outer in OUTER:
        for at in drawn.points(outer):
            v = value(e, at)
            assert found.low is None or value(found.low, outer) <= v, (drawn, e, found.low, at)
            assert found.high is None or v <= value(found.high, outer), (drawn, e, found.high, at)


def check_not_looser(
    drawn: Drawn, e: ExprNode, ours: Ends, other: Ends, slack: int = 0, *, everywhere: bool = False
) -> None:
    """Wherever the path has points, or everywhere; ``slack`` more points are still not looser."""
    for outer in OUTER:
        if everywhere or drawn.points(outer):
            if other.low is not None:
                assert ours.low is not None, (drawn, e, outer)
                assert value(other.low, outer) - slack <= value(ours.low, outer), (drawn, e, outer)
            if other.high is not None:
                assert ours.high is not None, (drawn, e, outer)
                assert value(ours.high, outer) <= value(other.high, outer) + slack, (drawn, e, outer)


EXPRESSIONS = expressions((x, y, z, p), 6)


@pytest.mark.parametrize("engine", Engine)
@settings(max_examples=120, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_range_holds_every_value(engine: Engine, drawn: Drawn, e: ExprNode) -> None:
    check_sound(drawn, e, ends(engine, drawn, e))


@pytest.mark.parametrize("engine", [e for e in Engine if e is not Engine.BASELINE])
@settings(max_examples=120, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_range_is_inside_that_of_the_baseline(engine: Engine, drawn: Drawn, e: ExprNode) -> None:
    check_not_looser(drawn, e, ends(engine, drawn, e), ends(Engine.BASELINE, drawn, e))


@pytest.mark.parametrize("engine", [Engine.CHAIN, Engine.ISL, Engine.NONLINEAR])
@settings(max_examples=120, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_range_is_inside_that_of_interval_arithmetic(engine: Engine, drawn: Drawn, e: ExprNode) -> None:
    isl = engine is not Engine.NONLINEAR
    check_not_looser(drawn, e, ends(engine, drawn, e), ends(Engine.INTERVAL, drawn, e), everywhere=isl)


def test_isl_is_not_looser_where_a_condition_leaves_no_points() -> None:
    """1 <= x <= y <= n - 2, with n at most 3: the greatest x is 1, if there is one, and never above n - 2."""
    n = ir.maximum(ir.minimum(p, ir.i64(3)), ir.ZERO)
    loops = (ForAll(y, Interval(ir.i64(-1), n)), ForAll(x, Interval(ir.ONE, n)), Where(ir.less_equal(x, y)))
    found = ends(Engine.ISL, Drawn(loops), x).high
    assert found is not None
    assert [value(found, {p: a, q: 0}) for a in (1, 2, 3, 9)] == [-1, 0, 1, 1]


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("first", [-4, -3, 0, 1])
def test_quotient_and_remainder_of_one_variable(engine: Engine, first: int, length: int) -> None:
    """x/2 - 1 + 2*(x%2) grows and falls in turn, so that neither end is at an end of x."""
    e = ir.add(ir.sub(ir.div(x, ir.i64(2)), ir.ONE), ir.mul(ir.i64(2), ir.mod(x, ir.i64(2))))
    drawn = Drawn((ForAll(x, Interval(ir.i64(first), ir.i64(length))),))
    values = [v // 2 - 1 + 2 * (v % 2) for v in range(first, first + length)]
    found = ends(engine, drawn, e)
    low, high = (None if end is None else value(end, {}) for end in (found.low, found.high))
    assert low is None or low <= min(values)
    assert high is None or max(values) <= high
    if engine in (Engine.ISL, Engine.CHAIN):
        assert (low, high) == (min(values), max(values))


_ENDS = [BinaryOp.MIN, BinaryOp.MAX]


def quasi_affine(most: int) -> st.SearchStrategy[ExprNode]:
    """Expressions over the path that isl knows exactly, of few pieces."""
    linear = linear_expressions((x, y, z))
    small = st.integers(1, 4).map(ir.i64)
    piece = st.one_of(
        linear,
        st.builds(ir.div, linear, small),
        st.builds(ir.mod, linear, small),
        st.builds(lambda op, a, b: Binary(INT64, op, a, b), st.sampled_from(_ENDS), linear, linear),
        st.builds(lambda c, a, b: Select(INT64, c, a, b), conditions(linear), linear, linear),
    )
    return st.lists(piece, min_size=1, max_size=most).map(_total)


def _total(parts: list[ExprNode]) -> ExprNode:
    result = parts[0]
    for e in parts[1:]:
        result = ir.add(result, e)
    return result


CONSTANT_LOOPS = st.builds(
    lambda a, n, b, m: (ForAll(x, Interval(ir.i64(a), ir.i64(n))), ForAll(y, Interval(b, ir.i64(m)))),
    st.integers(-4, 4), st.integers(1, 6), st.one_of(st.integers(-4, 4).map(ir.i64), linear_expressions((x,))),
    st.integers(1, 6),
)  # fmt: skip
AFFINE_GUARDS = st.one_of(st.just(()), st.builds(lambda c: (Where(c),), conditions(linear_expressions((x, y, z)))))


@pytest.mark.parametrize("engine", [Engine.CHAIN, Engine.ISL])
@settings(max_examples=200, deadline=None)
@given(CONSTANT_LOOPS, linear_expressions((x, y)), AFFINE_GUARDS, quasi_affine(2))
def test_range_is_exact_where_all_is_constant(
    engine: Engine, loops: tuple[ForAll, ...], let: ExprNode, guards: tuple[Where, ...], e: ExprNode
) -> None:
    drawn = Drawn((*loops, Define(z, let, None), *guards))
    found = ends(engine, drawn, e)
    values = [value(e, at) for at in drawn.points(OUTER[0])]
    if values:
        assert (found.low, found.high) == (ir.i64(min(values)), ir.i64(max(values))), (drawn, e)


@settings(max_examples=150, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_chain_asks_isl_wherever_it_knows_better(drawn: Drawn, e: ExprNode) -> None:
    """Up to the few points for which the chain does not take a condition into everything downstream."""
    check_not_looser(drawn, e, ends(Engine.CHAIN, drawn, e), ends(Engine.ISL, drawn, e), CHAINED.negligible)


# -- the rules of the baseline (figure 2.10b), one by one

RULES = [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.MIN, BinaryOp.MAX]


@pytest.mark.parametrize("op", RULES, ids=lambda op: op.name)
@settings(max_examples=60, deadline=None)
@given(st.integers(-9, 9), st.integers(1, 6), st.integers(-5, 5), st.integers(1, 6))
def test_rule_of_the_baseline_holds_every_value(op: BinaryOp, a: int, n: int, b: int, m: int) -> None:
    drawn = Drawn((ForAll(x, Interval(ir.i64(a), ir.i64(n))), ForAll(y, Interval(ir.i64(b), ir.i64(m)))))
    found = ends(Engine.BASELINE, drawn, Binary(INT64, op, x, y))
    assert found.low is not None and found.high is not None
    check_sound(drawn, Binary(INT64, op, x, y), found)
    if op is BinaryOp.DIV:  # as the figure has it, though not its slips
        most = max(abs(a), abs(a + n - 1))
        assert (found.low, found.high) == (ir.i64(-most), ir.i64(most))


@settings(max_examples=80, deadline=None)
@given(CONSTANT_LOOPS, linear_expressions((x, y)))
def test_baseline_is_exact_for_linear_expressions_over_boxes_only(loops: tuple[ForAll, ...], e: ExprNode) -> None:
    drawn = Drawn(loops)
    exact, found = ends(Engine.ISL, drawn, e), ends(Engine.BASELINE, drawn, e)
    check_not_looser(drawn, e, exact, found)


def test_baseline_takes_correlated_terms_apart() -> None:
    drawn = Drawn((ForAll(x, Interval(ir.ZERO, ir.i64(8))),))
    found = ends(Engine.BASELINE, drawn, ir.sub(x, ir.div(x, ir.i64(2))))
    assert (found.low, found.high) == (ir.i64(-7), ir.i64(14))


# -- what each engine adds


@pytest.mark.parametrize(
    ("binders", "e", "expected"),
    [
        (FIVE, ir.sub(x, ir.mul(ir.div(x, ir.i64(2)), ir.i64(2))), (0, 1)),
        (FIVE, ir.add(ir.mod(x, ir.i64(3)), ir.div(x, ir.i64(3))), (0, 2)),
        ((*FIVE, Where(ir.less(ir.add(x, y), ir.i64(3)))), ir.add(ir.mul(x, ir.i64(2)), y), (0, 4)),
        ((*FIVE, Where(ir.equal(ir.mod(y, ir.i64(4)), ir.i64(3)))), y, (3, 7)),
        (FIVE, Select(INT64, ir.less(x, ir.i64(3)), x, ir.sub(ir.i64(4), x)), (0, 2)),
        (FIVE, ir.maximum(ir.sub(x, y), ir.sub(y, x)), (0, 7)),
        (FIVE, ir.sub(ir.maximum(x, y), ir.minimum(x, y)), (0, 7)),
    ],
)
def test_chain_finds_what_interval_arithmetic_takes_apart(
    binders: tuple[ForAll | Where, ...], e: ExprNode, expected: tuple[int, int]
) -> None:
    found = ends(Engine.CHAIN, Drawn(binders), e)
    assert (found.low, found.high) == tuple(map(ir.i64, expected))


@pytest.mark.parametrize(
    ("e", "low", "high"),
    [
        (ir.mod(x, ir.i64(5)), "max(-5, p - (p + q + 4)/5*5) + 5", "min(5, q + (p*4 + 4)/5*5 - p*4) - 1"),
        (ir.add(ir.minimum(x, ir.i64(4)), ir.maximum(x, ir.i64(4))), "p + 4", "p + q + 3"),
        (Select(INT64, ir.less(x, p), ir.ZERO, x), "p", "p + q - 1"),
    ],
)
def test_piecewise_ranges_are_written_shortly(e: ExprNode, low: str, high: str) -> None:
    drawn = Drawn((ForAll(x, Interval(p, q)),))
    found = ends(Engine.ISL, drawn, e)
    assert (repr(found.low), repr(found.high)) == (low, high)


SQUARE = ir.mul(x, x)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (ir.sub(SQUARE, ir.mul(x, ir.i64(3))), (-2, 4)),
        (ir.mul(x, y), (0, 28)),
        (ir.mul(ir.sub(x, ir.i64(2)), ir.sub(y, ir.i64(4))), (-8, 8)),
        (ir.sub(ir.mul(SQUARE, x), ir.mul(x, ir.i64(7))), (-6, 36)),
        (ir.div(ir.sub(SQUARE, ir.mul(x, ir.i64(4))), ir.i64(3)), (-2, 0)),
        (ir.minimum(ir.sub(SQUARE, ir.mul(x, ir.i64(3))), ir.i64(3)), (-2, 3)),
    ],
)
def test_nonlinear_engine_finds_the_extremes_of_polynomials(e: ExprNode, expected: tuple[int, int]) -> None:
    found = ends(Engine.NONLINEAR, Drawn(FIVE), e)
    assert (found.low, found.high) == tuple(map(ir.i64, expected))


def polynomials() -> st.SearchStrategy[ExprNode]:
    """Sums of products of up to three variables."""
    product = st.builds(
        lambda c, vs: _product([ir.i64(c), *vs]),
        st.integers(-4, 4), st.lists(st.sampled_from((x, y, z, p)), min_size=1, max_size=3),
    )  # fmt: skip
    return st.lists(product, min_size=1, max_size=4).map(_total)


def _product(parts: list[ExprNode]) -> ExprNode:
    result = parts[0]
    for e in parts[1:]:
        result = ir.mul(result, e)
    return result


@settings(max_examples=120, deadline=None)
@given(PATHS, polynomials())
def test_nonlinear_range_of_a_polynomial_is_sound_and_not_looser(drawn: Drawn, e: ExprNode) -> None:
    found = ends(Engine.NONLINEAR, drawn, e)
    check_sound(drawn, e, found)
    check_not_looser(drawn, e, found, ends(Engine.INTERVAL, drawn, e))


@settings(max_examples=120, deadline=None)
@given(st.integers(-6, 6), st.integers(1, 9), st.lists(st.integers(-9, 9), min_size=2, max_size=5))
def test_nonlinear_range_is_exact_for_one_variable(a: int, n: int, coefficients: list[int]) -> None:
    e = _total([_product([ir.i64(c), *[x] * k]) for k, c in enumerate(coefficients)])
    drawn = Drawn((ForAll(x, Interval(ir.i64(a), ir.i64(n))),))
    found = ends(Engine.NONLINEAR, drawn, e)
    values = [value(e, at) for at in drawn.points(OUTER[0])]
    assert (found.low, found.high) == (ir.i64(min(values)), ir.i64(max(values)))


# -- the choice


def test_engine_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HL_BOUNDS", raising=False)
    assert chosen_engine() is Engine.CHAIN
    for engine in Engine:
        monkeypatch.setenv("HL_BOUNDS", engine.value)
        assert chosen_engine() is engine
        assert oracle_of(engine).name == engine.value


def test_unknown_engine_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_BOUNDS", "magic")
    told = 'HL_BOUNDS="magic" is no bounds engine. It can be one of: chain, interval, isl, nonlinear, baseline.'
    with pytest.raises(HalideError, match=re.escape(told)):
        chosen_engine()


STENCIL = """
import sys
import halide_core as hl
from halide_core.lowering.driver import lower
x = hl.Var("x")
f, g = hl.Func("f"), hl.Func("g")
g[x] = x
f[x] = {value}
g.compute_root()
lower(f._request())
print("islpy" in sys.modules, "sympy" in sys.modules)
"""


@pytest.mark.parametrize(
    ("told", "engine", "expected"),
    [
        ("g[x - 1] + g[x + 1]", "chain", "False False"),
        ("g[x % 3 + x]", "chain", "True False"),
        ("g[x % 3 + x]", "interval", "False False"),
        ("g[x * x]", "nonlinear", "False True"),
    ],
)
def test_libraries_are_loaded_only_when_they_are_asked(told: str, engine: str, expected: str) -> None:
    env = {**os.environ, "HL_BOUNDS": engine}
    done = subprocess.run(
        [sys.executable, "-c", STENCIL.format(value=told)], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected


@pytest.mark.parametrize("allowed", [5, 4, 0])
@pytest.mark.parametrize("of_path", [False, True])
def test_question_with_as_many_forks_as_are_allowed_is_asked(allowed: int, of_path: bool) -> None:
    forked = reduce(ir.add, [ir.div(x, ir.i64(k)) for k in range(2, 7)])
    top, inside = Drawn((*FIVE, Define(z, forked, None))).path()
    asked = polyhedral.Polyhedra(Extents(), polyhedral.Limits(forks=allowed))
    asked.ends(z if of_path else forked, inside, top, Ends(ir.i64(-9), ir.i64(9), Engine.INTERVAL))
    assert asked.given_up == (allowed < 5)


def test_question_that_is_asked_again_is_answered_anew_only_where_more_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    top, inside = Drawn((ForAll(x, Interval(ir.ZERO, p)),)).path()
    asked: list[Ends] = []
    monkeypatch.setattr(polyhedral.Polyhedra, "ends", lambda self, e, path, stop, known: asked.append(known) or known)
    ranges = ranges_of(Engine.ISL)
    first = ranges.ends(x, inside, top)
    assert ranges.ends(x, inside, top) is first and len(asked) == 1
    ranges.facts.at(top).assume_at_most(p, ir.i64(3))
    assert ranges.ends(x, inside, top) is not first and len(asked) == 2


def test_question_that_took_too_long_is_not_asked_of_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = polyhedral.Polyhedra(Extents(), polyhedral.Limits(steps=1))
    answered: list[ExprNode] = []
    answer = polyhedral._Question.answer
    monkeypatch.setattr(polyhedral._Question, "answer", lambda self: answered.append(self._asked) or answer(self))
    for var, end, step in ((x, p, 3), (y, q, 3), (y, q, 4)):
        top, inside = Drawn((ForAll(var, Interval(ir.ZERO, end)),)).path()
        known = Ends(ir.i64(0), end, Engine.INTERVAL)
        assert asked.ends(ir.mod(var, ir.i64(step)), inside, top, known) is known
    assert [repr(e) for e in answered] == [repr(ir.mod(x, ir.i64(3))), repr(ir.mod(y, ir.i64(4)))]
    assert asked.given_up == 3


@pytest.mark.parametrize("allowed", [True, False])
def test_ends_of_a_set_with_many_constraints_are_not_asked_for(allowed: bool) -> None:
    top, inside = Drawn(FIVE).path()
    known = Ends(ir.i64(-9), ir.i64(9), Engine.INTERVAL)
    asked = polyhedral.Polyhedra(Extents(), polyhedral.Limits(constraints=2 if allowed else 1))
    assert (asked.ends(x, inside, top, known) is not known) == allowed
    assert asked.given_up == (not allowed)


def test_greatest_value_wherever_the_atoms_are() -> None:
    asked = polyhedral.Polyhedra(Extents())
    rounded = ir.sub(ir.mul(ir.div(ir.add(x, ir.i64(1)), ir.i64(3)), ir.i64(3)), x)
    assert asked.greatest(rounded) == 1
    assert asked.greatest(ir.minimum(x, ir.sub(ir.i64(7), x))) == 3
    assert asked.greatest(ir.i64(5)) == 5
    assert asked.greatest(x) is None and asked.given_up == 0
    assert polyhedral.Polyhedra(Extents(), polyhedral.Limits(forks=0)).greatest(ir.minimum(x, ir.ONE)) is None
    assert polyhedral.Polyhedra(Extents(), polyhedral.Limits(steps=1)).greatest(rounded) is None
