"""Walking and rewriting trees: one dispatch, one memo, and "unchanged" means the same object.

In: a node. Out: its parts, or a node built from other parts.

    Substitution({x: i64(3)}).expr(x + y)   ->  3 + y
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, reduce
from operator import or_
from typing import Any, ClassVar, TypeVar

from halide_core.ir import (
    Access,
    Allocate,
    AllocateFlat,
    AnswerQuery,
    Assert,
    Binary,
    BinaryOp,
    Block,
    Broadcast,
    Call,
    Callee,
    Cast,
    Event,
    ExprNode,
    FirstLanes,
    For,
    Fork,
    If,
    Interval,
    Label,
    Let,
    Load,
    Not,
    PrefetchLine,
    PrefetchRegion,
    Print,
    Promise,
    Provide,
    Ramp,
    Remember,
    Select,
    Slice,
    Stmt,
    Store,
    Stores,
    Variable,
    WriteFile,
)
from halide_core.ir.expr_nodes import BITS, remembered

_E = TypeVar("_E", bound=ExprNode)

# How each composite expression gives its parts, and how it is built again from others. Leaves are absent.
_PARTS: dict[type[ExprNode], Callable[[Any], tuple[ExprNode, ...]]] = {
    Binary: lambda e: (e.a, e.b),
    Not: lambda e: (e.a,),
    Select: lambda e: (e.condition, e.a, e.b),
    Cast: lambda e: (e.a,),
    Call: lambda e: e.args,
    Promise: lambda e: (e.value, e.low, e.high),
    Print: lambda e: (e.a, e.condition, *(m for m in e.message if isinstance(m, ExprNode))),
    Event: lambda e: (e.a, e.condition, *(m for m in e.message if isinstance(m, ExprNode))),
    Access: lambda e: e.args,
    Load: lambda e: (e.index,),
    Ramp: lambda e: (e.base, e.stride),
    Broadcast: lambda e: (e.a,),
    Slice: lambda e: (e.a,),
}
_BUILD: dict[type[ExprNode], Callable[[Any, tuple[Any, ...]], ExprNode]] = {
    Binary: lambda e, p: Binary(e.type, e.op, *p),
    Not: lambda e, p: Not(e.type, *p),
    Select: lambda e, p: Select(e.type, *p),
    Cast: lambda e, p: Cast(e.type, *p),
    Call: lambda e, p: Call(e.type, e.function, p),
    Promise: lambda e, p: Promise(e.type, p[0], p[1], p[2], e.location),
    Print: lambda e, p: Print(e.type, p[0], p[1], _told(e.message, p[2:])),
    Event: lambda e, p: Event(
        e.type, p[0], p[1], _told(e.message, p[2:]), e.code, e.name, e.of_input, e.component, e.tag
    ),
    Access: lambda e, p: Access(e.type, e.callee, p, e.component, e.stage),
    Load: lambda e, p: Load(e.type, e.buffer, *p),
    Ramp: lambda e, p: Ramp(e.type, *p),
    Broadcast: lambda e, p: Broadcast(e.type, *p),
    Slice: lambda e, p: Slice(e.type, p[0], e.first),
}


def _told(message: tuple[str | ExprNode, ...], values: tuple[ExprNode, ...]) -> tuple[str | ExprNode, ...]:
    """A message with other values."""
    rest = iter(values)
    return tuple([next(rest) if isinstance(m, ExprNode) else m for m in message])


def parts(expr: ExprNode) -> tuple[ExprNode, ...]:
    """The direct operands of an expression, left to right."""
    get = _PARTS.get(type(expr))
    return get(expr) if get else ()


def with_parts(expr: ExprNode, new: tuple[ExprNode, ...]) -> ExprNode:
    """``expr`` with other operands; itself if they are the ones it has: equal nodes are one object."""
    return expr if parts(expr) == new else _BUILD[type(expr)](expr, new)


def _rebuilt(expr: ExprNode, rewrite: Callable[[ExprNode], ExprNode]) -> ExprNode:
    """An expression with its operands rewritten, of any kind."""
    return with_parts(expr, tuple([rewrite(part) for part in parts(expr)]))


def _rebuilt_binary(e: Binary, rewrite: Callable[[ExprNode], ExprNode]) -> ExprNode:
    a, b = rewrite(e.a), rewrite(e.b)
    return e if a is e.a and b is e.b else Binary(e.type, e.op, a, b)


def _rebuilt_cast(e: Cast, rewrite: Callable[[ExprNode], ExprNode]) -> ExprNode:
    a = rewrite(e.a)
    return e if a is e.a else Cast(e.type, a)


def _rebuilt_load(e: Load, rewrite: Callable[[ExprNode], ExprNode]) -> ExprNode:
    index = rewrite(e.index)
    return e if index is e.index else Load(e.type, e.buffer, index)


_REBUILT: dict[type[ExprNode], Callable[[Any, Callable[[ExprNode], ExprNode]], ExprNode]] = {
    **dict.fromkeys(_PARTS, _rebuilt),
    Binary: _rebuilt_binary,
    Cast: _rebuilt_cast,
    Load: _rebuilt_load,
}
"""Rewriters of composite expressions; the most frequent ones by themselves."""


Kind = type[ExprNode] | BinaryOp
"""A class of nodes, with those that extend it, or binary nodes of one operator."""

_KINDS = tuple([kind for kind in BITS if not isinstance(kind, BinaryOp)])
ALL = -1
"""The bits of all nodes."""


@cache
def mask_of(*kinds: Kind) -> int:
    """The bits of nodes of any of some kinds."""
    classes = tuple([kind for kind in kinds if not isinstance(kind, BinaryOp)])
    every = [kind for kind in BITS if kind in kinds or (not isinstance(kind, BinaryOp) and issubclass(kind, classes))]
    return reduce(or_, [BITS[kind] for kind in every], 0)


def has(e: ExprNode, *kinds: Kind) -> bool:
    """True where a node of one of the kinds is in an expression."""
    return e.contents & mask_of(*kinds) != 0


def any_has(roots: Iterable[ExprNode], *kinds: Kind) -> bool:
    """True where a node of one of the kinds is in one of some expressions."""
    mask = mask_of(*kinds)
    return any(e.contents & mask for e in roots)


def nodes_of(roots: Iterable[ExprNode], kind: type[_E]) -> Iterator[_E]:
    """Every distinct node of a kind below ``roots``, in the order of ``subexpressions``."""
    mask = mask_of(kind)
    stack = [e for e in roots if e.contents & mask]
    stack.reverse()
    seen: set[ExprNode] = set()
    done: list[ExprNode] = []  # those whose operands are on the stack above them, the innermost last
    while stack:
        e = stack.pop()
        if done and done[-1] is e:
            done.pop()
            if isinstance(e, kind):
                yield e
        elif e not in seen:
            seen.add(e)
            inner = [part for part in parts(e) if part.contents & mask]
            if inner:
                done.append(e)
                stack.append(e)
                inner.reverse()
                stack.extend(inner)
            elif isinstance(e, kind):
                yield e


def accesses_to(callee: Callee, roots: Iterable[ExprNode]) -> list[Access]:
    """Every distinct access to a Func or an image, inner ones first."""
    return [e for e in nodes_of(roots, Access) if e.callee is callee]


def factors(product: ExprNode) -> Iterator[ExprNode]:
    """The factors of a product, left to right; of anything else, itself."""
    match product:
        case Binary(op=BinaryOp.MUL, a=a, b=b):
            yield from factors(a)
            yield from factors(b)
        case _:
            yield product


def subexpressions(roots: Iterable[ExprNode]) -> Iterator[ExprNode]:
    """Every distinct node below ``roots``, operands before their users, in a deterministic order."""
    seen: set[ExprNode] = set()
    stack = list(roots)
    stack.reverse()
    done: list[ExprNode] = []  # those whose operands are on the stack above them, the innermost last
    while stack:
        expr = stack.pop()
        if done and done[-1] is expr:
            yield done.pop()
        elif expr not in seen:
            seen.add(expr)
            get = _PARTS.get(type(expr))
            operands = get(expr) if get else ()
            if operands:
                done.append(expr)
                stack.append(expr)
                stack.extend(operands[::-1])
            else:
                yield expr


def free_variables(expr: ExprNode) -> frozenset[Variable]:
    """The variables that occur in an expression. For membership tests only: a set has no order."""
    return frozenset((expr,)) if isinstance(expr, Variable) else _free(expr)


_NONE: frozenset[Variable] = frozenset()


@remembered("_free")
def _free(expr: ExprNode) -> frozenset[Variable]:
    found = _NONE
    for part in parts(expr):
        more = free_variables(part)
        if not found:
            found = more
        elif not more <= found:
            found |= more
    return found


def all_stores(stmts: tuple[Stmt, ...]) -> Stores:
    """The Stores whose parts were rewritten."""
    stores = tuple([s for s in stmts if isinstance(s, Store)])
    assert len(stores) == len(stmts), "a store was rewritten to something else"
    return Stores(stores)


def stmt_exprs(stmt: Stmt) -> tuple[ExprNode, ...]:
    """The expressions that stand directly in a statement, not those of the statements inside it."""
    match stmt:
        case Let(value=value):
            return (value,)
        case Allocate(bounds=bounds, folds=folds, computed=computed):
            return (*(e for i in (*bounds, *computed) for e in (i.min, i.len)), *(e for e in folds if e is not None))
        case Remember():
            return stmt.exprs()
        case For(bounds=bounds):
            return (bounds.min, bounds.len)
        case If(condition=condition):
            return (condition,)
        case FirstLanes(count=count):
            return (count,)
        case Provide(args=args, values=values):
            return args + values
        case Assert(condition=condition, message=message):
            return (condition, *(m for m in message if isinstance(m, ExprNode)))
        case AnswerQuery(regions=regions):
            return tuple(e for _, box in regions for i in box for e in (i.min, i.len))
        case AllocateFlat(size=size):
            return (size,)
        case Store(index=index, value=value):
            return (index, value)
        case WriteFile(box=box, strides=strides):
            return (*(e for i in box for e in (i.min, i.len)), *strides)
        case PrefetchRegion(offset=offset, box=None):
            return (offset,)
        case PrefetchRegion(box=box) if box is not None:
            return tuple(e for i in box for e in (i.min, i.len))
        case PrefetchLine(index=index):
            return (index,)
    return ()


def sub_stmts(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside a statement."""
    match stmt:
        case Block(stmts=stmts):
            return stmts
        case Label(body=body) | For(body=body) | Remember(body=body) | FirstLanes(body=body):
            return (body,)
        case If(then=then, otherwise=otherwise):
            return (then,) if otherwise is None else (then, otherwise)
        case Fork(producer=producer, consumer=consumer):
            return (producer, consumer)
        case Stores(stores=stores):
            return stores
    return ()


def walk(stmt: Stmt) -> Iterator[Stmt]:
    """Every statement at and below ``stmt``, in program order."""
    stack = [stmt]
    while stack:
        s = stack.pop()
        yield s
        stack.extend(reversed(sub_stmts(s)))


def alike(a: object, b: object) -> bool:
    """True where two trees are the same statements of the same expressions."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Stmt):
        return all(alike(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))  # type: ignore[arg-type]
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    return a == b


class Rewriter:
    """Rewrites bottom-up. A subclass defines ``rewrite_<Node>`` for the nodes that it changes.

    Such a method receives the node as it was and returns its replacement; ``self.parts_of(e)`` and
    ``self.inside(s)`` rewrite what is below. Expressions are memoised for the life of the object; those without a node
    that it has a method for stay as they are, unseen. One that changes others, or looks at what it has met, says so by
    ``_changes = ALL``.
    """

    _methods: ClassVar[dict[type, Callable[..., Any]]] = {}
    """The rewriter of each kind of node, as far as it was looked up."""
    _changes: int = 0
    """The bits of the nodes that it changes, as far as a subclass doesn't say it: those that it has methods for."""

    def __init_subclass__(cls) -> None:
        cls._methods = {}
        if "_changes" not in cls.__dict__ and cls._changes != ALL:
            cls._changes = mask_of(*(kind for kind in _KINDS if hasattr(cls, f"rewrite_{kind.__name__}")))

    def __init__(self) -> None:
        self._memo: dict[ExprNode, ExprNode] = {}

    @classmethod
    def _method_of(cls, kind: type) -> Callable[..., Any]:
        """The method of a kind of node."""
        otherwise = cls.parts_of if issubclass(kind, ExprNode) else cls.inside
        method = cls._methods[kind] = getattr(cls, f"rewrite_{kind.__name__}", otherwise)
        return method

    def expr(self, expr: ExprNode) -> ExprNode:
        """The rewritten expression."""
        if not expr.contents & self._changes:
            return expr
        known = self._memo.get(expr)
        if known is None:
            kind = type(expr)
            method = self._methods.get(kind) or self._method_of(kind)
            known = self._memo[expr] = method(self, expr)
        return known

    def parts_of(self, expr: ExprNode) -> ExprNode:
        """The expression with its operands rewritten."""
        rebuilt = _REBUILT.get(type(expr))
        return rebuilt(expr, self.expr) if rebuilt else expr

    def interval(self, interval: Interval) -> Interval:
        """The interval with both ends rewritten."""
        lo, length = self.expr(interval.min), self.expr(interval.len)
        return interval if lo is interval.min and length is interval.len else Interval(lo, length)

    def stmt(self, stmt: Stmt) -> Stmt:
        """The rewritten statement."""
        kind = type(stmt)
        result: Stmt = (self._methods.get(kind) or self._method_of(kind))(self, stmt)
        return result

    def inside(self, stmt: Stmt) -> Stmt:
        """The statement with everything in it rewritten."""
        match stmt:
            case Block(stmts=stmts):
                new = tuple([self.stmt(s) for s in stmts])
                return stmt if all(a is b for a, b in zip(stmts, new, strict=True)) else Block(new)
            case Label() | FirstLanes():
                return self._with_body(stmt)
            case For(bounds=bounds, body=body):
                over, changed = self.interval(bounds), self.stmt(body)
                if over is bounds and changed is body:
                    return stmt
                return For(stmt.loop, stmt.var, over, stmt.kind, stmt.pure, changed)
            case If(condition=condition, then=then, otherwise=otherwise):
                test, first = self.expr(condition), self.stmt(then)
                second = None if otherwise is None else self.stmt(otherwise)
                unchanged = test is condition and first is then and second is otherwise
                return stmt if unchanged else If(test, first, second)
            case Fork(producer=producer, consumer=consumer):
                ahead, behind = self.stmt(producer), self.stmt(consumer)
                same = ahead is producer and behind is consumer
                return stmt if same else Fork(ahead, behind, stmt.semaphores)
            case Let(value=value, within=within):
                bound, known = self.expr(value), None if within is None else self.interval(within)
                return stmt if bound is value and known is within else Let(stmt.var, bound, known)
            case Provide(args=args, values=values):
                at, give = tuple([self.expr(a) for a in args]), tuple([self.expr(v) for v in values])
                same = all(a is b for a, b in zip(args + values, at + give, strict=True))
                return stmt if same else replace(stmt, args=at, values=give)
            case Allocate() | Remember():
                return self._allocated(stmt)
            case Assert(condition=condition, message=message):
                test = self.expr(condition)
                text = tuple([self.expr(m) if isinstance(m, ExprNode) else m for m in message])
                same = test is condition and all(a is b for a, b in zip(message, text, strict=True))
                return stmt if same else Assert(test, stmt.failure, text)
            case AnswerQuery(regions=regions):
                return AnswerQuery(tuple((c, tuple(self.interval(i) for i in box)) for c, box in regions))
            case AllocateFlat(size=size):
                count = self.expr(size)
                return stmt if count is size else replace(stmt, size=count)
            case Store(index=index, value=value):
                where, what = self.expr(index), self.expr(value)
                return stmt if where is index and what is value else replace(stmt, index=where, value=what)
            case WriteFile(box=box, strides=strides):
                shape, steps = tuple([self.interval(i) for i in box]), tuple([self.expr(e) for e in strides])
                same = all(a is b for a, b in zip((*box, *strides), (*shape, *steps), strict=True))
                return stmt if same else replace(stmt, box=shape, strides=steps)
            case PrefetchRegion():
                return self._prefetch(stmt)
            case PrefetchLine(index=index):
                where = self.expr(index)
                return stmt if where is index else replace(stmt, index=where)
            case Stores(stores=stores):
                each = tuple([self.stmt(s) for s in stores])
                return stmt if all(a is b for a, b in zip(stores, each, strict=True)) else all_stores(each)
        return stmt

    def _with_body(self, stmt: Label | FirstLanes) -> Stmt:
        body = self.stmt(stmt.body)
        if isinstance(stmt, Label):
            return stmt if body is stmt.body else Label(stmt.func, stmt.stage, body)
        count = self.expr(stmt.count)
        return stmt if count is stmt.count and body is stmt.body else FirstLanes(count, body)

    def _allocated(self, stmt: Allocate | Remember) -> Stmt:
        if isinstance(stmt, Allocate):
            box = tuple([self.interval(i) for i in stmt.bounds])
            slots = tuple([None if k is None else self.expr(k) for k in stmt.folds])
            computed = tuple([self.interval(i) for i in stmt.computed])
            before, after = (*stmt.bounds, *stmt.folds, *stmt.computed), (*box, *slots, *computed)
            kept = all(a is b for a, b in zip(before, after, strict=True))
            return stmt if kept else Allocate(stmt.func, box, slots, stmt.layout, computed)
        key, body = tuple([self.expr(e) for e in stmt.key]), self.stmt(stmt.body)
        evicted, size = (None if e is None else self.expr(e) for e in (stmt.evicted, stmt.size))
        old, new = (*stmt.key, stmt.evicted, stmt.size, stmt.body), (*key, evicted, size, body)
        same = all(a is b for a, b in zip(old, new, strict=True))
        return stmt if same else Remember(stmt.func, key, evicted, size, body)

    def _prefetch(self, stmt: PrefetchRegion) -> Stmt:
        if stmt.box is None:
            distance = self.expr(stmt.offset)
            return stmt if distance is stmt.offset else replace(stmt, offset=distance)
        shape = tuple([self.interval(i) for i in stmt.box])
        return stmt if all(a is b for a, b in zip(stmt.box, shape, strict=True)) else replace(stmt, box=shape)


class Substitution(Rewriter):
    """Replaces leaves (variables, holes, parameters) by expressions."""

    _changes = ALL

    def __init__(self, replacements: Mapping[Any, ExprNode]) -> None:
        super().__init__()
        self._memo.update(replacements)
        changes = 0
        for e in replacements:
            changes |= e.contents
        self._changes = changes
        self._variables = frozenset(replacements) if changes == BITS[Variable] else None
        """The names that are replaced, where they are variables alone: each expression knows its own."""

    def expr(self, expr: ExprNode) -> ExprNode:
        """The expression with its leaves replaced: itself where it has none of them."""
        if not expr.contents & self._changes:
            return expr
        known = self._memo.get(expr)
        if known is None:
            if self._variables is not None and self._variables.isdisjoint(free_variables(expr)):
                return expr
            kind = type(expr)
            known = self._memo[expr] = (self._methods.get(kind) or self._method_of(kind))(self, expr)
        return known


class Closing(Rewriter):
    """Replaces names by their values, and the names in these by theirs, until none is left.

    ``ends``: leaves whose replacement is not looked into.
    """

    def __init__(self, values: Mapping[Any, ExprNode], ends: Mapping[Any, ExprNode] | None = None) -> None:
        super().__init__()
        self._values = values
        self._memo.update(ends or {})

    def expr(self, expr: ExprNode) -> ExprNode:
        """The expression without the names."""
        known = self._memo.get(expr)
        if known is None:
            value = self._values.get(expr)
            known = self._memo[expr] = self.parts_of(expr) if value is None else self.expr(value)
        return known


def substitute(expr: ExprNode, replacements: Mapping[Any, ExprNode]) -> ExprNode:
    """``expr`` with leaves replaced, all at once."""
    return Substitution(replacements).expr(expr) if replacements else expr
