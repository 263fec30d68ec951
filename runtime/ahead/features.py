"""The features of a scheduled pipeline as JSON: what a model of its costs, or a person, counts.

In: a program with bounds. Out: of each Func its memory, and of each nest its loops, operations, loads and stores.

    for y: parallel for x: blur[x, y] = u8(across[x, y - 1] + …)
      ->   {"func": "blur", "loops": [{"name": "blur.s0.y", "kind": "serial", "extent": "blur.extent.1"}, …],
            "operations": {"add uint16": 2}, "loads": {"across": 3}, …}

A number where it is constant, else a formula in what the run is asked for. Operations of coordinates are not among
those of values.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.ir import Access, Allocate, ExprNode, For, Provide, Stmt
from halide_core.ir.printer import format_expr
from halide_core.ir.visitor import parts, sub_stmts
from halide_core.run.backend import Argument

VERSION = 1

_Json = dict[str, object]


def emit_features(name: str, target: str, arguments: tuple[Argument, ...], filled: Stmt) -> str:
    """The text of the file."""
    taken = [{"name": a.name, "kind": a.kind.name, "type": str(a.type), "dimensions": a.dimensions} for a in arguments]
    nests: list[_Json] = []
    memory: list[_Json] = []
    for stmt, loops in _inside(filled, ()):
        if isinstance(stmt, Provide):
            nests.append(_nest(stmt, loops))
        elif isinstance(stmt, Allocate):
            memory.append(_memory(stmt, loops))
    about = {"version": VERSION, "pipeline": name, "target": target, "arguments": taken}
    return json.dumps({**about, "memory": memory, "nests": nests}, indent=1) + "\n"


def _inside(stmt: Stmt, loops: tuple[For, ...]) -> Iterator[tuple[Stmt, tuple[For, ...]]]:
    """All statements, each with the loops around it."""
    yield stmt, loops
    within = (*loops, stmt) if isinstance(stmt, For) else loops
    for each in sub_stmts(stmt):
        yield from _inside(each, within)


def _number(e: ExprNode) -> int | str:
    simple = simplify(e)
    return simple.value if isinstance(simple, ir.IntImm) else format_expr(simple)


def _memory(stmt: Allocate, loops: tuple[For, ...]) -> _Json:
    extents = [_number(stmt.fold(d) or each.len) for d, each in enumerate(stmt.bounds)]
    inside = loops[-1].var.name if loops else None
    return {"func": stmt.func.name, "types": [str(t) for t in stmt.func.types], "extents": extents, "inside": inside}


def _nest(stmt: Provide, loops: tuple[For, ...]) -> _Json:
    operations: Counter[str] = Counter()
    loads: Counter[str] = Counter()
    seen: set[ExprNode] = set()
    for value in stmt.values:
        _count(value, operations, loads, seen)
    return {
        "func": stmt.func.name,
        "stage": stmt.stage,
        "loops": [{"name": f.var.name, "kind": f.kind.name.lower(), "extent": _number(f.bounds.len)} for f in loops],
        "operations": dict(sorted(operations.items())),
        "loads": dict(sorted(loads.items())),
        "stores": [str(v.type) for v in stmt.values],
        "atomic": stmt.atomic,
    }


def _count(e: ExprNode, operations: Counter[str], loads: Counter[str], seen: set[ExprNode]) -> None:
    """Counts each value once, however often it is used: it is computed once."""
    if e in seen:
        return
    seen.add(e)
    match e:
        case Access(callee=callee):
            loads[callee.name] += 1
            return
        case ir.Binary(op=op):
            operations[f"{op.name.lower()} {e.a.type}"] += 1
        case ir.Call(function=function):
            operations[f"{function.value} {e.type}"] += 1
        case ir.Cast(a=a):
            operations[f"cast {a.type} to {e.type}"] += 1
        case ir.Select() | ir.Not():
            operations[f"{type(e).__name__.lower()} {e.type}"] += 1
    for part in parts(e):
        _count(part, operations, loads, seen)
