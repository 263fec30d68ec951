"""Every engine, range by range, against brute force: sound, never looser than β₀ or than interval arithmetic, and isl
exact on affine paths."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.engines import ranges_of
from bounds.oracle import Ends, Engine
from bounds.query import Define, ForAll, Where
from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Expr, Interval, Select
from halide_core.types import INT64
from tests.bounds.paths import OUTER, PATHS, Drawn, p, x, y, z
from tests.lowering.integers import conditions, expressions, linear_expressions, value

FIVE = (ForAll(x, Interval(ir.ZERO, ir.i64(5))), ForAll(y, Interval(ir.ZERO, ir.i64(8))))


def ends(engine: Engine, drawn: Drawn, e: Expr) -> Ends:
    """The range of an expression inside every binder, by one engine."""
    top, inside = drawn.path()
    return ranges_of(engine).ends(e, inside, top)


def check_sound(drawn: Drawn, e: Expr, found: Ends) -> None:
    for outer in OUTER:
        for at in drawn.points(outer):
            v = value(e, at)
            assert found.low is None or value(found.low, outer) <= v, (drawn, e, found.low, at)
            assert found.high is None or v <= value(found.high, outer), (drawn, e, found.high, at)


def check_not_looser(drawn: Drawn, e: Expr, ours: Ends, other: Ends) -> None:
    """Wherever the path has points."""
    for outer in OUTER:
        if drawn.points(outer):
            if other.low is not None:
                assert ours.low is not None and value(other.low, outer) <= value(ours.low, outer), (drawn, e, outer)
            if other.high is not None:
                assert ours.high is not None and value(ours.high, outer) <= value(other.high, outer), (drawn, e, outer)


EXPRESSIONS = expressions((x, y, z, p), 6)


@pytest.mark.parametrize("engine", Engine)
@settings(max_examples=120, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_range_holds_every_value(engine: Engine, drawn: Drawn, e: Expr) -> None:
    check_sound(drawn, e, ends(engine, drawn, e))


@pytest.mark.parametrize("engine", [e for e in Engine if e is not Engine.BASELINE])
@settings(max_examples=120, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_range_is_inside_that_of_the_baseline(engine: Engine, drawn: Drawn, e: Expr) -> None:
    check_not_looser(drawn, e, ends(engine, drawn, e), ends(Engine.BASELINE, drawn, e))


@pytest.mark.parametrize("engine", [Engine.CHAIN, Engine.ISL, Engine.NONLINEAR])
@settings(max_examples=120, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_range_is_inside_that_of_interval_arithmetic(engine: Engine, drawn: Drawn, e: Expr) -> None:
    check_not_looser(drawn, e, ends(engine, drawn, e), ends(Engine.INTERVAL, drawn, e))


_ENDS = [BinaryOp.MIN, BinaryOp.MAX]


def quasi_affine(most: int) -> st.SearchStrategy[Expr]:
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


def _total(parts: list[Expr]) -> Expr:
    result = parts[0]
    for e in parts[1:]:
        result = ir.add(result, e)
    return result


CONSTANT_LOOPS = st.builds(
    lambda a, n, b, m: (ForAll(x, Interval(ir.i64(a), ir.i64(n))), ForAll(y, Interval(b, ir.i64(m)))),
    st.integers(-4, 4), st.integers(1, 6), st.one_of(st.integers(-4, 4).map(ir.i64), linear_expressions((x,))),
    st.integers(1, 6),
)  # fmt: skip
AFFINE_GUARDS = st.one_of(
    st.just(()), st.builds(lambda c: (Where(c),), conditions(linear_expressions((x, y, z))))
)


@pytest.mark.parametrize("engine", [Engine.CHAIN, Engine.ISL])
@settings(max_examples=200, deadline=None)
@given(CONSTANT_LOOPS, linear_expressions((x, y)), AFFINE_GUARDS, quasi_affine(2))
def test_range_is_exact_where_all_is_constant(
    engine: Engine, loops: tuple[ForAll, ...], let: Expr, guards: tuple[Where, ...], e: Expr
) -> None:
    drawn = Drawn((*loops, Define(z, let, None), *guards))
    found = ends(engine, drawn, e)
    values = [value(e, at) for at in drawn.points(OUTER[0])]
    if values:
        assert (found.low, found.high) == (ir.i64(min(values)), ir.i64(max(values))), (drawn, e)


@settings(max_examples=150, deadline=None)
@given(PATHS, EXPRESSIONS)
def test_chain_asks_isl_wherever_it_knows_better(drawn: Drawn, e: Expr) -> None:
    check_not_looser(drawn, e, ends(Engine.CHAIN, drawn, e), ends(Engine.ISL, drawn, e))
