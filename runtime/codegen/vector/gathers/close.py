"""Gathers whose places are as close together as the lanes of a register: one dense load, and a permutation.

In: the place of each lane. Out: whether they rise from lane to lane, and by less than there are lanes; and the C
function that loads what is between the first place and the last one, and no more, and takes each lane from there.

    f[((x + lane) >> 2)*2]: float32 x 8    ->    five elements from f[(x >> 2)*2] on, and vpermps
"""

from __future__ import annotations

from collections.abc import Iterator

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import INT64, Int, Type
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.first_lanes import load_first, mask_of
from halide_core.runtime.codegen.vector.gathers.anywhere import gather
from halide_core.runtime.codegen.vector.prelude import Prelude, either
from halide_core.runtime.codegen.vector.x86_builtins import Builtin


def are_close(type: Type, index: ExprNode) -> bool:
    """True of a load's index if what its lanes read fits a register of them, and is read in order."""
    match index:
        case ir.Binary(op=BinaryOp.ADD, a=ir.Broadcast(), b=rest) if x86_builtins.permutation(type) is not None:
            rise = _rise(rest)
            return rise is not None and rise < type.lanes()
    return False


def gather_close(prelude: Prelude, type: Type, index: Type) -> str:
    """``f(pointer, base, indices)``: elements at places of which ``are_close`` is true."""

    def head() -> tuple[str, str, list[str]]:
        permutation, places = x86_builtins.permutation(type), _places(type)
        assert permutation is not None, "such places are close by no machine's means"
        c = prelude.type(type)
        after = f"index - {prelude.splat(index)}(index[0])"
        taken = [
            f"const {prelude.type(places)} b = {prelude.convert(places, index)}({after});",
            f"return ({c}){prelude.call_builtin(permutation, type, places)};",
        ]
        count = f"index[{index.lanes() - 1}] - index[0] + 1"
        body = [f"return {gather(prelude, type, index)}(p, base, index);"]
        for load, lines in _loads(prelude, type, count):
            body = either(f"{load.condition} && {permutation.condition}", [*lines, *taken], body)
        return c, f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index", body

    return prelude.define(f"gather_close_{tag(type)}_{tag(index)}", head)


def _places(type: Type) -> Type:
    return Int(type.bits(), type.lanes())


def _loads(prelude: Prelude, type: Type, count: str) -> Iterator[tuple[Builtin, list[str]]]:
    """The ways to load so many elements from the first place on, as ``a``; the best one last."""
    c, places = prelude.type(type), _places(type)
    signs, masked = x86_builtins.masked_load_by_signs(type), x86_builtins.masked_load(type)
    if signs is not None:
        numbers = f"({prelude.type(places)}){{{', '.join(map(str, range(type.lanes())))}}}"
        at = f"const {stored(type)} *const from = p + base + index[0];"
        which = f"const {prelude.type(places)} which = {numbers} < {prelude.splat(places)}({count});"
        yield signs, [at, which, f"const {c} a = ({c}){prelude.call_builtin(signs, type, places)};"]
    if masked is not None:
        yield masked, [f"const {c} a = {load_first(prelude, type)}({mask_of(f'({count})')}, p + base + index[0]);"]


def _rise(e: ExprNode) -> int | None:
    """By how much the last lane of an int64 number is at most greater than the first one; None where a lane may be less
    than one before it."""
    if e.type.element_of() is not INT64:
        return None
    match e:
        case ir.Broadcast():
            return 0
        case ir.Ramp(stride=ir.IntImm(value=step)) if step >= 0:
            return step * (e.type.lanes() - 1)
        case ir.Binary(op=BinaryOp.DIV, a=a, b=ir.Broadcast(a=ir.IntImm(value=by))) if by > 0:
            rise = _rise(a)
            return None if rise is None else -(-rise // by)
        case ir.Binary(op=BinaryOp.MUL, a=a, b=ir.Broadcast(a=ir.IntImm(value=by))) if by >= 0:
            rise = _rise(a)
            return None if rise is None else rise * by
        case ir.Binary(op=BinaryOp.SUB, a=a, b=ir.Broadcast()):
            return _rise(a)
        case ir.Binary(op=BinaryOp.ADD | BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
            one, other = _rise(a), _rise(b)
            if one is None or other is None:
                return None
            return one + other if op is BinaryOp.ADD else max(one, other)
    return None
