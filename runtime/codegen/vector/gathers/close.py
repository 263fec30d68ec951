"""Gathers whose places are as close together as the lanes of one or two registers: dense loads, and permutations.

In: the place of each lane. Out: whether they rise from lane to lane, and by less than twice the number of lanes; and
the C function that loads what is between the first place and the last one, and no more, and takes each lane from there.

    f[((x + lane) >> 2)*2]: float32 x 8    ->    five elements from f[(x >> 2)*2] on, and vpermps
    f[((x + lane) >> 2)*4]: float32 x 8    ->    nine elements, vpermps of either register, and a choice
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

_MOST = 2
"""So many registers are loaded at most: a third would cost another permutation and choice."""


def registers_between(type: Type, index: ExprNode) -> int:
    """The number of registers of elements, one or two, that a load's lanes read from, in order; 0 where they may be
    further apart."""
    match index:
        case ir.Binary(op=BinaryOp.ADD, a=ir.Broadcast(), b=rest) if x86_builtins.permutation(type) is not None:
            rise = _rise(rest)
            registers = 0 if rise is None else rise // type.lanes() + 1
            return registers if registers <= _MOST else 0
    return 0


def gather_close(prelude: Prelude, type: Type, index: Type, registers: int) -> str:
    """``f(pointer, base, indices)``: elements at places between which there are so many registers of elements."""

    def head() -> tuple[str, str, list[str]]:
        permutation, places = x86_builtins.permutation(type), _places(type)
        assert permutation is not None, "such places are close by no machine's means"
        lanes, permute = type.lanes(), f"({prelude.type(type)}){prelude.call_builtin(permutation, type, places)}"
        after = f"index - {prelude.splat(index)}(index[0])"
        loaded = [
            f"const {stored(type)} *const from = p + base + index[0];",
            f"const int64_t count = index[{lanes - 1}] - index[0] + 1;",
            f"const {prelude.type(places)} b = {prelude.convert(places, index)}({after});",
        ]
        body = [f"return {gather(prelude, type, index)}(p, base, index);"]
        for load, given in _loads(prelude, type):
            lines = [f"{prelude.type(type)} a = {given[0]};", f"const {prelude.type(type)} low = {permute};"]
            found = "low"
            if registers > 1:
                lines.append(f"a = {given[1]};")
                found = f"{prelude.select(type)}(b < {prelude.splat(places)}({lanes}), low, {permute})"
            body = either(f"{load.condition} && {permutation.condition}", [*loaded, *lines, f"return {found};"], body)
        return prelude.type(type), f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index", body

    return prelude.define(f"gather_close_{registers}_{tag(type)}_{tag(index)}", head)


def _places(type: Type) -> Type:
    return Int(type.bits(), type.lanes())


def _loads(prelude: Prelude, type: Type) -> Iterator[tuple[Builtin, tuple[str, str]]]:
    """The ways to load ``count`` elements, one at least, from ``from`` on, the best one last: the instruction that each
    needs, and the values of the first register and of the second one."""
    lanes = type.lanes()
    signs, masked = x86_builtins.masked_load_by_signs(type), x86_builtins.masked_load(type)
    if signs is not None:
        few = _load_by_signs(prelude, type, signs)
        yield signs, (f"{few}(from, count)", f"{few}(from + {lanes}, count - {lanes})")
    if masked is not None:
        few, mask = load_first(prelude, type), mask_of("count")
        yield masked, (f"{few}({mask}, from)", f"{few}(({mask}) >> {lanes}, from + {lanes})")


def _load_by_signs(prelude: Prelude, type: Type, signs: Builtin) -> str:
    """``f(from, count)``: so many elements, none of a register, or all."""

    def head() -> tuple[str, str, list[str]]:
        c, places = prelude.type(type), _places(type)
        numbers = f"({prelude.type(places)}){{{', '.join(map(str, range(type.lanes())))}}}"
        which = f"const {prelude.type(places)} which = {numbers} < {prelude.splat(places)}(count);"
        loaded = f"return ({c}){prelude.call_builtin(signs, type, places)};"
        body = either(signs.condition, [which, loaded], [f"return ({c}){{0}};"])
        return c, f"const {stored(type)} *from, int64_t count", body

    return prelude.define(f"load_few_{tag(type)}", head)


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
