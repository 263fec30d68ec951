"""The points of prefetches, and what keeps them inside the memory that there is.

In: a filled tree with prefetches that say how far ahead they look. Out: each with the box of points that it asks for,
as ranges along the paths to what the loop's body reads.

    for y: { prefetch g for y + 2, GuardWithIf; for x in (0, n): f[x, y] = g[x, y] + g[x, y + 1] }
    ->  for y: { if ?mem g.y.min <= y + 2 && …: prefetch g((0, n), (y + 2, 2)); … }

A box may be larger than what will be read; nothing but speed depends on that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.bounds.engines.elimination import ACCESS, mentions
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.query.query import Define, ForAll, Path, Where, extremes
from halide_core.ir import (
    Access,
    Allocate,
    Block,
    BufferField,
    Callee,
    ExprNode,
    Field,
    For,
    If,
    Interval,
    Label,
    Let,
    PrefetchRegion,
    Stmt,
)
from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Closing, Rewriter, stmt_exprs, subexpressions, substitute


def place_prefetches(stmt: Stmt) -> Stmt:
    """See the module's docstring."""
    return _Placing().stmt(stmt)


class _Placing(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._path = Path(None, None)
        self._scope: list[Let | For] = []
        self._boxes: dict[Callee, tuple[Interval, ...]] = {}
        self._extents = Extents()

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay."""
        return expr

    def rewrite_For(self, s: For) -> Stmt:
        """The loop, with what its body's prefetches ask for."""
        above = self._path
        self._path = above.then(ForAll(s.var, s.bounds))
        self._scope.append(s)
        result = self.inside(s)
        self._scope.pop()
        self._path = above
        return result

    def rewrite_Block(self, s: Block) -> Stmt:
        """The statements; a prefetch is of what follows it."""
        above, count = self._path, len(self._scope)
        result: list[Stmt] = []
        for i, each in enumerate(s.stmts):
            if isinstance(each, PrefetchRegion):
                result.append(self._placed(each, s.stmts[i + 1 :]))
                continue
            result.append(self.stmt(each))
            if isinstance(each, Let):
                self._path = self._path.then(Define(each.var, each.value, each.within))
                self._scope.append(each)
            elif isinstance(each, Allocate):
                self._boxes[each.func] = each.bounds
        del self._scope[count:]
        self._path = above
        return s if all(a is b for a, b in zip(result, s.stmts, strict=True)) else Block(tuple(result))

    def _placed(self, s: PrefetchRegion, rest: Sequence[Stmt]) -> Stmt:
        """The prefetch with its box, under the condition that the strategy asks for."""
        memory = self._memory(s.func)
        ahead = _LookAhead(s, self._scope)
        box: list[Interval] = []
        inside: ExprNode = ir.TRUE
        sites = list(_reads(Block(tuple(rest)), s.func, self._path))
        for d, has in enumerate(memory):
            end = ir.add(has.min, has.len)
            low, high = self._range(d, sites)
            first = has.min if low is None else ahead.of(low) or has.min
            last = ir.sub(end, ir.ONE) if high is None else ahead.of(high) or ir.sub(end, ir.ONE)
            if s.strategy is PrefetchBoundStrategy.Clamp:
                first, last = ir.maximum(first, has.min), ir.minimum(last, ir.sub(end, ir.ONE))
            elif s.strategy is PrefetchBoundStrategy.GuardWithIf:
                there = ir.conjunction(ir.less_equal(has.min, first), ir.less(last, end))
                inside = ir.conjunction(inside, there)
            length = simplify(ir.maximum(ir.add(ir.sub(last, first), ir.ONE), ir.ZERO))
            box.append(Interval(simplify(first), length))
        known = replace(s, box=tuple(box))
        return known if inside is ir.TRUE else If(simplify(inside), known, None)

    def _memory(self, callee: Callee) -> tuple[Interval, ...]:
        known = self._boxes.get(callee)
        if known is not None:
            return known
        fields = (Field.MIN, Field.EXTENT)
        shape = [[BufferField(INT64, callee, field, d) for field in fields] for d in range(callee.dimensions)]
        return tuple(Interval(*each) for each in shape)

    def _range(self, dim: int, sites: Sequence[tuple[Path, list[Access]]]) -> tuple[ExprNode | None, ExprNode | None]:
        """The least and greatest coordinate that is read, None where nothing bounds it."""
        low: ExprNode | None = None
        high: ExprNode | None = None
        for path, accesses in sites:
            for e in extremes([a.args[dim] for a in accesses]):
                ends = self._extents.ends(e, path, self._path)
                if ends.low is None or ends.high is None:
                    return None, None
                low = ends.low if low is None else ir.minimum(low, ends.low)
                high = ends.high if high is None else ir.maximum(high, ends.high)
        return low, high


class _LookAhead:
    """The value of an expression when a loop's variable is further on: lets inside that loop change with it."""

    def __init__(self, s: PrefetchRegion, scope: Sequence[Let | For]) -> None:
        start = next(i for i, each in enumerate(scope) if each.var is s.var)
        self._lets = Closing({each.var: each.value for each in scope[start:] if isinstance(each, Let)})
        self._then: dict[ExprNode, ExprNode] = {s.var: ir.add(s.var, s.offset)}

    def of(self, e: ExprNode) -> ExprNode | None:
        """The expression then; None where it would have to be read from memory."""
        closed = self._lets.expr(e)
        return None if ACCESS in mentions(closed) else substitute(closed, self._then)


def _reads(stmt: Stmt, callee: Callee, path: Path) -> Iterator[tuple[Path, list[Access]]]:
    """The accesses to a Func or an input below a statement, each group with the path to it."""
    found = [e for e in subexpressions(stmt_exprs(stmt)) if isinstance(e, Access) and e.callee is callee]
    if found:
        yield path, found
    match stmt:
        case Block(stmts=stmts):
            for s in stmts:
                yield from _reads(s, callee, path)
                if isinstance(s, Let):
                    path = path.then(Define(s.var, s.value, s.within))
        case For(var=var, bounds=bounds, body=body):
            yield from _reads(body, callee, path.then(ForAll(var, bounds)))
        case Label(body=body):
            yield from _reads(body, callee, path)
        case If(condition=condition, then=then, otherwise=otherwise):
            yield from _reads(then, callee, path.then(Where(condition)))
            if otherwise is not None:
                yield from _reads(otherwise, callee, path)
