"""Claims that an assignment says what its definition does, in the case that it is of.

In: an assignment of a tree, and the context in which it runs. Out: a claim that it has the coordinates and the values
of the user's definition, and one that the int32 arithmetic of those coordinates does not wrap.

    f[x] = select(n >= 8, in[x]*n, 0)    where n == 8:  f[x] = in[x]*8    ->    n == 8  ⇒  (!(n >= 8) || n == 8) && …

An assignment is its definition, node for node. Only where stages are specialized may it be simplified by what a
condition says: there integers are compared by their values, and floats part by part. Arithmetic of floats that differs
must be made equal by the simplifier, which is told no more than the values of Params and fields that are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bounds.claims import Claim, Context, Kind, Text, all_of, any_of, conjuncts, negation
from bounds.claims_arithmetic import fits_int32, in_int64
from bounds.claims_memory import Reads, accesses_in
from halide_core import ir
from halide_core.algorithm import Definition, Function, Renamed
from halide_core.index import TargetExprs, stage_variables
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    BufferField,
    Call,
    Callee,
    Cast,
    Domain,
    Expr,
    IntImm,
    ParamRef,
    Provide,
    Select,
)
from halide_core.program import StageKey
from halide_core.simplify import simplify
from halide_core.types import INT32
from halide_core.visit import Substitution, parts, subexpressions, with_parts


def definition_claims(
    key: StageKey, context: Context, provide: Provide, tests: Sequence[Expr], reads: Reads, *, simplified: bool
) -> list[Claim]:
    """See the module's docstring. ``tests``: the conditions under which the assignment stands; ``simplified``: whether
    some stage of the program is specialized.

    Only points at int32 coordinates are asked for: those of the window are, and by these claims those that are read.
    """
    f, stage = key.func, key.stage
    variables = stage_variables(*key)
    exprs = TargetExprs(variables)
    meant = _Meant(f, stage, _callees((*tests, *provide.args, *provide.values)))
    for name, pure in zip(f.args, f.pure_dims(stage), strict=True):
        if pure:
            context = context.holds(fits_int32(variables[ir.pure_variable(name)]))
    exact = dict.fromkeys(reads.expr(exprs.index(e)) for e in in_int64(meant.coordinates(), exprs))
    wanted = [*map(exprs.index, meant.args), *map(exprs.value, meant.values)]
    found = (*provide.args, *provide.values)
    holds = ir.TRUE if all(a is b for a, b in zip(wanted, found, strict=True)) else ir.FALSE
    about = context
    if simplified and holds is ir.FALSE:
        known = Substitution(_known_equal(context))
        wanted = [known.expr(e) for e in wanted]
        same = _Same(reads)
        about = context.holds(*_congruences(wanted, found, same))
        holds = all_of(same.of(a, b) for a, b in zip(wanted, found, strict=True))
    told: Text = (f"stage {stage} assigns what its definition says",)
    text: Text = (f"the int32 coordinates of stage {stage} do not wrap",)
    location = f.definitions[stage].location
    return [
        Claim(Kind.DEFINITION, f.name, told, about, holds, location),
        Claim(Kind.INT32, f.name, text, context, all_of(map(fits_int32, exact)), location),
    ]


def _known_equal(context: Context) -> dict[Expr, Expr]:
    """The arguments that a context says the value of."""
    found: dict[Expr, Expr] = {}
    for node in context.below(None):
        if node.variable is None and node.check is None:
            for fact in conjuncts(node.fact):
                match fact:
                    case Binary(op=BinaryOp.EQ, a=ParamRef() as p, b=IntImm() as value):
                        found[p] = value
                    case Binary(op=BinaryOp.EQ, a=Cast(a=BufferField() as p, type=type), b=IntImm(value=value)):
                        found[p] = ir.i64(value) if type is INT32 else p
                    case ParamRef():
                        found[fact] = ir.TRUE
                    case ir.Not(a=ParamRef() as p):
                        found[p] = ir.FALSE
    return found


def _callees(exprs: Iterable[Expr]) -> list[Callee]:
    """What some expressions read, each once."""
    return list(dict.fromkeys(e.callee for e in accesses_in(exprs)))


def _user(callee: Callee) -> Callee:
    """The Func that a copy is made of; any other callee itself."""
    return (callee.original or callee) if isinstance(callee, Function) else callee


class _Meant:
    """The user's definition of a stage, in the words of one of its nests: it reads the copies that the nest reads."""

    def __init__(self, f: Function, stage: int, read: Sequence[Callee]) -> None:
        original = _user(f)
        assert isinstance(original, Function)
        meant: Definition = original.definitions[stage]
        own = f.definitions[stage]
        copies = {_user(callee): callee for callee in (*read, f)}
        to = {c: copies[_user(c)] for c in _callees(meant.exprs()) if c not in read and _user(c) in copies}
        domains: dict[Domain, Domain] = {}
        if meant.domain is not None and own.domain is not None:
            domains[meant.domain] = own.domain
        renamed = Renamed(to, domains)
        self.args = [renamed.expr(e) for e in meant.args]
        self.values = [renamed.expr(e) for e in meant.values]
        self._all = [renamed.expr(e) for e in meant.exprs()]
        self._domain = () if meant.domain is None else meant.domain.bounds

    def coordinates(self) -> list[Expr]:
        """Every coordinate that the definition mentions, and what its domain is made of."""
        found = dict.fromkeys(self.args)
        for e in accesses_in(self._all):
            found.update(dict.fromkeys(e.args))
        found.update(dict.fromkeys(end for b in self._domain for end in (b.min, b.len)))
        return list(found)


_BITS = frozenset({BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.SHL, BinaryOp.SHR})


def _opaque(exprs: Iterable[Expr]) -> list[Expr]:
    """The parts of expressions that a solver takes for unknowns, as far as they are integers: what is read, what is
    made of floats, functions, and bit by bit arithmetic."""
    found: list[Expr] = []
    for e in subexpressions(exprs):
        if e.type.is_integer() and not isinstance(e, Select):
            bits = isinstance(e, Binary) and e.op in _BITS
            if bits or isinstance(e, Access | Call) or any(p.type.is_float() for p in parts(e)):
                found.append(e)
    return found


def _congruences(one: Sequence[Expr], other: Sequence[Expr], same: _Same) -> list[Expr]:
    """Equal operands give equal values, and memory holds one value at one point: what a solver takes for unknowns is
    equal where all operands are.

    Each part is told of those that simplify to what it does, or of all of its kind: any such fact is true.
    """
    theirs = _opaque(other)
    facts: list[Expr] = []
    for a in _opaque(one):
        alike = [b for b in theirs if _one_kind(a, b)]
        if a in alike:
            continue
        simple = simplify(a)
        for b in [b for b in alike if simplify(b) is simple] or alike:
            operands = all_of(map(same.of, parts(a), parts(b)))
            facts.append(any_of((negation(operands), same.of(a, b))))
    return facts


def _one_kind(a: Expr, b: Expr) -> bool:
    """Whether two expressions differ in their operands only."""
    inner = parts(b)
    return type(a) is type(b) and len(parts(a)) == len(inner) and with_parts(a, inner) is b


class _Same:
    """Conditions under which two expressions have one value."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._known: dict[tuple[Expr, Expr], Expr] = {}

    def of(self, a: Expr, b: Expr) -> Expr:
        """The condition for a pair; TRUE of one expression and itself."""
        if a is b:
            return ir.TRUE
        if a.type is not b.type:
            return ir.FALSE
        known = self._known.get((a, b))
        if known is None:
            known = self._known[a, b] = self._compare(a, b)
        return known

    def _compare(self, a: Expr, b: Expr) -> Expr:
        if a.type.is_integer():
            return self._reads.expr(ir.equal(a, b))
        if simplify(a) is simplify(b):
            return ir.TRUE
        if _one_kind(a, b):
            return self._chosen(a, b) if isinstance(a, Select) else all_of(map(self.of, parts(a), parts(b)))
        if isinstance(a, Select):
            return self._either(a.condition, self.of(a.a, b), self.of(a.b, b))
        if isinstance(b, Select):
            return self._either(b.condition, self.of(a, b.a), self.of(a, b.b))
        return ir.FALSE

    def _chosen(self, a: Expr, b: Expr) -> Expr:
        assert isinstance(a, Select) and isinstance(b, Select)
        chosen = self._either(a.condition, self.of(a.a, b.a), self.of(a.b, b.b))
        return all_of((self.of(a.condition, b.condition), chosen))

    def _either(self, condition: Expr, holds: Expr, fails: Expr) -> Expr:
        """Of two conditions, the one that a choice asks for."""
        test = self._reads.expr(condition)
        return all_of((any_of((negation(test), holds)), any_of((test, fails))))
