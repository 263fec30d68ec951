"""The verifier runs after each pass, and blames the one that broke a rule: mutants of passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.config import verification_demanded
from halide_core.errors import InternalError
from halide_core.ir import Block, Cast, ExprNode, Let, Stmt
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Rewriter
from halide_core.lowering import driver, verification
from tests.support.dumps import after, traced


def pipeline() -> hl.Func:
    """Two stages, the first in tiles of the second; it has lets, loads and lanes."""
    x, xo, xi = hl.Var("x"), hl.Var("xo"), hl.Var("xi")
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = hl.u8(x)
    g[x] = f[x] + f[x + 1]
    g.split(x, xo, xi, 16, hl.TailStrategy.GuardWithIf).vectorize(xi, 4)
    f.compute_at(g, xo)
    return g


class KeepsAnAccess(Rewriter):
    """Puts a point of a Func in place of one load: flattening that forgets one."""

    def rewrite_Store(self, s: ir.Store) -> Stmt:
        """The store of an access."""
        func = Function("g", ("x",), (s.value.type,))
        return ir.Store(s.buffer, s.index, ir.Access(s.value.type, func, (ir.ZERO,), 0, ir.LAST_STAGE))


class DropsLets(Rewriter):
    """Leaves a let out: hoisting that loses what it moves."""

    def rewrite_Block(self, s: Block) -> Stmt:
        """The block without its lets."""
        return ir.block([self.stmt(each) for each in s.stmts if not isinstance(each, Let)])


class WidensCasts(Rewriter):
    """Drops casts of indices to values: narrowing that goes too far."""

    def rewrite_Cast(self, e: Cast) -> ExprNode:
        """The operand, whatever its type is."""
        a = self.expr(e.a)
        return a if a.type is INT64 else Cast(e.type, a)


@pytest.mark.parametrize(
    ("name", "function", "mutant", "rule", "node"),
    [
        ("flatten", "flatten_storage", KeepsAnAccess, "node Access may stand in a tree of forms HOLES to", "g[0]"),
        ("hoist", "hoist_invariants", DropsLets, "a variable is used where a let or a loop binds it", "x"),
        ("narrow", "narrow_arithmetic", WidensCasts, "memory is written where it is allocated or an output", "f["),
    ],
)
def test_mutant_is_caught_at_its_pass(
    name: str,
    function: str,
    mutant: Callable[[], Rewriter],
    rule: str,
    node: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = getattr(driver, function)
    monkeypatch.setattr(driver, function, lambda stmt, *rest: mutant().stmt(real(stmt, *rest)))
    with pytest.raises(InternalError) as raised:
        traced(pipeline())
    first, _, rest = raised.value.message.partition("\n")
    assert first.startswith(f'After "{name}", a rule of the IR is broken: {rule}')
    assert node in rest


def test_expression_of_a_wrong_type_is_caught_at_its_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mutant(Rewriter):
        def rewrite_Binary(self, e: ir.Binary) -> ExprNode:
            """The sum of bytes, said to be an index."""
            a, b = self.expr(e.a), self.expr(e.b)
            return ir.Binary(e.type if e.type is INT64 else INT64, e.op, a, b)

    real = driver.unroll_loops
    monkeypatch.setattr(driver, "unroll_loops", lambda stmt, *rest: Mutant().stmt(real(stmt, *rest)))
    with pytest.raises(InternalError, match=r'After "unroll".*: an operator\'s type is that of its operands'):
        traced(pipeline())


def test_forms_are_those_of_passes() -> None:
    names = [name for name, _ in traced(pipeline()).passes]
    assert [n for n in verification.FORMS if n not in names] == ["initial"]
    assert list(verification.FORMS.values()) == sorted(verification.FORMS.values())


@pytest.mark.parametrize(("name", "value", "demanded"), [
    ("HL_VERIFY", "1", True), ("HL_DEBUG", "vectorize", True), ("HL_DEBUG", "0", False), ("HL_VERIFY", "0", False),
])  # fmt: skip
def test_verifier_runs_on_request(name: str, value: str, demanded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HL_VERIFY")
    assert not verification_demanded()
    monkeypatch.setenv(name, value)
    assert verification_demanded() is demanded


def test_tests_verify() -> None:
    assert verification_demanded()


def test_nothing_is_verified_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HL_VERIFY")
    monkeypatch.setattr(verification, "verify", lambda *_: pytest.fail("the verifier ran"))
    assert after(pipeline(), "flatten")
