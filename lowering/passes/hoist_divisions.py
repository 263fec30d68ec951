"""Divisions that a loop does not change leave it: a boundary condition's in y is computed once a row, not once a pixel.

In: a flat tree whose lanes are vectors. Out: the same, with lets before serial loops. Remainders and quotients have
branches in C, where a divisor may be 0, and so have integers that are made of floats, and functions, so that a C
compiler leaves them where they are. It leaves minima, maxima and choices, too, as they cost it little; but an index
that has them is no sum of steps to it, and the loop can't become vectors. So they leave the innermost loops of which it
may make some.

    for x: f[x] = g[x + (y mod n)*s]     ->     let invariant = (y mod n)*s;  for x: f[x] = g[x + invariant]

Nor does it take the terms of a sum together that do not vary, where others look something up; so these are one number.

Only what each iteration computes for certain moves. Where the loop does not run it is computed for nothing: it reads no
memory, and quotients by 0 are 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.analysis.near import is_near
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Call,
    Cast,
    ExprNode,
    For,
    If,
    IntImm,
    Let,
    Load,
    LoopKind,
    Print,
    Promise,
    Select,
    Stmt,
    Variable,
)
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Rewriter, free_variables, parts, walk
from halide_core.lowering.passes.fresh import names_in
from halide_core.lowering.passes.loop_shapes import is_plain


def hoist_divisions(stmt: Stmt, memory: Iterable[str] = ()) -> Stmt:
    """Moves them outwards, inner loops first; ``memory``: the names of all memory that the statement allocates or is
    given."""
    return _Hoist(names_in(stmt, memory)).stmt(stmt)


class _Hoist(Rewriter):
    def __init__(self, names: UniqueNames) -> None:
        super().__init__()
        self._names = names
        self._kinds = _Kinds()

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions outside of loops stay as they are."""
        return expr

    def rewrite_For(self, loop: For) -> Stmt:
        """The loop, after lets of what it does not change."""
        body = self.stmt(loop.body)
        found: dict[ExprNode, Variable] = {}
        if loop.kind is LoopKind.SERIAL:
            bound = {loop.var, *(s.var for s in walk(body) if isinstance(s, Let | For))}
            body = _Lifted(bound, found, self._names, self._kinds, choices=is_plain(loop)).stmt(body)
        if body is not loop.body:
            loop = For(loop.loop, loop.var, loop.bounds, loop.kind, loop.pure, body)
        return ir.block([*(Let(var, e, None) for e, var in found.items()), loop]) if found else loop


class _Lifted(Rewriter):
    """Puts variables in place of what does not vary and holds a division, or a choice of indices, in what each
    iteration runs."""

    def __init__(
        self,
        bound: set[Variable],
        found: dict[ExprNode, Variable],
        names: UniqueNames,
        kinds: _Kinds,
        *,
        choices: bool,
    ) -> None:
        super().__init__()
        self._kinds = kinds
        self._wanted = _COSTLY | _CHOICE if choices else _COSTLY
        self._bound = bound
        self._found = found
        self._names = names

    def expr(self, expr: ExprNode) -> ExprNode:
        """The expression with variables for its largest such parts."""
        known = self._memo.get(expr)
        if known is None:
            known = self._memo[expr] = self._variable(expr) if self._moves(expr) else self._rewritten(expr)
        return known

    def _rewritten(self, e: ExprNode) -> ExprNode:
        made = self.parts_of(e)
        is_sum = isinstance(made, Binary) and made.op in (BinaryOp.ADD, BinaryOp.SUB) and made.type is INT64
        return self._grouped(linear_of(made)) or made if is_sum and self._wanted & _CHOICE else made

    def _grouped(self, form: Linear) -> ExprNode | None:
        """The sum of what varies and of a variable; None where that is no gain: steps a C compiler sees by itself."""
        varying, rest = Linear({}, form.const), Linear({}, 0)
        for atom, c in form.terms.items():
            fixed = free_variables(atom).isdisjoint(self._bound) and not self._kinds.of(atom) & _FIXED
            one = Linear({atom: c}, 0)
            varying, rest = (varying, rest.plus(one)) if fixed else (varying.plus(one), rest)
        if all(map(_is_step, varying.terms)) or not is_near(form):
            return None
        inside = self._with_constant_inside(varying)
        if len(rest.terms) < 2:
            return None if inside is varying else to_expr(inside.plus(rest))
        return to_expr(inside.plus(Linear({self._variable(to_expr(rest)): 1}, 0)))

    def _with_constant_inside(self, form: Linear) -> Linear:
        """``min(x + 1, n) - 1`` as ``min(x, n - 1)``, whose limit does not vary."""
        for atom, c in form.terms.items():
            if c != 1 or not isinstance(atom, Binary) or atom.op not in (BinaryOp.MIN, BinaryOp.MAX):
                continue
            a, b = (linear_of(e).plus(Linear({}, form.const)) for e in (atom.a, atom.b))
            moved = [e for e in (a, b) if not e.const and any(map(self._varies, e.terms))]
            if form.const and moved and is_near(a) and is_near(b):
                return form.replacing(atom, linear_of(Binary(INT64, atom.op, to_expr(a), to_expr(b)))).plus(
                    Linear({}, -form.const)
                )
        return form

    def _varies(self, e: ExprNode) -> bool:
        return not free_variables(e).isdisjoint(self._bound)

    def rewrite_If(self, s: If) -> Stmt:
        """Its condition alone: a branch may not run."""
        condition = self.expr(s.condition)
        return s if condition is s.condition else If(condition, s.then, s.otherwise)

    def rewrite_For(self, loop: For) -> Stmt:
        """Its bounds alone: what its iterations don't change stands before it by now."""
        over = self.interval(loop.bounds)
        return loop if over is loop.bounds else For(loop.loop, loop.var, over, loop.kind, loop.pure, loop.body)

    def _moves(self, e: ExprNode) -> bool:
        if not parts(e) or e.type.lanes() > 1 or not free_variables(e).isdisjoint(self._bound):
            return False
        kinds = self._kinds.of(e)
        return bool(kinds & self._wanted) and not kinds & _FIXED

    def _variable(self, e: ExprNode) -> Variable:
        known = self._found.get(e)
        if known is None:
            known = self._found[e] = Variable(e.type, self._names.fresh("invariant"))
        return known


def _is_step(atom: ExprNode) -> bool:
    """True of what moves by steps: a loop's variable, or so many rows."""
    return isinstance(atom, Variable) or (isinstance(atom, Binary) and atom.op is BinaryOp.MUL)


_COSTLY, _CHOICE, _FIXED = 1, 2, 4


class _Kinds:
    """Expressions, each looked at once: those that hold what takes long or has branches, a choice of indices, and what
    may not move, or be computed where it was not: memory, which a loop may write, and what is shown."""

    def __init__(self) -> None:
        self._known: dict[ExprNode, int] = {}

    def of(self, e: ExprNode) -> int:
        """The kinds in an expression, one bit for each."""
        found = self._known.get(e)
        if found is None:
            found = _own_kind(e)
            for part in parts(e):
                found |= self.of(part)
            self._known[e] = found
        return found


def _own_kind(e: ExprNode) -> int:
    if isinstance(e, Access | Load | Print | Promise):
        return _FIXED
    if isinstance(e, Call):
        return _COSTLY
    if isinstance(e, Cast):
        return _COSTLY if e.a.type.is_float() and e.type.is_integer() else 0
    if isinstance(e, Select):
        return _CHOICE if e.type is INT64 else 0
    if not isinstance(e, Binary):
        return 0
    if e.op in (BinaryOp.MIN, BinaryOp.MAX):
        return _CHOICE if e.type is INT64 else 0
    if e.op not in (BinaryOp.DIV, BinaryOp.MOD):
        return 0
    quick = isinstance(e.b, IntImm) and e.b.value > 0 and e.b.value & (e.b.value - 1) == 0
    return _COSTLY if e.type.is_integer() and not quick else 0
