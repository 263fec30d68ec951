"""C of Funcs that are memoized: the key of their values, a look at what earlier runs kept, and keeping it.

In: a Remember, and the C of its key. Out: lines around the C of its body.

    remember f by (p): s   ->   const uint64_t key[] = {SITE, 0, (uint64_t)(p)}; …
                                if (!halide_core_memo_recall(key, …)) { s; halide_core_memo_keep(key, …); }

A key begins with a hash of all the C of the function: another program never finds what this one kept. Two pipelines may
have the same C, and other inputs: who runs them gives each a context (``runtime.execute.jit``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from halide_core import ir

KEY, PARTS, RECALLED = NAMES = ("key", "parts", "recalled")
"""Names inside the functions, which no IR name may get."""
_SITE = "@SITE@"
_WORDS = 4


def recalling(
    stmt: ir.Remember, values: Sequence[str], buffers: Sequence[tuple[str, int]], number: int
) -> list[str]:
    """The key, the memory, and the look. ``values``: the C of ``stmt.exprs()``. ``buffers``: the pointer of each
    component, and the bytes of an element. ``number``: the Func's own in the unit."""
    size = values[-1]
    words = [_SITE, str(number)]
    lines = []
    for i, (e, text) in enumerate(zip(stmt.key, values, strict=False)):
        if e.type.is_float():  # its bits; a double holds every smaller one
            lines.append(f"const double {KEY}_{i} = {text};")
            words.append("0")
        else:
            words.append(f"(uint64_t)({text})")
    floats = [i for i, e in enumerate(stmt.key) if e.type.is_float()]
    at = _WORDS + 1
    parts = ", ".join(f"{{(void *){pointer}, ({size}) * {bytes}}}" for pointer, bytes in buffers)
    return [
        *lines,
        f"uint64_t {KEY}[] = {{{', '.join(words)}}};",
        *(f"__builtin_memcpy(&{KEY}[{at + i}], &{KEY}_{i}, sizeof {KEY}_{i});" for i in floats),
        f"const struct halide_core_memo_part {PARTS}[] = {{{parts}}};",
        f"const int {RECALLED} = halide_core_memo_recall({KEY}, (int64_t)sizeof {KEY}, {PARTS}, {len(buffers)});",
    ]


def keeping(stmt: ir.Remember, values: Sequence[str]) -> str:
    """The C that follows the body and keeps its memory."""
    group = "0, 0" if stmt.evicted is None else f"1, (uint64_t)({values[len(stmt.key)]})"
    count = len(stmt.func.types)
    return f"halide_core_memo_keep({KEY}, (int64_t)sizeof {KEY}, {PARTS}, {count}, {group});"


def with_sites(texts: list[str]) -> list[str]:
    """The units of a function, with the hash of all of them where keys begin."""
    if not any(_SITE in text for text in texts):
        return texts
    digest = hashlib.sha256("".join(texts).encode()).digest()
    words = [f"0x{digest[8 * i : 8 * i + 8].hex()}ull" for i in range(_WORDS)]
    return [text.replace(_SITE, ", ".join(words)) for text in texts]
