"""Forks: asynchronous producers run in threads of their own, beside what reads them.

In: a tree of points, and of each asynchronous Func how many iterations it may be ahead. Out: where its memory is
allocated, a Fork: its computation, in a copy of the loops around it, and all else.

    allocate g;  for y: { label g: …;  f[y] = g[y] }
    ->  allocate g;  fork filled = 0, free = 1:
            for y: { acquire free;  label g: …;  release filled }
        beside:
            for y: { acquire filled;  f[y] = g[y];  release free }

Why the values are the same. The two threads share what was there before the fork, and the Func's memory: whatever else
one of them writes the other one does not touch, or there is no fork. An iteration reads the Func after ``filled``, so
after it was computed; ``free`` keeps the producer from what an iteration still reads (``bounds.infer.ahead`` says how
far it may go; it is not there where the producer meets nothing of it ever).

Why they don't wait for ever. Each thread does a part of what the program did without a fork, in the same order. In that
order each acquire finds a count: of ``filled``, since the Func was computed just before; of ``free``, since all earlier
iterations are done. Each semaphore is acquired by one thread alone, so nothing that one could take is taken away: if
one order comes to the end, all do. A Func that several threads read has semaphores for each of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.bounds.query.answers import Lead
from halide_core.errors import IgnoredDirectiveWarning, warn_user
from halide_core.ir import (
    Access,
    Allocate,
    Assert,
    Block,
    Callee,
    ExprNode,
    For,
    If,
    Label,
    Let,
    LoopKind,
    Stmt,
    Variable,
)
from halide_core.ir.visitor import Rewriter, nodes_of, stmt_exprs, sub_stmts, subexpressions, walk
from halide_core.lowering.passes.fresh import names_in
from halide_core.lowering.passes.uniquify_names import bind_apart
from halide_core.schedule.directives import Async

Ahead = Mapping[Function, Lead]
"""The asynchronous Funcs."""


def fork_producers(stmt: Stmt, ahead: Ahead) -> Stmt:
    """Forks at the allocation of each asynchronous Func. Where that can't be done, the Func is computed by the thread
    that reads it, and a warning says why."""
    forks = _Forks(stmt, ahead)
    return forks.with_all_readers(forks.stmt(stmt, lanes=False))


class _SerialError(Exception):
    """Why there is no fork."""


@dataclass(eq=False)
class _Reader:
    """The semaphores between a producer and one thread that reads it."""

    filled: str
    free: str


@dataclass(eq=False)
class _Producer:
    """A Func that is computed in a thread of its own. Until all readers are known, the first one's semaphores
    stand for all."""

    func: Function
    ahead: int | None
    readers: list[_Reader] = field(default_factory=list)


class _Forks:
    def __init__(self, whole: Stmt, ahead: Ahead) -> None:
        self._ahead = ahead
        self._names = names_in(whole)
        self._whole = whole
        self._producers: dict[Function, list[_Producer]] = {}
        self._semaphores: dict[str, _Producer] = {}

    # -- the tree

    def stmt(self, s: Stmt, *, lanes: bool) -> Stmt:
        """A statement with its forks. ``lanes``: a vectorized loop is around."""
        match s:
            case Block(stmts=stmts):
                return self._block(stmts, lanes)
            case For(body=body):
                return replace(s, body=self.stmt(body, lanes=lanes or s.kind is LoopKind.VECTORIZED))
            case Label(body=body):
                return replace(s, body=self.stmt(body, lanes=lanes))
            case If(then=then, otherwise=otherwise):
                other = None if otherwise is None else self.stmt(otherwise, lanes=lanes)
                return replace(s, then=self.stmt(then, lanes=lanes), otherwise=other)
        return s

    def _block(self, stmts: tuple[Stmt, ...], lanes: bool) -> Stmt:
        result: list[Stmt] = []
        for at, s in enumerate(stmts):
            if isinstance(s, Allocate) and s.func in self._ahead:
                assert isinstance(s.func, Function)
                before, rest, after = _events_around(stmts[at + 1 :])
                try:
                    forked = self._fork(s.func, Block(rest), lanes)
                except _SerialError as reason:
                    self._tell(s.func, str(reason))
                else:
                    return Block((*result, s, *before, forked, *after))
            result.append(self.stmt(s, lanes=lanes))
        return Block(tuple(result))

    @staticmethod
    def _tell(f: Function, reason: str) -> None:
        asked = next(d for d in f.own.directives if isinstance(d, Async))
        told = f'"{f.own.name}" is computed by the thread that reads it: {reason}.'
        warn_user(f"{asked.own.spelled()}: {told}", IgnoredDirectiveWarning, asked.location)

    # -- one fork

    def _fork(self, f: Function, rest: Stmt, lanes: bool) -> Stmt:
        if lanes:
            raise _SerialError("its memory lives in a vectorized loop")
        ahead = self._ahead[f].count
        producer = _Producer(f, ahead)
        reader = self._reader(producer)
        moved = _moved(f, rest)
        ahead_of = _Ahead(f, moved, reader, bounded=ahead is not None).of(rest)
        behind = _Behind(f, moved, reader, bounded=ahead is not None).of(rest)
        if ahead_of is None:
            raise _SerialError("nothing computes it here")
        _check_apart(f, ahead_of, behind)
        ahead_of, behind = self._waits(ahead_of), self._waits(behind)
        ahead_of = self._waits_apart(ahead_of, behind)
        both = bind_apart(Block((behind, ahead_of)), self._names)
        assert isinstance(both, Block)
        behind, ahead_of = both.stmts
        self._producers.setdefault(f, []).append(producer)
        self._semaphores[reader.filled] = self._semaphores[reader.free] = producer
        if ahead is not None and _in_branches(f, rest):
            ahead = 0  # iterations that don't compute it are not counted
        first = ((reader.filled, 0),) if ahead is None else ((reader.filled, 0), (reader.free, 1 + ahead))
        return ir.Fork(self.stmt(ahead_of, lanes=False), self.stmt(behind, lanes=False), first)

    def _reader(self, producer: _Producer) -> _Reader:
        name = producer.func.name
        reader = _Reader(self._names.fresh(f"{name}.filled"), self._names.fresh(f"{name}.free"))
        producer.readers.append(reader)
        return reader

    def _waits(self, s: Stmt) -> Stmt:
        """A thread without the waits for producers, further out, that it does not read."""
        read = _touched(s)
        idle = {name for name, producer in self._semaphores.items() if producer.func not in read}
        return _Without(idle).stmt(s) if idle else s

    def _waits_apart(self, s: Stmt, other: Stmt) -> Stmt:
        """A thread with semaphores of its own where another one waits for the same producer."""
        names = {each.semaphore for each in walk(other) if isinstance(each, ir.Acquire | ir.Release)}
        names &= self._semaphores.keys()
        again: dict[str, str] = {}
        for each in walk(s):
            if isinstance(each, ir.Acquire | ir.Release) and each.semaphore in names and each.semaphore not in again:
                producer = self._semaphores[each.semaphore]
                own = next(r for r in producer.readers if each.semaphore in (r.filled, r.free))
                reader = self._reader(producer)
                again.update({own.filled: reader.filled, own.free: reader.free})
                self._semaphores[reader.filled] = self._semaphores[reader.free] = producer
        return _Called(again).stmt(s) if again else s

    def with_all_readers(self, s: Stmt) -> Stmt:
        """The tree, in which a producer minds all that read it."""
        several = [p for producers in self._producers.values() for p in producers if len(p.readers) > 1]
        return _AllReaders({p.readers[0].filled: p for p in several}).stmt(s) if several else s


# ---------------------------------------------------------------------------------------------------------
# What goes where.


def _touched(s: Stmt) -> set[Callee]:
    """The memory that a statement reads or writes."""
    return _read(s) | _written(s)


def _read(s: Stmt) -> set[Callee]:
    found = {e.callee for each in walk(s) for e in nodes_of(stmt_exprs(each), Access)}
    return found | {each.func for each in walk(s) if isinstance(each, ir.WriteFile | ir.PrefetchRegion)}


def _written(s: Stmt) -> set[Callee]:
    return {each.func for each in walk(s) if isinstance(each, ir.Provide)}


def _labels(s: Stmt) -> Iterator[Label]:
    return (each for each in walk(s) if isinstance(each, Label) and each.stage is None)


def _moved(f: Function, rest: Stmt) -> set[Callee]:
    """The Funcs that the thread of ``f`` computes: with it those that it reads and that are computed between its
    memory's allocation and itself."""
    moved: set[Callee] = {f}
    here = {label.func: label for label in _labels(rest)}
    while True:
        part = _Ahead(f, moved, None, bounded=False).of(rest)
        more = set() if part is None else (_read(part) & here.keys()) - moved - _allocated_in_labels(part)
        if not more:
            return moved
        moved |= more


def _allocated_in_labels(s: Stmt) -> set[Callee]:
    """The Funcs that are stored and computed inside others: they are where these are."""
    return {e.func for label in _labels(s) for e in walk(label.body) if isinstance(e, Allocate)}


def _check_apart(f: Function, ahead: Stmt, behind: Stmt) -> None:
    """The threads touch nothing in common that one of them writes, but the Func."""
    common = (_written(ahead) & _touched(behind)) | (_written(behind) & _read(ahead))
    common |= {e.func for e in walk(ahead) if isinstance(e, Allocate)} & _touched(behind)
    shared = sorted(g.name for g in common if g is not f)
    if shared:
        told = ", ".join(f'"{name}"' for name in shared)
        raise _SerialError(f"{told} would be computed in one thread and read in another")
    if f in _written(behind):
        raise _SerialError("stages of it stand in the loops of others")


class _Ahead:
    """The producer's part of a statement."""

    def __init__(self, f: Function, moved: set[Callee], reader: _Reader | None, *, bounded: bool) -> None:
        self._f = f
        self._moved = moved
        self._reader = reader
        self._bounded = bounded

    def of(self, s: Stmt) -> Stmt | None:
        """The part, or None where nothing of the statement is of the producer."""
        match s:
            case Label(func=func, stage=None) if func is self._f and self._reader is not None:
                before = (ir.Acquire(self._reader.free),) if self._bounded else ()
                return Block((*before, s, ir.Release(self._reader.filled)))
            case Label(func=func, stage=None) if func in self._moved:
                return s
            case Label(body=body):
                return self.of(body)
            case For(body=body):
                inside = self.of(body)
                return None if inside is None else replace(s, body=inside)
            case If(then=then, otherwise=otherwise):
                first, second = self.of(then), None if otherwise is None else self.of(otherwise)
                return None if first is None and second is None else If(s.condition, first or ir.NOTHING, second)
            case Block(stmts=stmts):
                parts = [(each, self.of(each)) for each in stmts]
                if all(part is None for _, part in parts):
                    return None
                kept = [part or (each if self._keeps(each) else _only_waits(each)) for each, part in parts]
                return _needed([each for each in kept if each is not None])
        return None

    def _keeps(self, s: Stmt) -> bool:
        return _may_be_needed(s) or _is_event_of(s, self._f, self._moved)


# Events of a trace are checks that always hold, and each is shown by one thread.
_FIRST = frozenset({ir.EventCode.BEGIN_REALIZATION})
_LAST = frozenset({ir.EventCode.END_REALIZATION, ir.EventCode.END_PIPELINE})
_PRODUCED = frozenset({ir.EventCode.PRODUCE, ir.EventCode.END_PRODUCE})
_STORED = frozenset({ir.EventCode.BEGIN_REALIZATION, ir.EventCode.END_REALIZATION})


def _event(s: Stmt) -> ir.Event | None:
    return s.condition if isinstance(s, Assert) and isinstance(s.condition, ir.Event) else None


def _events_around(stmts: tuple[Stmt, ...]) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...], tuple[Stmt, ...]]:
    """The events before a fork, what may fork, and the events after it: of what is there for both threads."""
    first, last = 0, len(stmts)
    while first < last and _has_code(stmts[first], _FIRST):
        first += 1
    while last > first and _has_code(stmts[last - 1], _LAST):
        last -= 1
    return stmts[:first], stmts[first:last], stmts[last:]


def _has_code(s: Stmt, codes: Set[ir.EventCode]) -> bool:
    event = _event(s)
    return event is not None and event.code in codes


def _is_event_of(s: Stmt, f: Function, moved: Set[Callee]) -> bool:
    """True for the events that the thread of a producer shows: of the Funcs that it computes."""
    event = _event(s)
    if event is None:
        return False
    others = {g.own.name for g in moved if isinstance(g, Function) and g is not f}
    if event.code in _PRODUCED:
        return event.name == f.own.name or event.name in others
    return event.code in _STORED and event.name in others


def _only_waits(s: Stmt) -> Stmt | None:
    """The waits of a statement for producers further out, under their conditions and in their loops."""
    match s:
        case ir.Acquire() | ir.Release():
            return s
        case Label(body=body):
            return _only_waits(body)
        case For(body=body):
            inside = _only_waits(body)
            return None if inside is None else replace(s, body=inside)
        case If(then=then, otherwise=otherwise):
            first, second = _only_waits(then), None if otherwise is None else _only_waits(otherwise)
            return None if first is None and second is None else If(s.condition, first or ir.NOTHING, second)
        case Block(stmts=stmts):
            if not any(isinstance(each, ir.Acquire | ir.Release) for each in walk(s)):
                return None
            kept = [each if _may_be_needed(each) else _only_waits(each) for each in stmts]
            return _needed([each for each in kept if each is not None])
    return None


def _may_be_needed(s: Stmt) -> bool:
    """True where a statement is there for others. A check is for all that come after it; an event is for nobody."""
    return isinstance(s, Let | Allocate | Assert | ir.Acquire | ir.Release) and _event(s) is None


class _Behind:
    """Leaves of a statement the part that waits for the producer."""

    def __init__(self, f: Function, moved: set[Callee], reader: _Reader, *, bounded: bool) -> None:
        self._f = f
        self._moved = moved
        self._reader = reader
        self._bounded = bounded

    def of(self, s: Stmt) -> Stmt:
        """The rest of the statement."""
        match s:
            case Label(func=func, stage=None) if func is self._f:
                return ir.Acquire(self._reader.filled)
            case Label(func=func, stage=None) if func in self._moved:
                return ir.NOTHING
            case Label(body=body):
                return replace(s, body=self.of(body))
            case For(body=body):
                return replace(s, body=self._iteration(body))
            case If(then=then, otherwise=otherwise):
                return If(s.condition, self._iteration(then), None if otherwise is None else self._iteration(otherwise))
            case Block(stmts=stmts):
                own = [each for each in stmts if not _is_event_of(each, self._f, self._moved)]
                return _needed([self.of(each) for each in own])
        return s

    def _iteration(self, body: Stmt) -> Stmt:
        """The body of a loop, or of a branch in it, which ends with telling the producer that its iteration is done."""
        left = self.of(body)
        if not self._bounded or not _is_computed(self._f, body):
            return left
        branch = _branch(self._f, body)
        if branch is None:
            return Block((left, ir.Release(self._reader.free)))
        if self._f in _read(_But(branch).stmt(body)):
            raise _SerialError("it is read where it may not be computed")
        return left  # the branch tells


def _is_computed(f: Function, s: Stmt) -> bool:
    """True where a Func is computed in a statement, outside of the loops in it."""
    if isinstance(s, Label) and s.func is f and s.stage is None:
        return True
    return not isinstance(s, For) and any(_is_computed(f, each) for each in sub_stmts(s))


def _branch(f: Function, s: Stmt) -> If | None:
    """The outermost choice that a Func is computed in, outside of loops; None where it is computed in any case."""
    if isinstance(s, If):
        return s
    if isinstance(s, Label) and s.func is f:
        return None
    inside = [each for each in sub_stmts(s) if _is_computed(f, each)]
    if len(inside) != 1:
        raise _SerialError("it is computed at several places of an iteration")
    return _branch(f, inside[0])


def _in_branches(f: Function, s: Stmt, *, looped: bool = False) -> bool:
    """True where a choice in some loop decides if a Func is computed, in that iteration or in loops further in."""
    if looped and isinstance(s, If):
        return any(label.func is f for label in _labels(s))
    looped = looped or isinstance(s, For)
    return any(_in_branches(f, each, looped=looped) for each in sub_stmts(s))


class _But(Rewriter):
    """A statement without one that stands in it, but its condition."""

    def __init__(self, left_out: If) -> None:
        super().__init__()
        self._left_out = left_out

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay."""
        return expr

    def rewrite_If(self, s: If) -> Stmt:
        """The choice, or its condition alone."""
        return If(s.condition, ir.NOTHING, None) if s is self._left_out else self.inside(s)


def _needed(stmts: list[Stmt]) -> Block:
    """A block without the lets and the memory that nothing after them uses."""
    kept: list[Stmt] = []
    for at in reversed(range(len(stmts))):
        s = stmts[at]
        after = Block(tuple(reversed(kept)))
        if isinstance(s, Let) and s.var not in _variables(after):
            continue
        if isinstance(s, Allocate) and s.func not in _touched(after):
            continue
        if s is not ir.NOTHING:
            kept.append(s)
    return Block(tuple(reversed(kept)))


def _variables(s: Stmt) -> set[ExprNode]:
    exprs: list[ExprNode] = []
    for each in walk(s):
        exprs += stmt_exprs(each)
        if isinstance(each, Let) and each.within is not None:
            exprs += [each.within.min, each.within.len]
        if isinstance(each, ir.PrefetchRegion):
            exprs.append(each.var)
    return {e for e in subexpressions(exprs) if isinstance(e, Variable)}


# ---------------------------------------------------------------------------------------------------------
# Semaphores.


class _Semaphores(Rewriter):
    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay."""
        return expr


class _Without(_Semaphores):
    """A statement without the operations of some semaphores."""

    def __init__(self, names: Set[str]) -> None:
        super().__init__()
        self._names = names

    def rewrite_Acquire(self, s: ir.Acquire) -> Stmt:
        """Nothing, of those."""
        return ir.NOTHING if s.semaphore in self._names else s

    def rewrite_Release(self, s: ir.Release) -> Stmt:
        """Nothing, of those."""
        return ir.NOTHING if s.semaphore in self._names else s


class _Called(_Semaphores):
    """Semaphores by other names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names

    def rewrite_Acquire(self, s: ir.Acquire) -> Stmt:
        """The wait for the other one."""
        return ir.Acquire(self._names.get(s.semaphore, s.semaphore))

    def rewrite_Release(self, s: ir.Release) -> Stmt:
        """The release of the semaphore that the other one waits for."""
        return ir.Release(self._names.get(s.semaphore, s.semaphore))


class _AllReaders(_Semaphores):
    """Producers with the semaphores of all that read them. ``first``: by the name of the first reader's ``filled``."""

    def __init__(self, first: Mapping[str, _Producer]) -> None:
        super().__init__()
        self._first = first
        self._inside: list[_Producer] = []
        """Those whose thread this is a part of."""

    def rewrite_Fork(self, s: ir.Fork) -> Stmt:
        """The fork, whose producer minds them all."""
        producer = self._first.get(s.semaphores[0][0])
        if producer is None:
            return self.inside(s)
        self._inside.append(producer)
        ahead = self.stmt(s.producer)
        self._inside.pop()
        counts = [n for _, n in s.semaphores]
        names = [pair for r in producer.readers for pair in zip((r.filled, r.free), counts, strict=False)]
        return ir.Fork(ahead, self.stmt(s.consumer), tuple(names))

    def rewrite_Acquire(self, s: ir.Acquire) -> Stmt:
        """The wait for all readers, of the producer that waits for one of them."""
        for p in self._inside:
            if s.semaphore == p.readers[0].free:
                return Block(tuple([ir.Acquire(r.free) for r in p.readers]))
        return s

    def rewrite_Release(self, s: ir.Release) -> Stmt:
        """A release for each reader."""
        for p in self._inside:
            if s.semaphore == p.readers[0].filled:
                return Block(tuple([ir.Release(r.filled) for r in p.readers]))
        return s
