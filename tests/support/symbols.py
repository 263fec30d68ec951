"""The names that a compiled file has, read from it: a machine whose compiler is the ziglang wheel has no ``nm``.

In: an ELF object, library or program of 64 bits, or a static library of objects. Out: its symbols.

    symbols(Path("f.so"), dynamic=True)   ->   [Symbol("halide_core_entry", defined=True, weak=False)]
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ARCHIVE, _ELF = b"!<arch>\n", b"\x7fELF"
_SYMBOLS, _DYNAMIC = 2, 11
"""The types of sections with symbols: for linkers, and for the loader."""
_LOCAL, _WEAK = 0, 2
_FILE, _SECTION = 4, 3
"""The types of symbols that name no function or variable."""


@dataclass(frozen=True)
class Symbol:
    """A name of a function or a variable; ``defined`` where the file has what it names."""

    name: str
    defined: bool
    weak: bool
    local: bool = False


def symbols(path: Path, *, dynamic: bool = False) -> list[Symbol]:
    """All symbols of a file; with ``dynamic`` those that a loader sees."""
    data = path.read_bytes()
    objects = [part for _, part in _members(data)] if data.startswith(_ARCHIVE) else [data]
    kind = _DYNAMIC if dynamic else _SYMBOLS
    found = [s for part in objects if part.startswith(_ELF) for s in _of_object(part, kind)]
    assert found, f"{path} has no symbols"
    return found


def shown(path: Path) -> list[str]:
    """The names that a shared object defines for others."""
    return [s.name for s in symbols(path, dynamic=True) if s.defined and not s.local]


def members(archive: Path) -> list[str]:
    """The names of the files in a static library."""
    return [name for name, _ in _members(archive.read_bytes())]


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Files of an archive, in GNU's format: without the tables of symbols and of long names."""
    at, long_names = len(_ARCHIVE), b""
    while at < len(data):
        name, size = data[at : at + 16].decode("ascii").rstrip(), int(data[at + 48 : at + 58])
        content = data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
        if name == "//":
            long_names = content
        elif name not in {"/", "/SYM64/"}:
            if name.startswith("/"):
                start = int(name[1:])
                name = long_names[start : long_names.index(b"\n", start)].decode("ascii")
            yield name.removesuffix("/"), content


def _of_object(data: bytes, kind: int) -> Iterator[Symbol]:
    assert data[4:6] == b"\x02\x01", "64 bits, little end first"
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    for _, section_kind, _, _, offset, length, link, _, _, each in sections:
        if section_kind != kind:
            continue
        names = sections[link][4]
        for at in range(offset + each, offset + length, each):
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            if info & 15 in {_FILE, _SECTION}:
                continue
            end = data.index(b"\0", names + name)
            text = data[names + name : end].decode("ascii")
            yield Symbol(text, defined=section != 0, weak=info >> 4 == _WEAK, local=info >> 4 == _LOCAL)
