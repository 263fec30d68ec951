"""Claims that an assignment says what its definition does, in the case that it is of.

In: an assignment of a tree, and where it stands. Out: claims that it has the coordinates and the values of the
definition, as phase 0 left it, that it runs where that says, and that the int32 arithmetic of those coordinates does
not wrap.

    f[x] = select(n >= 8, in[x]*n, 0)    where n == 8:  f[x] = in[x]*8    ->    n == 8  ⇒  (!(n >= 8) || n == 8) && …

An assignment is its definition, node for node. Only where stages are specialized may it be simplified by what a
condition says: there integers are compared by their values, and floats part by part. Arithmetic of floats that differs
must be made equal by the simplifier, which is told no more than the values of Params and fields that are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Definition, Function
from halide_core.algorithm.rename import Renamed
from halide_core.analysis.index import TargetExprs, stage_variables
from halide_core.analysis.simplify import simplify
from halide_core.bounds.verify.arithmetic import fits_int32, in_int64
from halide_core.bounds.verify.memory import Reads, accesses_in
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    BufferField,
    Call,
    Callee,
    Cast,
    Domain,
    ExprNode,
    IntImm,
    ParamRef,
    Provide,
    Select,
)
from halide_core.ir.logic import all_of, any_of, conjuncts, negation
from halide_core.ir.types import INT32
from halide_core.ir.visitor import Substitution, parts, subexpressions, with_parts
from halide_core.loop_nest import StageKey


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentPlace:
    """Where an assignment stands: the conditions of its definition around it, outermost first; the context just outside
    of these; and that of the instances that count."""

    key: StageKey
    provide: Provide
    tests: tuple[ExprNode, ...]
    outside: Context
    valid: Context


def definition_claims(place: AssignmentPlace, reads: Reads, *, simplified: bool) -> list[Claim]:
    """See the module's docstring. ``simplified``: whether some stage of the program is specialized.

    Only points at int32 coordinates are asked for: those of the window are, and by these claims those that are read.
    """
    f, stage = place.key.func, place.key.stage
    variables = stage_variables(*place.key)
    exprs = TargetExprs(variables)
    found = [*place.provide.args, *place.provide.values]
    meant = _Meant(f, stage, _callees((*place.tests, *found)))
    context = place.valid
    for name, pure in zip(f.args, f.pure_dims(stage), strict=True):
        if pure:
            context = context.holds(fits_int32(variables[ir.pure_variable(name)]))
    exact = dict.fromkeys(reads.expr(exprs.index(e)) for e in in_int64(meant.coordinates(), exprs))
    wanted = [*map(exprs.index, meant.args), *map(exprs.value, meant.values)]
    conditions = [*map(exprs.condition, meant.conditions)]
    location = f.definitions[stage].location
    text: Text = (f"stage {stage} assigns what its definition says",)
    where: Text = (f"stage {stage} assigns where its definition says",)
    if simplified:
        what = _compared(wanted, found, context, reads)
        when = _compared([all_of(conditions)], [all_of(place.tests)], place.outside, reads)
    else:
        what, when = (context, _identical(wanted, found)), (context, _identical(conditions, place.tests))
    told: Text = (f"the int32 coordinates of stage {stage} do not wrap",)
    return [
        Claim(ClaimKind.DEFINITION, f.name, text, *what, location),
        Claim(ClaimKind.DEFINITION, f.name, where, *when, location),
        Claim(ClaimKind.INT32, f.name, told, context, all_of(map(fits_int32, exact)), location),
    ]


def _identical(wanted: Sequence[ExprNode], found: Sequence[ExprNode]) -> ExprNode:
    same = len(wanted) == len(found) and all(a is b for a, b in zip(wanted, found, strict=True))
    return ir.TRUE if same else ir.FALSE


def _compared(
    wanted: Sequence[ExprNode], found: Sequence[ExprNode], context: Context, reads: Reads
) -> tuple[Context, ExprNode]:
    """The condition under which expressions have the same values, and a context with the facts that it rests on."""
    if _identical(wanted, found) is ir.TRUE:
        return context, ir.TRUE
    known, same = Substitution(_known_equal(context)), _Same(reads)
    wanted = [known.expr(e) for e in wanted]
    facts = _congruences(wanted, found, same)
    return context.holds(*facts), all_of(same.of(a, b) for a, b in zip(wanted, found, strict=True))


def _known_equal(context: Context) -> dict[ExprNode, ExprNode]:
    """The arguments that a context says the value of."""
    found: dict[ExprNode, ExprNode] = {}
    for node in context.below(None):
        if node.variable is None and node.check is None:
            for fact in conjuncts(node.fact):
                match fact:
                    case Binary(op=BinaryOp.EQ, a=ParamRef() as p, b=IntImm() as value):
                        found[p] = value
                    case Binary(op=BinaryOp.EQ, a=Cast(a=BufferField() as p, type=t), b=IntImm(value=k)) if t is INT32:
                        found[p] = ir.i64(k)
                    case ParamRef():
                        found[fact] = ir.TRUE
                    case ir.Not(a=ParamRef() as p):
                        found[p] = ir.FALSE
    return found


def _callees(exprs: Iterable[ExprNode]) -> list[Callee]:
    """The callees that some expressions read, each once."""
    return list(dict.fromkeys(e.callee for e in accesses_in(exprs)))


class _Meant:
    """The definition of a stage, as phase 0 left it, in the words of one of its nests: it reads what the nest reads."""

    def __init__(self, f: Function, stage: int, read: Sequence[Callee]) -> None:
        original = f.own
        assert isinstance(original, Function)
        meant: Definition = original.definitions[stage]
        own = f.definitions[stage]
        copies = {callee.own: callee for callee in (*read, f)}
        to = {c: copies[c.own] for c in _callees(meant.exprs()) if c not in read and c.own in copies}
        domains: dict[Domain, Domain] = {}
        if meant.domain is not None and own.domain is not None:
            domains[meant.domain] = own.domain
        renamed = Renamed(to, domains)
        self.args = [renamed.expr(e) for e in meant.args]
        self.values = [renamed.expr(e) for e in meant.values]
        self.conditions = [renamed.expr(e) for e in meant.conditions()]
        self._domain = () if meant.domain is None else meant.domain.bounds

    def coordinates(self) -> list[ExprNode]:
        """Every coordinate that the definition mentions, and what its domain is made of."""
        found = dict.fromkeys(self.args)
        for e in accesses_in((*self.args, *self.values, *self.conditions)):
            found.update(dict.fromkeys(e.args))
        found.update(dict.fromkeys(end for b in self._domain for end in (b.min, b.len)))
        return list(found)


_BITS = frozenset({BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.SHL, BinaryOp.SHR})


def _opaque(exprs: Iterable[ExprNode]) -> list[ExprNode]:
    """The parts of expressions that a solver takes for unknowns, as far as they are integers: what is read, what is
    made of floats, functions, and bit by bit arithmetic."""
    found: list[ExprNode] = []
    for e in subexpressions(exprs):
        if e.type.is_integer() and not isinstance(e, Select):
            bits = isinstance(e, Binary) and e.op in _BITS
            if bits or isinstance(e, Access | Call) or any(p.type.is_float() for p in parts(e)):
                found.append(e)
    return found


def _congruences(one: Sequence[ExprNode], other: Sequence[ExprNode], same: _Same) -> list[ExprNode]:
    """Equal operands give equal values, and memory holds one value at one point: what a solver takes for unknowns is
    equal where all operands are.

    Each part is told of those that simplify to what it does, or of all of its kind: any such fact is true.
    """
    theirs = _opaque(other)
    facts: list[ExprNode] = []
    for a in _opaque(one):
        alike = [b for b in theirs if _one_kind(a, b)]
        if a in alike:
            continue
        simple = simplify(a)
        for b in [b for b in alike if simplify(b) is simple] or alike:
            operands = all_of(map(same.as_values, parts(a), parts(b)))
            facts.append(any_of((negation(operands), same.as_values(a, b))))
    return facts


def _one_kind(a: ExprNode, b: ExprNode) -> bool:
    """True where two expressions differ in their operands only."""
    inner = parts(b)
    return type(a) is type(b) and len(parts(a)) == len(inner) and with_parts(a, inner) is b


class _Same:
    """Conditions under which two expressions have one value: integers are equal, or all that they are made of is,
    which says more and is proven sooner."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._known: dict[tuple[ExprNode, ExprNode], ExprNode] = {}
        self._built: dict[tuple[ExprNode, ExprNode], ExprNode] = {}

    def of(self, a: ExprNode, b: ExprNode) -> ExprNode:
        """The condition for a pair; TRUE of one expression and itself."""
        if a is b:
            return ir.TRUE
        if a.type is not b.type:
            return ir.FALSE
        known = self._known.get((a, b))
        if known is None:
            known = self._known[a, b] = self._compare(a, b)
        return known

    def as_values(self, a: ExprNode, b: ExprNode) -> ExprNode:
        """The condition, of integers that they are equal."""
        return self._reads.expr(ir.equal(a, b)) if a.type is b.type and a.type.is_integer() else self.of(a, b)

    def _compare(self, a: ExprNode, b: ExprNode) -> ExprNode:
        if a.type.is_integer():
            return any_of((self._made_alike(a, b), self.as_values(a, b)))
        if simplify(a) is simplify(b):
            return ir.TRUE
        if isinstance(a, Select) and isinstance(b, Select):
            return self._chosen(a, b)
        if _one_kind(a, b):
            return all_of(map(self.of, parts(a), parts(b)))
        if isinstance(a, Select):
            return self._either(a.condition, self.of(a.a, b), self.of(a.b, b))
        if isinstance(b, Select):
            return self._either(b.condition, self.of(a, b.a), self.of(a, b.b))
        return ir.FALSE

    def _made_alike(self, a: ExprNode, b: ExprNode) -> ExprNode:
        """Where two integers are built alike, that the parts which differ are equal; else FALSE."""
        if (a, b) not in self._built:
            self._built[a, b] = self._of_parts(a, b)
        return self._built[a, b]

    def _of_parts(self, a: ExprNode, b: ExprNode) -> ExprNode:
        if not _one_kind(a, b) or not parts(a):
            return ir.FALSE
        conditions: list[ExprNode] = []
        for p, q in zip(parts(a), parts(b), strict=True):
            deeper = self._made_alike(p, q) if p.type.is_integer() and p.type is q.type and p is not q else ir.FALSE
            conditions.append(self.of(p, q) if deeper is ir.FALSE else deeper)
        return all_of(conditions)

    def _chosen(self, a: Select, b: Select) -> ExprNode:
        """Where two choices choose alike; or, as one of several may have been left out, choose the same in the end."""
        chosen = self._either(a.condition, self.of(a.a, b.a), self.of(a.b, b.b))
        alike = all_of((self.of(a.condition, b.condition), chosen))
        if simplify(a.condition) is simplify(b.condition):
            return alike
        return any_of((alike, self._either(a.condition, self.of(a.a, b), self.of(a.b, b))))

    def _either(self, condition: ExprNode, holds: ExprNode, fails: ExprNode) -> ExprNode:
        """Of two conditions, the one that a choice asks for."""
        test = self._reads.expr(condition)
        return all_of((any_of((negation(test), holds)), any_of((test, fails))))
