"""The prover: its integer arithmetic is that of values, and its verdicts are what they say."""

from __future__ import annotations

import gc
import itertools
import random
import weakref
from dataclasses import replace

import pytest
import z3

from halide_core import ir
from halide_core.bounds.smt import prover as solver
from halide_core.bounds.smt.budget import LOST, Effort
from halide_core.bounds.smt.floats import float_range
from halide_core.bounds.smt.prover import Prover
from halide_core.bounds.verify.counterexample import confirmed
from halide_core.bounds.verify.vc import Assumption, Claim, ClaimKind, Context, Status, nothing
from halide_core.errors import InternalError, Location
from halide_core.ir import Assert, BinaryOp, ExprNode, Failure, Intrinsic, Variable
from halide_core.ir.types import BOOL, INT32, INT64, Float, Int, Type, UInt
from halide_core.reference.concrete import evaluate
from tests.support.term_values import check_term

TYPES = [UInt(8), Int(8), UInt(16), Int(16), INT32, UInt(32), INT64]
ARITHMETIC = [
    BinaryOp.ADD,
    BinaryOp.SUB,
    BinaryOp.MUL,
    BinaryOp.DIV,
    BinaryOp.MOD,
    BinaryOp.MIN,
    BinaryOp.MAX,
]
COMPARISONS = [BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE]


class Draw:
    """Random expressions over variables of every type."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.variables = {t: [Variable(t, f"{t}.{i}") for i in range(2)] for t in [*TYPES, BOOL]}

    def literal(self, type: Type) -> ExprNode:
        low, high = (0, 1) if type.is_bool() else type.range
        small = self.rng.randint(max(low, -9), min(high, 9))
        # int64 arithmetic is that of all integers: its literals stay small, so that the sums do too
        ends = [low, high] if type is not INT64 else []
        return ir.const(self.rng.choice([small, small, *ends]), type)

    def expr(self, type: Type, depth: int) -> ExprNode:
        r = self.rng
        if depth == 0 or r.random() < 0.1:
            return r.choice([self.literal(type), *self.variables[type]])
        if type.is_bool():
            match r.randint(0, 3):
                case 0:
                    return ir.Not(BOOL, self.expr(BOOL, depth - 1))
                case 1:
                    op = r.choice([BinaryOp.AND, BinaryOp.OR])
                    return ir.binary(op, self.expr(BOOL, depth - 1), self.expr(BOOL, depth - 1))
            of = r.choice(TYPES)
            return ir.binary(r.choice(COMPARISONS), self.expr(of, depth - 1), self.expr(of, depth - 1))
        match r.randint(0, 7):
            case 0:
                return ir.Cast(type, self.expr(r.choice([t for t in [*TYPES, BOOL] if t is not type]), depth - 1))
            case 1:
                a, b = self.expr(type, depth - 1), self.expr(type, depth - 1)
                return ir.Select(type, self.expr(BOOL, depth - 1), a, b)
            case 2:
                k = ir.const(r.randint(0, type.bits() - 1 if type is not INT64 else 3), type)
                return ir.Binary(type, r.choice([BinaryOp.SHL, BinaryOp.SHR]), self.expr(type, depth - 1), k)
            case 3:
                k = ir.const((1 << r.randint(0, min(type.bits() - 2, 20))) - 1, type)
                return ir.Binary(type, BinaryOp.BIT_AND, self.expr(type, depth - 1), k)
        return ir.Binary(type, r.choice(ARITHMETIC), self.expr(type, depth - 1), self.expr(type, depth - 1))

    def value(self, variable: Variable) -> int:
        if variable.type.is_bool():
            return self.rng.randint(0, 1)
        low, high = variable.type.range
        if variable.type is INT64 or self.rng.random() < 0.5:
            return self.rng.randint(max(low, -9), min(high, 9))
        return self.rng.choice([low, low + 1, high - 1, high, self.rng.randint(low, high)])


@pytest.mark.parametrize("seed", range(150))
def test_term_has_the_value_of_its_expression(seed: int) -> None:
    draw = Draw(seed)
    e = draw.expr(draw.rng.choice([*TYPES, BOOL]), 3)
    values: dict[ExprNode, int | float] = {v: draw.value(v) for each in draw.variables.values() for v in each}
    wanted = evaluate(e, values)
    if e.type is INT64 and not INT64.range[0] <= wanted <= INT64.range[1]:
        return
    check_term(e, values)


N, M, K = (Variable(INT64, n) for n in "nmk")


def verdict(holds: ExprNode, context: Context | None = None) -> Status:
    return Prover().prove([Claim(ClaimKind.MEMORY, "f", ("",), context or nothing(), holds)])[0].status


def test_claim_rests_on_no_check_of_another_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_MINIMIZED", 0)  # what an answer rests on stays as it was found
    monkeypatch.setattr(Prover, "_holds", lambda *_: False)  # as if each claim took much work
    small = Assert(ir.less_equal(N, ir.i64(5)), Failure.ASSERTION, ("small",))
    claims = [
        Claim(ClaimKind.MEMORY, "f", ("",), nothing().checked(small), ir.less_equal(N, ir.i64(9))),
        Claim(ClaimKind.MEMORY, "f", ("",), nothing().holds(ir.less_equal(M, K)), ir.less(M, ir.add(K, ir.ONE))),
    ]
    first, second = Prover().prove(claims)
    assert (first.status, first.checks) == (Status.ASSERTED, (small,))
    assert (second.status, second.checks) == (Status.PROVEN, ())


def test_divisions_by_zero_give_zero() -> None:
    for op in (ir.div, ir.mod):
        assert verdict(ir.equal(op(N, ir.ZERO), ir.ZERO)) is Status.PROVEN
        zero = nothing().holds(ir.equal(M, ir.ZERO))
        assert verdict(ir.equal(op(N, M), ir.ZERO), zero) is Status.PROVEN


def test_quotient_and_remainder_of_a_fused_loop_stay_in_range() -> None:
    inside = nothing().holds(ir.less_equal(ir.ZERO, K), ir.less(K, ir.mul(N, M)), ir.less(ir.ZERO, N))
    assert verdict(ir.less(ir.div(K, N), M), inside) is Status.PROVEN
    assert verdict(ir.less_equal(ir.ZERO, ir.div(K, N)), inside) is Status.PROVEN
    assert verdict(ir.less(ir.mod(K, N), N), inside) is Status.PROVEN
    assert verdict(ir.less(ir.div(K, N), ir.sub(M, ir.ONE)), inside) is Status.REFUTED


def test_position_in_a_fused_loop_is_given_back_whatever_its_length_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # x*n + y in rows of n: the row that a remainder gives back is y, four rows further down too.
    x, y, n, low = (Variable(INT64, name) for name in ("x", "y", "n", "low"))
    long = ir.maximum(ir.minimum(low, ir.i64(9)), ir.div(low, ir.i64(3)))
    context = nothing().defines(n, long).holds(ir.less_equal(ir.i64(-4), x), ir.less_equal(low, y))
    context = context.holds(ir.less(y, ir.add(low, n)))
    position = ir.add(ir.mul(ir.add(x, ir.i64(4)), n), ir.sub(y, low))
    back = Claim(ClaimKind.COVERAGE, "f", ("it is given back",), context, ir.equal(y, ir.add(low, ir.mod(position, n))))
    monkeypatch.setattr(Prover, "_exact", lambda *_: pytest.fail("products need not be what they are"))
    (result,) = Prover().prove([back])
    assert result.status is Status.PROVEN


def test_false_claim_has_a_counterexample() -> None:
    context = nothing().holds(ir.less(ir.ZERO, N), ir.less(N, ir.i64(5)))
    prover = Prover()
    assert prover.steps == 0
    (result,) = prover.prove([Claim(ClaimKind.MEMORY, "f", ("",), context, ir.less(N, ir.i64(4)))])
    assert prover.steps > 0
    assert result.status is Status.REFUTED
    assert result.counterexample is not None and result.counterexample.values == {"n": 4}


@pytest.mark.parametrize(("n", "refutes"), [(4, True), (3, False), (0, False)])
def test_state_refutes_where_facts_hold_and_the_claim_does_not(n: int, refutes: bool) -> None:
    claim = Claim(ClaimKind.MEMORY, "f", ("",), nothing().holds(ir.less(ir.ZERO, N)), ir.less(N, ir.i64(4)))
    assert confirmed(claim, {N: n}, ()).certain == refutes
    assert not confirmed(claim, {N: n}, {N}).certain, "its value was made up"


@pytest.mark.parametrize("most", [0, 8, 9, 4096, 4097, 1 << 20, 1 << 40])
def test_counterexample_is_found_however_large_it_has_to_be(most: int) -> None:
    context = nothing().holds(ir.less(ir.i64(most), N))
    (result,) = Prover().prove([Claim(ClaimKind.MEMORY, "f", ("",), context, ir.less(N, M))])
    assert result.status is Status.REFUTED
    assert result.counterexample is not None
    assert most < int(result.counterexample.values["n"]) <= (8 if most < 8 else 4096 if most < 4096 else 1 << 63)


def test_check_that_is_needed_is_named_and_no_other() -> None:
    checks = [ir.Assert(ir.less(v, ir.i64(9)), ir.Failure.ASSERTION, (v.name,)) for v in (N, M, K)]
    context = nothing()
    for check in checks:
        context = context.checked(check)
    claims = [Claim(ClaimKind.MEMORY, "f", ("",), context, ir.less(ir.add(N, K), ir.i64(18)))]
    (result,) = Prover().prove(claims)
    assert result.status is Status.ASSERTED
    assert result.checks == (checks[0], checks[2])


def test_new_solvers_are_told_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prover, "_without_and_with_growth", lambda *_: z3.unknown)  # as if the walk gave up
    small = Assert(ir.less_equal(N, ir.i64(5)), Failure.ASSERTION, ("small",))
    claim = Claim(ClaimKind.MEMORY, "f", ("",), nothing().checked(small), ir.less_equal(N, ir.i64(9)))
    (result,) = Prover().prove([claim])
    assert (result.status, result.checks) == (Status.ASSERTED, (small,))


def test_claim_beyond_the_budget_is_undecided() -> None:
    odd = ir.equal(ir.add(ir.mul(N, ir.mul(N, N)), ir.mul(M, ir.mul(M, M))), ir.mul(K, ir.mul(K, K)))
    positive = nothing().holds(*(ir.less(ir.ZERO, v) for v in (N, M, K)))
    claim = Claim(ClaimKind.MEMORY, "f", ("",), positive, ir.Not(BOOL, odd))
    assert Prover(budget=2000).prove([claim])[0].status is Status.UNDECIDED


def test_budget_of_a_prover_is_finite() -> None:
    odd = ir.equal(ir.add(ir.mul(N, ir.mul(N, N)), ir.mul(M, ir.mul(M, M))), ir.mul(K, ir.mul(K, K)))
    positive = nothing().holds(*(ir.less(ir.ZERO, v) for v in (N, M, K)))
    contexts = [positive.holds(ir.less(ir.i64(i), N)) for i in range(60)]
    claims = [Claim(ClaimKind.MEMORY, "f", ("",), c, ir.Not(BOOL, odd)) for c in contexts]
    prover = Prover(budget=2000)
    assert prover.steps == 0
    assert all(r.status is not Status.PROVEN for r in prover.prove(claims))
    assert 0 < prover.steps < 60 * 8 * 2000


def test_what_stays_undecided_has_a_budget_of_all_provers() -> None:
    """Where it is spent, claims that the walk proves still are, and no work is done for others; one that the user
    answers for takes nothing of it."""
    odd = ir.equal(ir.add(ir.mul(N, ir.mul(N, N)), ir.mul(M, ir.mul(M, M))), ir.mul(K, ir.mul(K, K)))
    positive = nothing().holds(*(ir.less(ir.ZERO, v) for v in (N, M, K)))
    small = Assert(ir.less_equal(N, ir.i64(5)), Failure.ASSERTION, ("small",))
    hard = Claim(ClaimKind.MEMORY, "f", ("",), positive, ir.Not(BOOL, odd))
    easy = Claim(ClaimKind.MEMORY, "f", ("",), positive, ir.less(ir.ZERO, ir.add(N, M)))
    checked = Claim(ClaimKind.MEMORY, "f", ("",), nothing().checked(small), ir.less_equal(N, ir.i64(9)))
    first = Prover(budget=2000)
    assert [r.status for r in first.prove([checked, hard])] == [Status.ASSERTED, Status.UNDECIDED]
    assert 0 < first.lost <= first.steps
    spent = Prover(budget=2000, lost=LOST * 2000)
    found = [r.status for r in spent.prove([easy, hard, checked])]
    assert found == [Status.PROVEN, Status.UNDECIDED, Status.UNDECIDED]
    assert spent.possible(easy).status is Status.UNDECIDED
    waived = Prover(budget=2000)
    word = Assumption("allow_race_conditions()", Location(__file__, 1))
    assert waived.prove([replace(hard, waiver=word)])[0].status is Status.ASSUMED
    assert waived.lost == 0


def test_made_up_value_of_a_func_refutes_nothing() -> None:
    claim = Claim(ClaimKind.MEMORY, "f", ("",), nothing(), ir.less(N, ir.i64(4)))
    assert Prover(invented=[N]).prove([claim])[0].status is Status.UNDECIDED


def test_facts_of_one_context_do_not_leak_into_another() -> None:
    top = nothing()
    small, large = top.holds(ir.less(N, ir.i64(4))), top.holds(ir.less(ir.i64(4), N))
    claims = [Claim(ClaimKind.MEMORY, "f", ("",), c, ir.less(N, ir.i64(5))) for c in (small, large, top, small)]
    statuses = [r.status for r in Prover().prove(claims)]
    assert statuses == [Status.PROVEN, Status.REFUTED, Status.REFUTED, Status.PROVEN]


def test_claim_that_fails_is_no_fact_for_the_next() -> None:
    conclusions = (ir.less(N, ir.ZERO), ir.less_equal(ir.ZERO, N), ir.less(M, ir.ZERO), ir.less_equal(N, M))
    for context in (nothing(), nothing().checked(ir.Assert(ir.less(K, ir.ONE), ir.Failure.ASSERTION, ("k",)))):
        claims = [Claim(ClaimKind.MEMORY, "f", ("",), context, c) for c in conclusions]
        assert [r.status for r in Prover().prove(claims)] == [Status.REFUTED] * 4


def test_products_said_in_one_context_are_said_again_in_the_next() -> None:
    top = nothing()
    one, two = (top.holds(ir.less(ir.ZERO, v)) for v in (N, M))
    grown = [c.holds(ir.less(ir.ZERO, N), ir.less(ir.ZERO, M)) for c in (one, two)]
    claims = [Claim(ClaimKind.MEMORY, "f", ("",), c, ir.less(ir.ZERO, ir.mul(N, M))) for c in grown]
    assert [r.status for r in Prover().prove(claims)] == [Status.PROVEN, Status.PROVEN]


def test_walk_compares_products_where_a_claim_needs_it() -> None:
    context = nothing().holds(ir.less_equal(ir.ZERO, N), ir.less_equal(N, M), ir.less_equal(ir.ZERO, K))
    prover = Prover()
    prover._enter(context)
    larger = ir.less(ir.mul(M, K), ir.mul(N, K))
    assert prover._ask(larger, effort=Effort.WALK).impossible


def test_claims_that_exact_products_prove_are_no_failures() -> None:
    """However many there are, the next one is tried too; after so many that do fail, no more are."""
    both_positive = nothing().holds(ir.less(ir.ZERO, N), ir.less(ir.ZERO, M))
    by_products = ir.less_equal(ir.add(N, M), ir.add(ir.mul(N, M), ir.ONE))
    contexts = [both_positive.holds(ir.less(K, ir.i64(k))) for k in range(solver.EXPLAINED + 2)]
    assert all(r.status is Status.PROVEN for r in Prover().prove([_memory(c, by_products) for c in contexts]))
    failing = [r.status for r in Prover().prove([_memory(c, ir.less(N, M)) for c in contexts])]
    assert failing == [Status.REFUTED] * solver.EXPLAINED + [Status.UNDECIDED] * 2


def test_answers_by_exact_products_take_as_long_as_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minutes pass between any two looks at the clock, as on a machine that is busy with something else."""
    monkeypatch.setattr(solver.time, "monotonic", itertools.count(0, 100).__next__)
    both_positive = nothing().holds(ir.less(ir.ZERO, N), ir.less(ir.ZERO, M))
    by_products = ir.less_equal(ir.add(N, M), ir.add(ir.mul(N, M), ir.ONE))
    claims = [_memory(both_positive.holds(ir.less(K, ir.i64(k))), by_products) for k in range(3)]
    assert {r.status for r in Prover().prove(claims)} == {Status.PROVEN}


def test_proof_by_exact_products_names_the_checks_that_it_needs() -> None:
    needed, other = (Assert(ir.less(ir.ZERO, v), Failure.ASSERTION, ("v",)) for v in (N, K))
    context = nothing().holds(ir.less(ir.ZERO, M)).checked(needed).checked(other)
    (result,) = Prover().prove([_memory(context, ir.less_equal(ir.add(N, M), ir.add(ir.mul(N, M), ir.ONE)))])
    assert (result.status, result.checks) == (Status.ASSERTED, (needed,))


def _memory(context: Context, conclusion: ExprNode) -> Claim:
    return Claim(ClaimKind.MEMORY, "f", ("",), context, conclusion)


def test_contradictory_facts_are_told() -> None:
    some = nothing().holds(ir.less(N, ir.ZERO))
    never = some.checked(ir.Assert(ir.less(ir.ZERO, N), ir.Failure.ASSERTION, ()))
    for context, status in ((some, Status.PROVEN), (never, Status.REFUTED)):
        assert Prover().possible(Claim(ClaimKind.STARTUP, "f", ("",), context, ir.TRUE)).status is status


def test_variable_with_two_meanings_is_an_internal_error() -> None:
    claims = [
        Claim(ClaimKind.MEMORY, "f", ("",), nothing().defines(N, value), ir.less(N, M)) for value in (ir.ONE, ir.ZERO)
    ]
    with pytest.raises(InternalError, match="two things"):
        Prover().prove(claims)


def test_float_ranges_hold_every_rounding() -> None:
    f32 = Float(32)
    x = Variable(UInt(8), "x")
    e = ir.mul(ir.Cast(f32, x), ir.const(0.1, f32))
    found = float_range(e, lambda _: (0, 255), {})
    assert found is not None and found[0] <= 0 and 25.5 <= found[1] < 25.51
    values = [evaluate(e, {x: i}) for i in range(256)]
    assert all(found[0] <= v <= found[1] for v in values)
    root = ir.Call(f32, Intrinsic.SQRT, (e,))
    found = float_range(root, lambda _: (0, 255), {})
    assert found is not None and found[0] < 0 and found[1] < 5.05
    assert all(found[0] <= evaluate(root, {x: i}) <= found[1] for i in range(256))
    assert float_range(ir.Call(f32, Intrinsic.LOG, (e,)), lambda _: (0, 255), {}) is None
    assert float_range(ir.div(e, ir.Cast(f32, x)), lambda _: (0, 255), {}) is None


def test_what_z3_keeps_goes_with_the_prover() -> None:
    """It is megabytes a prover, and collections of cycles may be far apart."""
    gc.disable()
    try:
        prover = Prover()
        product = Claim(ClaimKind.MEMORY, "f", ("",), nothing(), ir.less_equal(ir.ZERO, ir.mul(ir.mul(N, M), K)))
        assert prover.prove([product])[0].status is Status.REFUTED
        context = weakref.ref(prover._context)
        del prover
        assert context() is None
    finally:
        gc.enable()
