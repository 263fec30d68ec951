"""Simplification and the prover behind it, by sampling: what they say holds wherever the facts that they had do."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from halide_core import ir
from halide_core.analysis.linear import difference, linear_of, to_expr
from halide_core.analysis.prover import Facts, _ProofSearch, shared_proofs
from halide_core.analysis.refute import Model, ModelKind
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.ir import BinaryOp, Cast, ExprNode, Select
from halide_core.ir.types import BOOL, INT32, INT64, Float, Int, Type, UInt
from halide_core.ir.visitor import subexpressions
from halide_core.lowering.passes.allocation_bounds import constant_limit
from halide_core.lowering.passes.simplify_stmt import assume_condition, assume_loop
from tests.support.integers import Environment, conditions, expressions, linear_expressions, value, variables

x, y, n = variables("x", "y", "n")
LEAVES = (x, y, n)
NUMBERS = st.integers(-30, 30)
ENVIRONMENT = st.builds(lambda a, b, c: {x: a, y: b, n: c}, NUMBERS, NUMBERS, NUMBERS)
ENVIRONMENTS = st.lists(ENVIRONMENT, min_size=8, max_size=8)
VARIOUS = [{x: a, y: b, n: c} for a in (-9, -1, 0, 2, 7) for b in (-4, 0, 3) for c in (-5, 0, 1, 8)]


@settings(max_examples=250)
@given(expressions(LEAVES), ENVIRONMENTS)
@example(ir.div(ir.add(ir.mul(x, ir.i64(8)), ir.i64(16)), ir.i64(8)), [])
@example(ir.div(x, ir.ZERO), [])
@example(ir.mod(ir.mul(x, ir.i64(-2)), ir.i64(-2)), [])
def test_simplified_expression_has_the_same_value(e: ExprNode, environments: list[Environment]) -> None:
    simpler = simplify(e)
    for at in environments + VARIOUS:
        assert value(simpler, at) == value(e, at), (e, simpler, at)


@settings(max_examples=250)
@given(conditions(expressions(LEAVES, 4)), ENVIRONMENTS)
def test_simplified_condition_has_the_same_value(e: ExprNode, environments: list[Environment]) -> None:
    simpler = simplify(e)
    for at in environments + VARIOUS:
        assert value(simpler, at) == value(e, at), (e, simpler, at)


def test_quotients_of_quotients_are_one() -> None:
    """Of levels of a pyramid the one below the next, rounded down or up: their distance is that of two quotients."""

    def half(e: ExprNode, more: int = 0) -> ExprNode:
        return ir.div(ir.add(e, ir.i64(more)) if more else e, ir.i64(2))

    assert simplify(half(half(x), 1)) is simplify(ir.div(ir.add(x, ir.i64(2)), ir.i64(4)))
    assert simplify(half(half(x, 1), 1)) is simplify(ir.div(ir.add(x, ir.i64(3)), ir.i64(4)))
    assert simplify(half(half(x, 1), -7)) is simplify(ir.sub(ir.div(ir.add(x, ir.i64(3)), ir.i64(4)), ir.i64(4)))
    assert simplify(ir.maximum(half(half(x)), half(half(x), 1))) is simplify(half(half(x), 1))
    far = half(half(Cast(INT64, ir.const(1.5, Float(64)))), 1)
    assert simplify(far) is far
    for e in (half(half(half(x, 1), 1), -1), ir.div(ir.add(ir.div(x, ir.i64(3)), ir.i64(-2)), ir.i64(5))):
        assert all(value(simplify(e), at) == value(e, at) for at in ({x: k} for k in range(-70, 70)))


def test_choices_by_one_condition_are_added_where_that_makes_them_shorter() -> None:
    """A region's first point and its length depend on the same; its last point is said once."""
    some = ir.less(ir.ZERO, n)
    first, length = Select(INT64, some, ir.minimum(x, y), x), Select(INT64, some, ir.sub(n, ir.minimum(x, y)), n)
    assert simplify(ir.add(first, length)) is Select(INT64, some, n, simplify(ir.add(x, n)))
    assert simplify(ir.sub(Select(INT64, some, ir.add(x, y), y), Select(INT64, some, x, ir.ZERO))) is y
    apart = ir.add(Select(INT64, some, x, y), Select(INT64, some, ir.i64(2), n))
    assert simplify(apart) is apart
    large = Select(INT64, some, ir.add(x, ir.i64(1 << 61)), y)
    far = ir.add(large, Select(INT64, some, ir.sub(ir.i64(1 << 61), x), y))
    assert simplify(far) is far  # its sum would leave int64
    others = ir.add(Select(INT64, some, x, y), Select(INT64, ir.less(ir.ONE, n), ir.sub(y, x), y))
    assert simplify(others) is others


@settings(max_examples=200)
@given(expressions(LEAVES))
def test_simplifying_twice_changes_no_value_and_settles_types(e: ExprNode) -> None:
    once = simplify(e)
    assert once.type is INT64
    twice = simplify(once)
    for at in VARIOUS:
        assert value(twice, at) == value(once, at)


class _Known:
    """Facts about x, then about y in terms of x and n, as loops, guards and lets give them; and who satisfies them."""

    def __init__(self, told: list[tuple[str, ExprNode, ExprNode]]) -> None:
        self.facts = Facts()
        self.told = told
        for how, a, b in told:
            match how:
                case "loop":
                    assume_loop(self.facts, a, ir.Interval(ir.ZERO, b))  # type: ignore[arg-type]  # a variable
                case "range":
                    self.facts.assume_range(a, b, ir.add(b, ir.i64(7)))
                case "most":
                    self.facts.assume_at_most(a, b)
                case "least":
                    self.facts.assume_at_least(a, b)
                case "condition":
                    assume_condition(self.facts, ir.less(a, b))

    def hold(self, at: Environment) -> bool:
        return all(_holds(how, value(a, at), value(b, at)) for how, a, b in self.told)


def _holds(how: str, a: int, b: int) -> bool:
    return {"loop": 0 <= a < b, "range": b <= a <= b + 7, "most": a <= b, "least": a >= b, "condition": a < b}[how]


KNOWN = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["loop", "range", "most", "least"]), st.just(x), linear_expressions((n,))),
        st.tuples(st.sampled_from(["loop", "range", "most", "least"]), st.just(y), linear_expressions((n, x))),
        st.tuples(st.sampled_from(["loop", "most", "least"]), st.just(y), expressions((n, x), 4)),
        st.tuples(st.sampled_from(["most", "least"]), st.just(n), st.integers(-9, 9).map(ir.i64)),
        st.tuples(st.just("condition"), expressions(LEAVES, 2), expressions(LEAVES, 2)),
    ),
    max_size=3,
).map(_Known)
GRID = [{x: a, y: b, n: c} for a in range(-8, 14, 2) for b in range(-7, 15, 3) for c in (-6, -1, 0, 1, 2, 5, 8, 13)]


def _satisfying(known: _Known) -> list[dict[ir.Variable, int]]:
    found = [at for at in GRID if known.hold(at)]
    assume(found)
    return found[:: max(1, len(found) // 60)]


@settings(max_examples=200)
@given(KNOWN, expressions(LEAVES, 6))
def test_simplified_under_facts_has_the_same_value_where_they_hold(known: _Known, e: ExprNode) -> None:
    simpler = Simplifier(known.facts).expr(e)
    for at in _satisfying(known):
        assert value(simpler, at) == value(e, at), (known.told, e, simpler, at)


@settings(max_examples=200)
@given(KNOWN, conditions(expressions(LEAVES, 4)))
def test_condition_decided_by_facts_is_so_where_they_hold(known: _Known, e: ExprNode) -> None:
    simpler = Simplifier(known.facts).expr(e)
    for at in _satisfying(known):
        assert value(simpler, at) == value(e, at), (known.told, e, simpler, at)


@settings(max_examples=250)
@given(KNOWN, expressions(LEAVES, 5), expressions(LEAVES, 5))
def test_what_a_sample_refutes_is_not_proven(known: _Known, a: ExprNode, b: ExprNode) -> None:
    gap = max(value(a, at) - value(b, at) for at in _satisfying(known))
    below = ir.add(b, ir.i64(gap - 1))
    assert not known.facts.proves_le(a, below), (known.told, a, below)
    simplifier = Simplifier(known.facts)
    assert not known.facts.proves_le(simplifier.expr(a), simplifier.expr(below)), (known.told, a, below)


_FAR = 1 << 20


@settings(max_examples=200)
@given(KNOWN, expressions(LEAVES))
def test_states_that_refute_keep_the_facts_and_value_an_expression_as_evaluation_does(
    known: _Known, e: ExprNode
) -> None:
    for world in known.facts._states():
        at = {v: world.value(linear_of(v), known.facts) for v in LEAVES}
        if max(abs(v) for v in at.values()) >= _FAR:  # products leave int64
            continue
        assert all(value(least, at) <= value(most, at) for least, most in known.facts._said)
        assert world.value(linear_of(e), known.facts) == value(e, at)


def test_a_state_is_found_for_facts_that_lead_from_one_to_the_other() -> None:
    outer, inner = Facts(), variables("i")[0]
    outer.assume_at_least(n, ir.ONE)
    assume_loop(outer, x, ir.Interval(ir.ZERO, n))
    facts = Facts(outer)
    assume_loop(facts, inner, ir.Interval(x, ir.sub(n, x)))
    assert len(list(facts._states())) == len(ModelKind)
    assert any(state.value(difference(x, inner).plus(linear_of(ir.i64(-1))), facts) < 0 for state in facts._states())
    assert all(state.value(difference(inner, x), facts) >= 0 for state in facts._states())
    facts.assume_at_most(n, ir.ZERO)
    assert not list(facts._states()), "nothing is known where nothing can be"


@settings(max_examples=200)
@given(KNOWN, expressions(LEAVES, 6))
def test_constant_range_holds_every_value(known: _Known, e: ExprNode) -> None:
    low, high = known.facts.constant_range(e)
    for at in _satisfying(known):
        assert low <= value(e, at) <= high, (known.told, e, at)


@settings(max_examples=200)
@given(KNOWN, expressions(LEAVES, 6))
def test_constant_limit_is_never_exceeded(known: _Known, e: ExprNode) -> None:
    limit = constant_limit(e, known.facts)
    assume(limit is not None)
    assert limit is not None
    for at in _satisfying(known):
        assert value(e, at) <= limit, (known.told, e, at)


@settings(max_examples=200)
@given(expressions(LEAVES), expressions(LEAVES), ENVIRONMENTS)
def test_linear_forms_have_the_value_of_what_they_stand_for(
    a: ExprNode, b: ExprNode, environments: list[Environment]
) -> None:
    back, gap = to_expr(linear_of(a)), to_expr(difference(a, b))
    for at in environments:
        assert value(back, at) == value(a, at)
        assert value(gap, at) == value(a, at) - value(b, at)


# -- what must be proven and simplified: exact bounds hang on it


def _loop(var: ir.Variable, low: ExprNode, length: ExprNode) -> Facts:
    facts = Facts()
    assume_loop(facts, var, ir.Interval(low, length))
    return facts


def test_limit_of_a_choice_is_that_of_its_greater_side() -> None:
    """The last tile's part of a picture, and no less than a vector."""
    tile = ir.mul(x, ir.i64(32))
    part = ir.sub(ir.minimum(ir.add(tile, ir.i64(32)), n), tile)
    assert constant_limit(ir.maximum(part, ir.i64(16)), Facts()) == 32
    assert constant_limit(ir.maximum(part, ir.i64(48)), Facts()) == 48
    assert constant_limit(ir.sub(ir.i64(64), ir.minimum(ir.sub(ir.ZERO, part), ir.i64(9))), Facts()) == 96
    assert constant_limit(Select(INT64, ir.less(x, n), part, ir.i64(5)), Facts()) == 32
    assert constant_limit(ir.maximum(part, n), Facts()) is None


def test_split_guards_are_decided_where_the_factor_divides() -> None:
    # for x in (0, 64/8) for y in (0, 8): x*8 + y < 64
    facts = Facts(_loop(x, ir.ZERO, ir.i64(8)))
    assume_loop(facts, y, ir.Interval(ir.ZERO, ir.i64(8)))
    e = ir.less(ir.add(ir.mul(x, ir.i64(8)), y), ir.i64(64))
    assert simplify(e, facts) is ir.TRUE
    assert simplify(ir.less(ir.i64(63), ir.add(ir.mul(x, ir.i64(8)), y)), facts) is ir.FALSE


def test_shifted_split_stays_below_the_length() -> None:
    facts = _loop(x, ir.ZERO, ir.div(ir.add(n, ir.i64(7)), ir.i64(8)))
    facts.assume_at_least(n, ir.i64(8))
    start = ir.minimum(ir.mul(x, ir.i64(8)), ir.sub(n, ir.i64(8)))
    assert facts.proves_le(ir.add(start, ir.i64(7)), ir.sub(n, ir.ONE))
    assert facts.proves_le(ir.ZERO, start)


def test_quotients_and_remainders_of_multiples() -> None:
    e = ir.add(ir.mul(x, ir.i64(8)), ir.mul(y, ir.i64(4)))
    assert repr(simplify(ir.div(e, ir.i64(4)))) == "x*2 + y"
    assert simplify(ir.mod(e, ir.i64(4))) is ir.ZERO
    assert repr(simplify(ir.div(ir.div(x, ir.i64(3)), ir.i64(4)))) == "x/12"
    facts = _loop(y, ir.ZERO, ir.i64(8))
    assert simplify(ir.div(ir.add(ir.mul(x, ir.i64(8)), y), ir.i64(8)), facts) is x
    assert simplify(ir.mod(ir.add(ir.mul(x, ir.i64(8)), y), ir.i64(8)), facts) is y


def test_what_cancels_does() -> None:
    length = ir.sub(ir.add(ir.add(ir.mul(x, ir.i64(32)), ir.i64(32)), ir.ONE), ir.sub(ir.mul(x, ir.i64(32)), ir.ONE))
    assert simplify(length) is ir.i64(34)
    shifted = ir.minimum(ir.add(x, ir.i64(3)), ir.add(x, y))
    assert repr(simplify(ir.sub(shifted, x))) in ("min(3, y)", "min(y, 3)")


def test_an_index_through_int32_and_back_is_dropped_only_where_it_fits() -> None:
    there_and_back = Cast(INT64, Cast(INT32, x))
    assert simplify(there_and_back) is there_and_back
    assert simplify(there_and_back, _loop(x, ir.ZERO, ir.i64(100))) is x
    assert simplify(there_and_back, _loop(x, ir.ZERO, ir.i64(1 << 31))) is x
    assert simplify(there_and_back, _loop(x, ir.ZERO, ir.i64((1 << 31) + 1))) is there_and_back


def test_select_with_a_certain_condition() -> None:
    e = Select(INT64, ir.less(x, ir.add(x, ir.ONE)), y, n)
    assert simplify(e) is y
    assert simplify(Select(INT64, ir.Not(BOOL, ir.less(x, ir.add(x, ir.ONE))), y, n)) is n


@pytest.mark.parametrize("type", [INT32, UInt(8), Int(16, 4)], ids=str)
@pytest.mark.parametrize("first", [0, 1, -1, 128, 255, -32768])
@pytest.mark.parametrize("second", [0, 1, -1, 127, -32768])
def test_constants_of_a_sum_that_wraps_are_one(type: Type, first: int, second: int) -> None:
    a = ir.Variable(type, "a")
    for inner in (ir.add, ir.sub):
        for outer in (ir.add, ir.sub):
            simpler = simplify(outer(inner(a, ir.const(first, type)), ir.const(second, type)))
            total = (first if inner is ir.add else -first) + (second if outer is ir.add else -second)
            values = {e.value for e in subexpressions([simpler]) if isinstance(e, ir.IntImm)}
            signs = {e.op for e in subexpressions([simpler]) if isinstance(e, ir.Binary)}
            assert len(values) == len(signs) <= 1
            found = next(iter(values), 0) * (-1 if BinaryOp.SUB in signs else 1)
            assert ir.const(found, type) is ir.const(total, type)
            assert (simpler is a) is (ir.const(total, type) is ir.const(0, type))


def test_lanes_of_places_keep_their_base() -> None:
    lanes = INT64.with_lanes(4)
    index = ir.add(ir.const(0, lanes), Cast(lanes, ir.Load(INT32.with_lanes(4), "at", ir.Ramp(lanes, ir.ZERO, ir.ONE))))
    assert simplify(index) is index


def test_nothing_to_do_gives_the_same_node() -> None:
    e = ir.add(ir.mul(x, ir.i64(3)), ir.minimum(y, n))
    assert simplify(e) is e
    assert all(simplify(part) is part for part in subexpressions([e]))


def test_shared_proof_holds_only_where_its_facts_do() -> None:
    form = linear_of(ir.sub(y, x))
    with shared_proofs():
        known, chained = Facts(), Facts(Facts())
        known.assume_at_most(x, n)
        known.assume_at_least(y, n)
        assert known.proves_nonnegative(form)
        assert not Facts().proves_nonnegative(form)
        chained.assume_at_most(x, n)
        assert not chained.proves_nonnegative(form)
        chained.assume_at_least(n, ir.ZERO)
        assert not chained.proves_nonnegative(form)
        chained.assume_at_least(y, n)
        assert chained.proves_nonnegative(form)


def test_what_a_parent_learns_later_is_part_of_the_next_question() -> None:
    twice = linear_of(ir.sub(ir.mul(y, ir.i64(2)), ir.i64(2)))
    with shared_proofs():
        parents = [Facts(), Facts()]
        children = []
        for parent in parents:
            parent.assume_at_least(x, ir.ZERO)
            children.append(Facts(parent))
            children[-1].assume_at_least(y, x)
        assert not children[0].proves_le(ir.ONE, y)
        assert not children[1].proves_nonnegative(twice)
        parents[0].assume_at_least(x, ir.ONE)
        assert children[0].proves_nonnegative(twice)


def test_place_with_more_facts_elsewhere_searches_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[object] = []
    monkeypatch.setattr(Model, "value", lambda *of: searches.append(of) or 0)
    with shared_proofs():
        for other in (ir.ZERO, ir.ONE):
            facts = Facts()
            facts.assume_at_most(x, y)
            facts.assume_at_most(n, other)
            assert not facts.proves_nonnegative(linear_of(ir.sub(x, y)))
            searches.append("asked")
    assert searches[-2:] == ["asked", "asked"]
    assert len(searches) > 2


def test_states_are_sought_when_none_before_them_refutes() -> None:
    facts = Facts()
    facts.assume_at_least(n, ir.ONE)
    search = _ProofSearch(facts)
    assert not search.proves(linear_of(ir.i64(-1)).plus(linear_of(n), -1))
    assert len(search._states) == 1
    search = _ProofSearch(facts)
    assert search.proves(linear_of(n))
    assert len(search._states) == len(ModelKind)


def test_forms_met_again_in_one_search_cost_no_steps() -> None:
    # each of the three is above p or q, which are no further apart; a search that goes every way twice gives up
    a, b, c, p, q = variables(*"abcpq")
    facts = Facts()
    for atom in (a, b, c):
        facts.assume_at_least(atom, p)
        facts.assume_at_least(atom, q)
    for bound in (p, q):
        facts.assume_at_least(bound, x)
        facts.assume_at_least(bound, y)
    form = linear_of(ir.sub(ir.add(ir.add(a, b), c), ir.mul(n, ir.i64(3))))
    search = _ProofSearch(facts)
    search._others = iter(())  # nothing is refuted, so that all of it is searched
    assert not search.nonnegative(form, 10)
    assert search._steps >= 0


def test_bound_of_one_atom_may_cancel_another() -> None:
    """A window's row begins where a tile does, which is the lesser of two: neither of them alone is below the row."""
    start, facts = ir.minimum(ir.add(y, ir.i64(64)), n), Facts()
    facts.assume_range(x, ir.sub(start, ir.i64(2)), ir.add(start, ir.i64(2)))
    assert facts.proves_le(ir.sub(start, ir.i64(2)), x)
    assert facts.proves_le(ir.sub(x, start), ir.i64(2))
    assert not facts.proves_le(start, x)


def test_quotients_keep_the_order_of_what_is_divided() -> None:
    """A width that is a difference of halves is not negative: each quotient by it depends on that."""
    facts = Facts()
    facts.assume_at_least(n, ir.ONE)
    half = ir.sub(ir.div(ir.add(x, n), ir.i64(2)), ir.div(ir.add(x, ir.ONE), ir.i64(2)))
    assert facts.proves_nonnegative(linear_of(half))
    assert not facts.proves_nonnegative(linear_of(ir.sub(half, ir.ONE)))


@given(
    st.lists(st.tuples(linear_expressions(LEAVES), st.integers(1, 9), st.integers(-3, 3)), min_size=2, max_size=3),
    st.integers(-4, 4),
    NUMBERS,
)
def test_proofs_about_quotients_hold(quotients: list[tuple[ExprNode, int, int]], const: int, least: int) -> None:
    facts = Facts()
    facts.assume_at_least(n, ir.i64(least))
    facts.assume_at_most(x, y)
    e: ExprNode = ir.i64(const)
    for a, k, c in quotients:
        e = ir.add(e, ir.mul(ir.div(a, ir.i64(k)), ir.i64(c)))
    if facts.proves_nonnegative(linear_of(e)):
        for at in VARIOUS:
            if at[n] >= least and at[x] <= at[y]:
                assert value(e, at) >= 0, (e, at)


def test_what_is_rounded_to_a_multiple_of_a_variable_is_near() -> None:
    """``x/n*n`` is at most ``x``, and further from it than ``n - 1`` only where ``n`` is not positive."""
    rounded = ir.mul(ir.div(x, n), n)
    below = ir.add(ir.sub(x, n), ir.ONE)
    facts = Facts()
    assert not facts.proves_le(rounded, x)
    assert not facts.proves_le(below, rounded)
    facts.assume_at_least(n, ir.ONE)
    assert facts.proves_le(rounded, x)
    assert facts.proves_le(below, rounded)
    assert not facts.proves_le(x, rounded)
    assert not facts.proves_le(ir.add(below, ir.ONE), rounded)


def test_multiples_of_a_quotient_are_taken_apart() -> None:
    fewer = ir.mul(ir.sub(ir.div(x, n), ir.ONE), n)
    assert simplify(ir.add(fewer, n)) is ir.mul(ir.div(x, n), n)
    for at in VARIOUS:
        assert value(simplify(fewer), at) == value(fewer, at)
    other = ir.mul(ir.sub(ir.div(x, y), ir.ONE), n)
    assert simplify(other) is other


def test_quotients_by_variables_have_ranges() -> None:
    """Those of loops that step by a variable."""
    facts = Facts()
    facts.assume_at_least(n, ir.ONE)
    assert facts.proves_le(ir.ONE, ir.div(ir.add(n, ir.ONE), n))
    assert not facts.proves_le(ir.ONE, ir.div(ir.sub(n, ir.ONE), n))
    facts.assume_at_least(y, ir.ZERO)
    assert facts.proves_le(ir.ZERO, ir.div(y, n))
    assert not facts.proves_le(ir.ONE, ir.div(y, n))


def test_what_no_facts_simplify_is_kept_as_long_as_answers_are(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = ir.minimum(ir.add(x, ir.i64(3)), x)
    asked: list[ExprNode] = []
    found = Simplifier.minimum
    monkeypatch.setattr(Simplifier, "minimum", lambda self, a, b: asked.append(a) or found(self, a, b))
    with shared_proofs():
        assert simplify(ir.add(shared, n)) is ir.add(x, n)
        assert simplify(ir.mul(shared, ir.i64(7))) is ir.mul(x, ir.i64(7))
        assert len(asked) == 1
        known = Facts()
        known.assume_at_least(x, n)
        assert Simplifier(known).expr(shared) is x
        assert len(asked) == 2
    with shared_proofs():
        assert Simplifier().expr(shared) is x
    assert len(asked) == 3


@given(st.sampled_from(ModelKind), st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 1 << 70)), max_size=40))
def test_states_draw_the_numbers_of_a_seeded_generator(kind: ModelKind, ranges: list[tuple[int, int]]) -> None:
    model, expected = Model(kind), random.Random(kind.name)
    for low, length in ranges:
        assert model._draw(low, low + length) == expected.randint(low, low + length)
