"""Expressions and statements as text for people; the format of golden dumps. Never parsed.

In: a node. Out: text, with the fewest parentheses.

    For(f.s0.x …)  ->  for f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len):
                           f[f.s0.x] = f.s0.x*2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from halide_core import ir
from halide_core.ir import BinaryOp
from halide_core.ir.memory import MemoryType
from halide_core.ir.types import INT32, INT64

_PRECEDENCE = {
    BinaryOp.OR: 1,
    BinaryOp.AND: 2,
    BinaryOp.EQ: 3,
    BinaryOp.NE: 3,
    BinaryOp.LT: 4,
    BinaryOp.LE: 4,
    BinaryOp.BIT_OR: 5,
    BinaryOp.BIT_XOR: 6,
    BinaryOp.BIT_AND: 7,
    BinaryOp.SHL: 8,
    BinaryOp.SHR: 8,
    BinaryOp.ADD: 9,
    BinaryOp.SUB: 9,
    BinaryOp.MUL: 10,
    BinaryOp.DIV: 10,
    BinaryOp.MOD: 10,
}
_ATOM = 12
_FLOAT_SUFFIXES = {"float32": "f", "float16": "h", "bfloat16": "bf"}
_TIGHT = frozenset({BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD})


def dim_name(callee: ir.Callee, dim: int) -> str:
    """The name of the ``dim``-th dimension: the pure variable of a Func, else its number."""
    args = getattr(callee, "args", None)
    return str(args[dim]) if args and dim < len(args) else str(dim)


def hole_name(e: ir.Hole) -> str:
    """A hole without its end: ``?cpu f.s0.x``."""
    special = f"[{e.specialization}]" if e.specialization else ""
    stage = f".s{e.stage}{special}" if e.kind is ir.HoleKind.CPU else ""
    return f"?{e.kind.value} {e.func.name}{stage}.{dim_name(e.func, e.dim)}"


def _hole(e: ir.Hole) -> str:
    return f"{hole_name(e)}.{e.end.value}"


def _int(e: ir.IntImm) -> str:
    if e.type.is_bool():
        return "true" if e.value else "false"
    suffix = "" if e.type in (INT32, INT64) else f":{e.type}"
    return f"{e.value}{suffix}"


def _access(e: ir.Access) -> str:
    component = f".{e.component}" if len(e.callee.types) > 1 else ""
    return f"{e.callee.name}[{', '.join(map(format_expr, e.args))}]{component}"


def _binary(e: ir.Binary) -> tuple[int, str]:
    if e.op in (BinaryOp.MIN, BinaryOp.MAX):
        return _ATOM, f"{e.op.value}({format_expr(e.a)}, {format_expr(e.b)})"
    level = _PRECEDENCE[e.op]
    gap = "" if e.op in _TIGHT else " "
    return level, f"{_at(e.a, level)}{gap}{e.op.value}{gap}{_at(e.b, level + 1)}"


def _print(e: ir.Print) -> tuple[int, str]:
    return _ATOM, f"print({format_expr(e.a)}, {_message(e.message)!r} if {format_expr(e.condition)})"


_FORMATS: dict[type, Callable[[Any], tuple[int, str]]] = {
    ir.IntImm: lambda e: (_ATOM if e.value >= 0 else 11, _int(e)),
    ir.FloatImm: lambda e: (_ATOM, f"{e.value!r}{_FLOAT_SUFFIXES.get(str(e.type), '')}"),
    ir.Variable: lambda e: (_ATOM, e.name),
    ir.RVarRef: lambda e: (_ATOM, e.domain.names[e.index]),
    ir.ParamRef: lambda e: (_ATOM, e.param.name),
    ir.BufferField: lambda e: (_ATOM, f"{e.buffer.name}.{e.field.value}.{e.dim}"),
    ir.Binary: _binary,
    ir.Not: lambda e: (11, f"!{_at(e.a, 11)}"),
    ir.Select: lambda e: (_ATOM, f"select({format_expr(e.condition)}, {format_expr(e.a)}, {format_expr(e.b)})"),
    ir.Cast: lambda e: (_ATOM, f"{e.type}({format_expr(e.a)})"),
    ir.Call: lambda e: (_ATOM, f"{e.function.value}({', '.join(map(format_expr, e.args))})"),
    ir.Promise: lambda e: (_ATOM, f"unsafe_promise_clamped({', '.join(map(format_expr, (e.value, e.low, e.high)))})"),
    ir.Print: _print,
    ir.Event: _print,
    ir.Access: lambda e: (_ATOM, _access(e)),
    ir.Hole: lambda e: (_ATOM, _hole(e)),
    ir.Load: lambda e: (_ATOM, f"{e.buffer}[{format_expr(e.index)}]"),
    ir.Ramp: lambda e: (_ATOM, f"ramp({format_expr(e.base)}, {format_expr(e.stride)}, {e.type.lanes()})"),
    ir.Broadcast: lambda e: (_ATOM, f"x{e.type.lanes()}({format_expr(e.a)})"),
    ir.Slice: lambda e: (_ATOM, f"slice({format_expr(e.a)}, {e.first}, {e.type.lanes()})"),
}


def _at(expr: ir.ExprNode, level: int) -> str:
    own, text = _FORMATS[type(expr)](expr)
    return text if own >= level else f"({text})"


def format_expr(expr: ir.ExprNode) -> str:
    """One expression on one line."""
    return _FORMATS[type(expr)](expr)[1]


def format_interval(interval: ir.Interval) -> str:
    """``(min, len)``."""
    return f"({format_expr(interval.min)}, {format_expr(interval.len)})"


def _box(box: tuple[ir.Interval, ...]) -> str:
    return ", ".join(map(format_interval, box))


def _message(message: tuple[str | ir.ExprNode, ...]) -> str:
    return "".join(m if isinstance(m, str) else f"{{{format_expr(m)}}}" for m in message)


def _atomic(stmt: ir.Provide | ir.Store) -> str:
    return "atomic " if stmt.atomic else ""


def _head(stmt: ir.Stmt) -> str:
    match stmt:
        case ir.Let(var=var, value=value, within=within):
            known = "" if within is None else f" within {format_interval(within)}"
            return f"let {var.name} = {format_expr(value)}{known}"
        case ir.Allocate(func=func, bounds=bounds, folds=folds, layout=layout):
            told = [f" folding {dim_name(func, d)} by {format_expr(k)}" for d, k in enumerate(folds) if k is not None]
            laid = "" if layout is None else f" laid out: {layout}"
            return f"allocate {func.name}({_box(bounds)}){','.join(told)}{laid}"
        case ir.AllocateFlat(buffer=buffer, type=element, size=size, limit=limit, memory=memory, within=within):
            most = "" if limit is None else f" at most {limit}"
            most += "" if memory is MemoryType.Auto else f" in {memory.value}"
            most += "" if within is None else f" within {within}"
            return f"allocate {buffer}: {element}[{format_expr(size)}]{most}"
        case ir.Label(func=func, stage=stage):
            return f"label {func.name}:" if stage is None else f"label {func.name}.s{stage}:"
        case ir.Remember(func=func, key=key, evicted=evicted):
            by = "" if evicted is None else f" until {format_expr(evicted)} is evicted"
            return f"remember {func.name} by ({', '.join(map(format_expr, key))}){by}:"
        case ir.For(loop=loop, var=var, bounds=bounds, kind=kind):
            name = var.name if var.name == str(loop) else f"{var.name} [{loop}]"
            return f"{kind.value} {name} in {format_interval(bounds)}:"
        case ir.FirstLanes(count=count):
            return f"first {format_expr(count)} lanes:"
        case ir.If(condition=condition):
            return f"if {format_expr(condition)}:"
        case ir.Provide(func=func, args=args, values=values):
            where = f"{func.name}[{', '.join(map(format_expr, args))}]"
            return f"{_atomic(stmt)}{where} = {', '.join(map(format_expr, values))}"
        case ir.Store(buffer=buffer, index=index, value=value):
            return f"{_atomic(stmt)}{buffer}[{format_expr(index)}] = {format_expr(value)}"
        case ir.Assert(condition=condition, message=message):
            return f"assert {format_expr(condition)}, {_message(message)!r}"
        case ir.AnswerQuery(regions=regions):
            return "answer query: " + "; ".join(f"{c.name}({_box(box)})" for c, box in regions)
        case ir.WriteFile(func=func, file=file, box=box):
            return f"write {func.name}({_box(box)}) to {file.path!r}"
        case ir.PrefetchRegion():
            return _prefetched(stmt)
        case ir.PrefetchLine(buffer=buffer, index=index):
            return f"prefetch {buffer}[{format_expr(index)}]"
        case ir.Fork(semaphores=semaphores):
            return f"fork {', '.join(f'{name} = {count}' for name, count in semaphores)}:"
        case ir.Acquire(semaphore=name) | ir.Release(semaphore=name):
            return f"{'acquire' if isinstance(stmt, ir.Acquire) else 'release'} {name}"
    return type(stmt).__name__.lower()


def _prefetched(stmt: ir.PrefetchRegion) -> str:
    if stmt.box is not None:
        return f"prefetch {stmt.func.name}({_box(stmt.box)})"
    return f"prefetch {stmt.func.name} for {stmt.var.name} + {format_expr(stmt.offset)}, {stmt.strategy.value}"


def _lines(stmt: ir.Stmt, depth: int) -> Iterator[str]:
    pad = "    " * depth
    match stmt:
        case ir.Stores(stores=stores):
            yield pad + "at once:"
            for store in stores:
                yield from _lines(store, depth + 1)
        case ir.Block(stmts=stmts):
            for s in stmts:
                if isinstance(s, ir.Block):
                    yield pad + "block:"
                    yield from _lines(s, depth + 1)
                else:
                    yield from _lines(s, depth)
        case ir.If(then=then, otherwise=otherwise):
            yield pad + _head(stmt)
            yield from _lines(then, depth + 1)
            if otherwise is not None:
                yield pad + "else:"
                yield from _lines(otherwise, depth + 1)
        case ir.Fork(producer=producer, consumer=consumer):
            yield pad + _head(stmt)
            yield from _lines(producer, depth + 1)
            yield pad + "beside:"
            yield from _lines(consumer, depth + 1)
        case ir.Label(body=body) | ir.For(body=body) | ir.Remember(body=body) | ir.FirstLanes(body=body):
            yield pad + _head(stmt)
            yield from _lines(body, depth + 1)
        case _:
            yield pad + _head(stmt)


def format_stmt(stmt: ir.Stmt, indent: int = 0) -> str:
    """A statement over several lines, each indented by at least ``indent`` steps."""
    return "\n".join(_lines(stmt, indent))


def _format_node(node: Any) -> str:
    return format_expr(node) if isinstance(node, ir.ExprNode) else format_stmt(node)


ir.print_nodes_with(_format_node)
