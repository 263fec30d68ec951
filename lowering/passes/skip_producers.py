"""Producers that run only where somebody reads what they make.

In: a program with bounds, before it is flattened. Out: the same, where the computation of a Func all of whose values
are read under conditions that are known where its memory is made stands under these conditions.

    label f: …                                          if p:
    label o: for x in I: o[x] = select(p, f[x], 3)  ->      label f: …
                                                        label o: …

Memory is made as before: lanes read both cases of a select, and drop what nobody computed. So only what a select gives
counts as read under its condition, never an index in it, which must be right to be read with, nor what is printed,
which is shown whatever is chosen. Conditions that read what is computed are left out; and those that a loop changes
which stands around the computation, but not around the memory, or around that of another Func which is computed
inside: what a Func keeps for later iterations must be there in them. A Func that goes to a file is read by people,
always.

An element of an input may decide, too: it is the same all through a run. Whoever reads under such a condition reads the
element, so that nobody does where the input does not have it, as where a loop further in has no iteration:

    label f: …                                                   if in.min <= y && y < in.min + in.extent:
    label o: for x in I: o[x, y] = select(in[y], f[x], 3)   ->       if in[y]: label f: …
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Image
from halide_core.ir import (
    Access,
    Allocate,
    BinaryOp,
    Block,
    Callee,
    ExprNode,
    For,
    If,
    Label,
    Let,
    LoopKind,
    Not,
    Print,
    Promise,
    Provide,
    Select,
    Stmt,
    Variable,
    WriteFile,
    boxes,
)
from halide_core.ir.logic import all_of, conjuncts
from halide_core.ir.visitor import free_variables, has, nodes_of, parts, stmt_exprs, walk
from halide_core.lowering.passes.needed.statement_reads import StatementReads
from halide_core.schedule.directives import DebugToFile

Conjunction = frozenset[ExprNode]
Needs = dict[Callee, frozenset[Conjunction]]
"""Under which conditions each Func is read: one of several conjunctions, of which the empty one always holds."""

_ALWAYS: Conjunction = frozenset()
_MOST = 8
"""Conjunctions that a computation may stand under; where there are more it runs always."""


def skip_producers(stmt: Stmt, algorithm: Algorithm) -> Stmt:
    """See the module's docstring."""
    shown = [f for f in algorithm.functions if any(isinstance(d, DebugToFile) for d in f.directives)]
    skipping = _Skipping(frozenset([*algorithm.outputs, *shown]))
    return skipping.stmt(stmt, {}, _Place(frozenset(), 0, {}, ()))[0]


@dataclass(frozen=True, slots=True)
class _Life:
    """Where a Func's memory is made: which variables are known there, and below how many loops."""

    known: frozenset[Variable]
    depth: int


@dataclass(frozen=True, slots=True)
class _Place:
    """The surroundings of a statement. ``earlier``: what stands before it in the loops around it, with their depths."""

    known: frozenset[Variable]
    depth: int
    lives: dict[Callee, _Life]
    earlier: tuple[tuple[int, Stmt], ...]


def _joined(a: Needs, b: Needs) -> Needs:
    return {f: a.get(f, frozenset()) | b.get(f, frozenset()) for f in (*a, *(f for f in b if f not in a))}


def _under(needs: Needs, condition: ExprNode) -> Needs:
    """The needs of a statement that runs under a condition."""
    return {f: frozenset(c | {condition} for c in each) for f, each in needs.items()}


def _without(needs: Needs, var: Variable) -> Needs:
    """The needs outside of what binds a variable."""
    return {
        f: frozenset(frozenset(e for e in c if var not in free_variables(e)) for c in each) for f, each in needs.items()
    }


def _not(condition: ExprNode) -> ExprNode:
    return condition.a if isinstance(condition, Not) else Not(condition.type, condition)


def _or(a: ExprNode, b: ExprNode) -> ExprNode:
    return ir.binary(BinaryOp.OR, a, b)


def _resolved(alternatives: Iterable[Conjunction]) -> set[Conjunction]:
    """Conjunctions, and what follows from two of them that differ in a condition and its negation alone."""
    known = set(alternatives)
    waiting = list(known)
    while waiting and len(known) <= _MOST:
        each = waiting.pop()
        for condition in each:
            rest = each - {condition}
            if rest not in known and rest | {_not(condition)} in known:
                known.add(rest)
                waiting.append(rest)
    return known


def _least(alternatives: set[Conjunction]) -> list[Conjunction]:
    """Those that no other one follows from."""
    return [c for c in alternatives if not any(other < c for other in alternatives)]


def _is_plain(condition: ExprNode) -> bool:
    """True where a condition can be asked anywhere: it reads no memory, says nothing and promises nothing."""
    return not has(condition, Access, Print, Promise)


def _elements(condition: ExprNode) -> list[Access]:
    """The elements of memory that a condition reads."""
    return list(nodes_of([condition], Access))


def _is_known(condition: ExprNode) -> bool:
    """True where a condition can be asked before: it reads nothing but elements of inputs, at places that no memory
    decides."""
    if has(condition, Print, Promise):
        return False
    read = _elements(condition)
    return all(isinstance(e.callee, Image) and not any(map(_elements, e.args)) for e in read)


def _asked(condition: ExprNode, s: Stmt) -> Stmt:
    """A statement under a condition, which is asked where the inputs have the elements that it reads."""
    parts_of = conjuncts(condition)
    plain, reading = ([c for c in parts_of if _is_plain(c) is plain] for plain in (True, False))
    if reading:
        s = If(all_of(reading), s, None)
        there = dict.fromkeys(boxes.inside(e.args, boxes.window_of(e.callee)) for c in reading for e in _elements(c))
        s = If(all_of(there), s, None)
    return If(all_of(plain), s, None) if plain else s


def _computed_with(s: Label) -> set[Callee]:
    """The Funcs that are written in a Func's computation and live around it: the next one may go on with them."""
    inside = list(walk(s))
    own = {each.func for each in inside if isinstance(each, Allocate)} | {s.func}
    return {each.func for each in inside if isinstance(each, Provide)} - own


class _Skipping:
    """Goes through statements from the last one to the first, so that who reads is known before who writes."""

    def __init__(self, outputs: frozenset[Callee]) -> None:
        self._outputs = outputs
        self._reads = StatementReads()

    def stmt(self, s: Stmt, after: Needs, place: _Place) -> tuple[Stmt, Needs]:
        """The statement, and what it reads; ``after`` is what is read after it."""
        match s:
            case Block():
                return self._block(s, after, place)
            case For(var=var, bounds=bounds, kind=kind, pure=pure, body=body, loop=loop):
                known = place.known if kind is LoopKind.VECTORIZED else place.known | {var}
                inner, needs = self.stmt(body, after, _Place(known, place.depth + 1, place.lives, place.earlier))
                needs = _joined(_without(needs, var), self._values(stmt_exprs(s), place))
                return (s if inner is body else For(loop, var, bounds, kind, pure, inner)), needs
            case If():
                return self._if(s, after, place)
            case Label():
                return self._label(s, after, place)
            case Provide(args=args, values=values):
                return s, _joined(self._indices(args), self._values(values, place))
            case WriteFile(func=f):
                return s, {**self._indices(stmt_exprs(s)), f: frozenset((_ALWAYS,))}
        # Of threads that wait for each other each does its part in every run: what is in there is read always.
        return s, {f: frozenset((_ALWAYS,)) for f in self._reads.of(s)}

    def _block(self, s: Block, after: Needs, place: _Place) -> tuple[Stmt, Needs]:
        places: list[_Place] = []
        for each in s.stmts:
            places.append(place)
            known, lives = place.known, place.lives
            match each:
                case Let(var=var, value=value) if free_variables(value) <= known:
                    known = known | {var}
                case Allocate(func=f):
                    lives = {**lives, f: _Life(known, place.depth)}
            place = _Place(known, place.depth, lives, (*place.earlier, (place.depth, each)))
        own: Needs = {}
        stmts: list[Stmt] = []
        for each, where in zip(reversed(s.stmts), reversed(places), strict=True):
            made, needs = self.stmt(each, _joined(after, own), where)
            stmts.append(made)
            own = _joined(needs, _without(own, each.var) if isinstance(each, Let) else own)
        stmts.reverse()
        same = all(a is b for a, b in zip(stmts, s.stmts, strict=True))
        return (s if same else Block(tuple(stmts))), own

    def _if(self, s: If, after: Needs, place: _Place) -> tuple[Stmt, Needs]:
        needs = self._indices([s.condition])
        cases: list[Stmt] = []
        for case, condition in ((s.then, s.condition), (s.otherwise, _not(s.condition))):
            if case is not None:
                made, inside = self.stmt(case, after, place)
                cases.append(made)
                needs = _joined(needs, _under(inside, condition) if _is_plain(condition) else inside)
        same = cases[0] is s.then and (s.otherwise is None or cases[1] is s.otherwise)
        return (s if same else If(s.condition, cases[0], cases[1] if len(cases) > 1 else None)), needs

    def _label(self, s: Label, after: Needs, place: _Place) -> tuple[Stmt, Needs]:
        body, needs = self.stmt(s.body, after, place)
        made: Stmt = s if body is s.body else Label(s.func, s.stage, body)
        if s.stage is not None:
            return made, needs
        needs = {f: each for f, each in needs.items() if f is not s.func}
        condition = self._condition(s, after, place)
        if condition is None:
            return made, needs
        return _asked(condition, made), _under(needs, condition)

    def _condition(self, s: Label, after: Needs, place: _Place) -> ExprNode | None:
        """The condition of a Func's computation; None where it always runs."""
        needed, others = after.get(s.func), _computed_with(s)
        lives = {f: place.lives[f] for f in (s.func, *others) if f in place.lives}
        if needed is None or len(lives) <= len(others) or not others.isdisjoint(after):
            return None
        if not self._outputs.isdisjoint(lives):
            return None
        known = frozenset.intersection(*(life.known for life in lives.values()))
        kept = _resolved(frozenset(e for e in c if free_variables(e) <= known) for c in needed)
        if len(_least(kept)) > 1:  # where one who reads would ask for an element, another one may not
            kept = _resolved(frozenset(e for e in c if _is_plain(e)) for c in kept)
        if _ALWAYS in kept or len(kept) > _MOST:
            return None
        before = [(depth, self._reads.of(each)) for depth, each in place.earlier]
        if any(depth > life.depth and f in read for depth, read in before for f, life in lives.items()):
            return None  # a later iteration reads first what this one computes
        alternatives = sorted(_least(kept), key=lambda c: sorted(map(repr, c)))
        return reduce(_or, [reduce(ir.conjunction, sorted(c, key=repr)) for c in alternatives])

    def _indices(self, roots: Iterable[ExprNode]) -> Needs:
        """The needs of indices: right wherever the statement runs."""
        return {e.callee: frozenset((_ALWAYS,)) for e in nodes_of(roots, Access)}

    def _values(self, roots: Iterable[ExprNode], place: _Place) -> Needs:
        """The reads of values, under the conditions of the selects around them."""
        found: dict[Callee, set[Conjunction]] = {}
        waiting = [(e, _ALWAYS) for e in roots]
        seen = set(waiting)
        while waiting:
            e, under = waiting.pop()
            following: list[tuple[ExprNode, Conjunction]]
            match e:
                case Access(callee=callee, args=args):
                    found.setdefault(callee, set()).add(under)
                    following = []
                    for read in self._indices(args):
                        found.setdefault(read, set()).add(_ALWAYS)
                case Print():  # it shows what it is given, whatever a select around it gives
                    following = [(part, _ALWAYS) for part in parts(e)]
                case Select(condition=condition, a=a, b=b) if self._helps(condition, place):
                    no = _not(condition)
                    following = [(condition, under), (a, under | {condition}), (b, under | {no})]
                case _:
                    following = [(part, under) for part in parts(e)]
            for each in following:
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return {f: frozenset(each) for f, each in found.items()}

    def _helps(self, condition: ExprNode, place: _Place) -> bool:
        """True where a condition is known where some memory is made."""
        free = free_variables(condition)
        return any(free <= life.known for life in place.lives.values()) and _is_known(condition)
