"""Lanes into registers and out of them, one by one.

In: C that loads each lane, or a vector. Out: lines that put the lanes together, or that take them apart. Both go
through the unit that shuffles, which does one or two things at a time:

    whole0[1] = p[at1];                                     a byte enters its register behind the one before
    w0 = ((i64x2)v)[0];  at0 = (int32_t)w0;  at1 = w0 >> 32;      two lanes of 32 bits leave theirs at once
"""

from __future__ import annotations

from halide_core.ir.types import Int, Type
from halide_core.runtime.codegen.names import stored
from halide_core.runtime.codegen.vector.prelude import Prelude, either

Places = tuple[list[str], list[str]]
"""Declarations, and then the number of each lane."""

_WORD = 64
_SHORT = 16
_AT_ONCE = 16
"""So many lanes of 32 bits are a register of 512, which smaller machines have in parts."""
_WORDS = (1, 2, 4, 8)
"""So many words are a register, or what a scalar one holds."""
_LITTLE_WORDS = "__SIZEOF_POINTER__ == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__"
_JOINED = {8: (4, 8, 16, 32, 64), 16: (4, 8, 16, 32)}
"""By bits: the numbers of lanes that are put together in registers of 128 bits."""


def of_loads(prelude: Prelude, type: Type, loads: list[str]) -> list[str]:
    """A vector of scalar loads: written out, as gcc would build one that a loop fills in memory (twice as slow). Small
    ones enter their register one after the other: gcc would put them together in scalar registers, by shifts, or in
    pairs, which takes more registers than there are."""
    lanes, step = type.lanes(), 128 // type.bits()
    if not type.is_integer() or type.is_bool() or lanes not in _JOINED.get(type.bits(), ()):
        return [f"return ({prelude.type(type)}){{{', '.join(loads)}}};"]
    body: list[str] = []
    joined: list[str] = []
    for first in range(0, lanes, step):
        name = f"whole{first}"
        body.append(f"{prelude.type(type.with_lanes(step))} {name} = {{0}};")
        body += [f"{name}[{i}] = {load};" for i, load in enumerate(loads[first : first + step])]
        if lanes >= step:  # not all lanes of one vector to gcc, which might know that they are comparisons
            body.insert(-1, prelude.veil(name, type.with_lanes(step)))
        joined.append(name)
    if lanes < step:
        return [*body, f"return __builtin_shufflevector(whole0, whole0, {', '.join(map(str, range(lanes)))});"]
    while len(joined) > 1:
        step *= 2
        order = ", ".join(map(str, range(step)))
        pairs = zip(joined[::2], joined[1::2], strict=True)
        joined = [f"__builtin_shufflevector({a}, {b}, {order})" for a, b in pairs]
    return [*body, f"return {joined[0]};"]


def lanes_of(prelude: Prelude, type: Type, vector: str, name: str) -> Places:
    """Declarations of a vector's lanes as int64s, and their names. Lanes leave a register through a unit that shuffles
    need, too: two of 32 bits leave it at once, as eight of 8 do, and are put apart behind it. gcc would see through
    that, and take them out one by one; memory gives them half as fast."""
    lanes, bits = type.lanes(), type.bits()
    names, whole = [f"{name}{k}" for k in range(lanes)], lanes * bits
    plain = [f"const int64_t {each} = {vector}[{k}];" for k, each in enumerate(names)]
    if bits == _WORD or whole % _WORD or whole // _WORD not in _WORDS:
        return plain, names
    apart: list[str] = []
    for first in range(0, lanes, _AT_ONCE if bits == _SHORT else lanes):
        part, of = vector, type
        if bits == _SHORT:  # of 32 bits each is one step from its word, of 16 two
            of = type.with_bits(2 * _SHORT).with_lanes(min(lanes, _AT_ONCE))
            part = f"{name}wide{first}"
            apart.append(f"const {prelude.type(of)} {part} = {_widened(prelude, type, vector, first, of)};")
        apart += _in_words(prelude, of, part, f"{name}w", first, names)
    return either(_LITTLE_WORDS, apart, plain), names


def _widened(prelude: Prelude, type: Type, vector: str, first: int, to: Type) -> str:
    if to.lanes() < type.lanes():
        vector = f"__builtin_shufflevector({vector}, {vector}, {', '.join(map(str, range(first, first + to.lanes())))})"
    return f"{prelude.convert(to, type.with_lanes(to.lanes()))}({vector})"


def _in_words(prelude: Prelude, type: Type, vector: str, word: str, first: int, names: list[str]) -> list[str]:
    """The lanes of a vector, the ``first`` of which is so far behind, which leave it in words."""
    bits, words = type.bits(), Int(_WORD, type.lanes() * type.bits() // _WORD)
    apart: list[str] = []
    for k in range(words.lanes()):
        source = f"(({prelude.type(words)}){vector})[{k}]" if words.is_vector() else f"(int64_t){vector}"
        lane = first + k * _WORD // bits
        held = f"{word}{lane * bits // _WORD}"
        apart += [f"int64_t {held} = {source};", f'__asm__("" : "+r"({held}));']
        apart += [
            f"const int64_t {names[lane + i]} = ({stored(type)})({held} >> {i * bits});" for i in range(_WORD // bits)
        ]
    return apart
