"""Every second, third or fourth element of memory: dense loads and shuffles instead of a load for each lane.

In: a vector type and a distance. Out: the name of a C function, which joins the prelude.

    load_every(prelude, UInt(8, 4), 2)   ->   "load_every_2_u8x4":   x = p[0..3], y = p[3..6];   x0 x2 y1 y3

A distance that only the run knows is often that of a pixel's channels, and is compared with those.

The loads reach from the first lane's element to the last one's, and no further: the last two overlap. Where others
read the elements between, all of them share loads that don't: ``f[2*x]`` and ``f[2*x + 1]`` are two loads and not four.
Elements that go backwards are a dense load, too. Where a machine has no registers of this width, its compiler would
take shuffles apart, and lanes are loaded one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from halide_core import ir
from halide_core.analysis.linear import linear_of
from halide_core.ir.types import Type, UInt
from halide_core.ir.visitor import has
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.vector.lanes import of_loads
from halide_core.runtime.codegen.vector.prelude import Prelude, either, strided_places

DISTANCES = (2, 3, 4)
"""Distances at which few vectors are loaded for each."""
_FAR = 8
"""Beyond this, and beyond half of the lanes, more vectors would be loaded than there are lanes worth."""
_CHANNELS = (3, 4)
"""The number of channels of pixels whose distance is an argument's stride."""
_MACHINES = {
    32: "defined(__SSSE3__)",
    64: "defined(__SSSE3__) || defined(__ARM_NEON)",
    128: "defined(__SSSE3__) || defined(__ARM_NEON)",
    256: "defined(__AVX2__)",
    512: "defined(__AVX512BW__)",
}
"""Who shuffles registers, or low parts of them, of each width, down to bytes."""
_FAR_MACHINES = "defined(__AVX512BW__) && defined(__AVX512VL__)"
"""Who shuffles two registers of 256 bits by one instruction, or few; others take as long as with a load for each
lane."""
_REGISTER_BITS = 128
_WORD = 64
_Function = tuple[str, str, list[str]]
"""A C function as the prelude takes it: what it returns, its parameters, the lines of its body."""


@dataclass(frozen=True, slots=True)
class InBlock:
    """A load of every so many elements, ``ahead`` of the first element of the block that it is in."""

    distance: int
    ahead: int


def load_every(prelude: Prelude, type: Type, distance: int) -> str | None:
    """``f(pointer)``; None where lanes are better loaded one by one."""
    lanes = type.lanes()
    last = (lanes - 1) * (distance - 1)  # the last load ends at the last lane's element
    starts = [*range(0, (distance - 1) * lanes, lanes), last]
    name = f"load_every_{distance}_{tag(type)}"
    if distance not in DISTANCES and distance * type.bits() == _WORD and lanes >= distance:
        return prelude.define(name, lambda: _of_words(prelude, type, distance))
    return _load(prelude, type, distance, starts, 0, name) if is_shuffled(type, distance) else None


def _of_words(prelude: Prelude, type: Type, distance: int) -> _Function:
    """The ends of words, made narrow: the first ones of half of the lanes, the last ones of the other half."""
    half = UInt(type.bits(), type.lanes() // 2)
    word = UInt(_WORD, half.lanes())
    w, narrow, far = prelude.type(word), prelude.convert(half, word), distance - 1
    order = ", ".join(map(str, range(type.lanes())))
    lines = [
        f"{w} first, last;",
        "__builtin_memcpy(&first, p, sizeof first);",
        f"__builtin_memcpy(&last, p + {half.lanes() * distance - far}, sizeof last);",
        f"last >>= {far * type.bits()};",
        f"return ({prelude.type(type)})__builtin_shufflevector({narrow}(first), {narrow}(last), {order});",
    ]
    return _where_shuffled(prelude, type, type, lines, [i * distance for i in range(type.lanes())])


def load_of_block(prelude: Prelude, type: Type, block: InBlock) -> str:
    """``f(pointer)``: elements of as many vectors, one after the other, as they are apart; the loads are the same
    wherever in the block they begin. A block that fits a register is one load."""
    name = f"load_every_{block.distance}_from_{block.ahead}_{tag(type)}"
    if _is_one_load(type, block.distance):
        return prelude.define(name, lambda: _of_one_load(prelude, type, block))
    starts = [n * type.lanes() for n in range(block.distance)]
    return _load(prelude, type, block.distance, starts, block.ahead, name)


def _of_one_load(prelude: Prelude, type: Type, block: InBlock) -> _Function:
    whole = type.with_lanes(type.lanes() * block.distance)
    at = [block.ahead + i * block.distance for i in range(type.lanes())]
    lines = [f"{prelude.type(whole)} r = {prelude.load(whole)}(p);", f"return {_shuffled(at)};"]
    return _where_shuffled(prelude, type, whole, lines, at)


def load_reversed(prelude: Prelude, type: Type) -> str | None:
    """``f(pointer)``: the element there and those before it, the last one first; None where lanes are better loaded one
    by one."""
    lanes = type.lanes()
    if _bits(type) not in _MACHINES or lanes < 4:
        return None

    def head() -> _Function:
        whole = f"{prelude.type(type)} r = {prelude.load(type)}(p - {lanes - 1});"
        lines = [whole, f"return {_shuffled(list(reversed(range(lanes))))};"]
        return _where_shuffled(prelude, type, type, lines, [-i for i in range(lanes)])

    return prelude.define(f"load_reversed_{tag(type)}", head)


def blocks(loads: Iterable[ir.Load]) -> dict[ir.Load, InBlock]:
    """Of loads that happen together, those of one block, all of which they read as far as its ends go: of every second
    element and of those between, or of every third one and the second after it, with what is between. Those whose place
    comes from memory are in none: a store may be between two of them."""
    rows: dict[tuple[int, object], dict[int, ir.Load]] = {}
    for load in loads:
        match load.index:
            case ir.Ramp(base=base, stride=ir.IntImm(value=distance)) if _is_in_blocks(load.type, distance):
                form = linear_of(base)
                around = (load.buffer, load.type, frozenset(form.terms.items()))
                if not has(base, ir.Load):
                    rows.setdefault((distance, around), {})[form.const] = load
    found: dict[ir.Load, InBlock] = {}
    for (distance, _), known in rows.items():
        begin = min(known) - distance
        for at in sorted(known):
            begins = [b for b in range(at - distance + 1, at + 1) if b in known and b + distance - 1 in known]
            if begins:
                begin = begin if begin in begins else begins[0]
                found[known[at]] = InBlock(distance, at - begin)
    return found


def is_shuffled(type: Type, distance: int) -> bool:
    """True where dense loads and shuffles are better than a load for each lane; stores alike."""
    lanes = type.lanes()
    if type.is_bool() or distance < 2 or lanes < 4 or _bits(type) not in _MACHINES:
        return False
    if distance not in DISTANCES and (distance > min(_FAR, lanes // 2) or _bits(type) < _REGISTER_BITS):
        return False
    # A part of a register is shuffled twice for each load.
    return _bits(type) >= _REGISTER_BITS or lanes >= 2 * distance


def who_shuffles(type: Type) -> str:
    """The machines that shuffle such vectors, as a condition of the preprocessor."""
    return _MACHINES[_bits(type)]


def _is_one_load(type: Type, distance: int) -> bool:
    """True where so many short vectors fill a register."""
    return not type.is_bool() and distance > 1 and type.lanes() >= 4 and _bits(type) * distance == _REGISTER_BITS


def _is_in_blocks(type: Type, distance: int) -> bool:
    return _is_one_load(type, distance) or is_shuffled(type, distance)


def _bits(type: Type) -> int:
    return 8 * type.bytes() * type.lanes()


def _shuffled(order: Sequence[int]) -> str:
    return f"__builtin_shufflevector(r, r, {', '.join(map(str, order))})"


def _where_shuffled(prelude: Prelude, type: Type, register: Type, lines: Sequence[str], at: Sequence[int]) -> _Function:
    """A function of a pointer whose lines are for machines that shuffle such a register; for others it loads the
    elements ``at`` so far from there."""
    generic = of_loads(prelude, type, [f"p[{i}]" for i in at])
    far = len(at) > 1 and at[1] - at[0] > max(DISTANCES)
    machines = _FAR_MACHINES if far and _bits(register) == 256 else _MACHINES[_bits(register)]
    body = either(machines, lines, generic)
    return prelude.type(type), f"const {stored(type)} *p", body


def _load(prelude: Prelude, type: Type, distance: int, starts: Sequence[int], first: int, name: str) -> str:
    """The function that loads vectors at ``starts``, and takes every so many elements of them."""
    lanes = type.lanes()

    def head() -> _Function:
        lines = [f"{prelude.type(type)} r = {prelude.load(type)}(p);"]
        for number, start in enumerate(starts[1:], 1):
            chosen = [_source(i, first + i * distance, number, start, lanes) for i in range(lanes)]
            lines.append(f"r = __builtin_shufflevector(r, {prelude.load(type)}(p + {start}), {', '.join(chosen)});")
        at = [first + i * distance for i in range(lanes)]
        return _where_shuffled(prelude, type, type, [*lines, "return r;"], at)

    return prelude.define(name, head)


def load_strided(prelude: Prelude, type: Type) -> str:
    """``f(pointer, stride)``: elements at a distance that the run knows, densely where it is that of channels."""

    def head() -> _Function:
        c = prelude.type(type)
        dense = [(k, f) for k in _CHANNELS if (f := load_every(prelude, type, k)) is not None]
        asked = [f"if (stride == {k}) return {f}(p);" for k, f in dense]
        if dense:
            asked = [f"#if {who_shuffles(type)}", *asked, "#endif"]
        pointer = f"const {stored(type)} *"
        bases, at = strided_places(pointer, type.lanes())
        return c, f"{pointer}p, int64_t stride", [*asked, *bases, *of_loads(prelude, type, at)]

    return prelude.define(f"load_strided_{tag(type)}", head)


def load_pairs(prelude: Prelude, type: Type, step: int) -> str:
    """``f(pointer, distance)``: even lanes are so many elements apart from the pointer on, and odd ones so far from
    there."""
    half = type.with_lanes(type.lanes() // 2)

    def head() -> _Function:
        c, parameters = prelude.type(type), f"const {stored(type)} *p, int64_t distance"
        if half.lanes() == 1:
            return c, parameters, [f"return ({c}){{p[0], p[distance]}};"]
        dense = prelude.load(half) if step == 1 else load_every(prelude, half, step)
        load, stride = (load_strided(prelude, half), f", {step}") if dense is None else (dense, "")
        lanes = f"{load}(p{stride}), {load}(p + distance{stride})"
        return c, parameters, [f"return {prelude.interleave(half)}({lanes});"]

    return prelude.define(f"load_pairs_{step}_{tag(type)}", head)


def _source(lane: int, element: int, number: int, start: int, lanes: int) -> str:
    """Where a lane comes from once the loads up to ``number``, which begins at ``start``, are there."""
    if element >= start:
        return str(lanes + element - start if element - start < lanes else 0)  # 0: a later load has it
    return str(element if number == 1 else lane)
