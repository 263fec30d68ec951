"""Stores of lanes that lie side by side, as the channels of pixels do: put together and stored as a whole.

In: stores one after the other. Out: how many of them are the channels of pixels, and the name of a C function for them,
which joins the prelude.

    out[3*x] = r; out[3*x + 1] = g; out[3*x + 2] = b   ->   store_pixels_u8x16_3(out + t, 3, r, g, b)

The distance of pixels is mostly an argument's stride, which only the run knows: it is compared with the number of
channels. Pixels that are further apart are stored lane by lane, in the order of the stores.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from halide_core import ir
from halide_core.analysis.linear import linear_of
from halide_core.ir.types import Type
from halide_core.ir.visitor import nodes_of
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.vector.prelude import Prelude, either
from halide_core.runtime.codegen.vector.strided_loads import DISTANCES, is_shuffled, who_shuffles


def channels(points: Sequence[Sequence[ir.Store]], registers: Container[str]) -> int:
    """So many of the first stores are the channels of the same pixels; 1 where they are none. ``registers``: what
    lies in no memory."""
    first = points[0][0]
    if len(points[0]) > 1 or first.buffer in registers or not isinstance(first.index, ir.Ramp):
        return 1
    stride, count = first.index.stride, 1
    if isinstance(stride, ir.IntImm) and (stride.value not in DISTANCES or len(points) < stride.value):
        return 1
    most = stride.value if isinstance(stride, ir.IntImm) else max(DISTANCES)
    while count < min(most, len(points)) and _is_next(first, points[count], count):
        count += 1
    if isinstance(stride, ir.IntImm) and count != most:
        return 1
    return count if count > 1 and is_shuffled(first.value.type, count) else 1


def _is_next(first: ir.Store, point: Sequence[ir.Store], ahead: int) -> bool:
    """True of a store of the elements so far behind those of the first one, which needs nothing that it changes."""
    (store, *more), row = point, first.index
    assert isinstance(row, ir.Ramp)
    if more or store.buffer != first.buffer or store.value.type is not first.value.type:
        return False
    if not isinstance(store.index, ir.Ramp) or store.index.stride is not row.stride:
        return False
    if any(e.buffer == first.buffer for e in nodes_of([store.value, store.index], ir.Load)):
        return False
    own, other = linear_of(store.index.base), linear_of(row.base)
    return own.terms == other.terms and own.const == other.const + ahead


def store_pixels(prelude: Prelude, type: Type, count: int) -> str:
    """``f(pointer, stride, first, second, …)``: the lanes of each at equal distances, each one element further."""
    lanes, names = type.lanes(), [f"v{k}" for k in range(count)]

    def head() -> tuple[str, str, list[str]]:
        c, strided, store = prelude.type(type), prelude.store_strided(type), prelude.store(type)
        whole: list[str] = []
        for part in range(count):
            found = names[0]
            for k in range(1, count):
                found = f"__builtin_shufflevector({found}, {names[k]}, {_order(part, k, lanes, count)})"
            whole.append(f"    const {c} r{part} = {found};")
        whole += [f"    {store}(p + {part * lanes}, r{part});" for part in range(count)]
        one_by_one = [f"{strided}(p + {k}, stride, {name});" for k, name in enumerate(names)]
        dense = [f"if (stride == {count}) {{", *whole, "    return;", "}"]
        given = ", ".join(f"{c} {name}" for name in names)
        body = [*either(who_shuffles(type), dense, []), *one_by_one]
        return "void", f"{stored(type)} *p, int64_t stride, {given}", body

    return prelude.define(f"store_pixels_{tag(type)}_{count}", head)


def _order(part: int, last: int, lanes: int, count: int) -> str:
    """A shuffle of what was put together of the channels before with a channel: lanes of later ones may be anything."""
    order = []
    for i in range(lanes):
        pixel, channel = divmod(part * lanes + i, count)
        if channel > last:
            order.append(-1)
        elif channel == last:
            order.append(lanes + pixel)
        else:
            order.append(pixel if last == 1 else i)
    return ", ".join(map(str, order))
