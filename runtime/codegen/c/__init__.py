"""C that units are made of, in files that a compiler and an editor see.

In: a file's name. Out: what the unit gets of it: all that follows the line MARK. What stands before lets the file be
compiled by itself, as a test does.

    resource("check_host.h")   ->   static int check_host(const halide_buffer_t *b, const char *what) { …
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from halide_core.errors import InternalError

FOLDER = Path(__file__).resolve().parent
MARK = "/* From here on it is emitted. */\n"


@cache
def resource(name: str) -> str:
    """The C of a file of this folder."""
    _, mark, text = (FOLDER / name).read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise InternalError(f'"{name}" has no line "{MARK.strip()}".')
    return text
