"""A changed function in a process that has imported the compiler already: functions get other code.

In: a file's text before and after an edit. Out: every function that was made from the changed code has the new one, as
if the file had been imported so. False, and nothing done, where more than functions' bodies changed.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

_Key = tuple[str, str, int]


def swap(path: Path, before: bytes, after: bytes) -> bool:
    """Gives functions their new code."""
    old, new = (compile(text, str(path), "exec", dont_inherit=True) for text in (before, after))
    functions = list(_functions(old)), list(_functions(new))
    if _level(old) != _level(new) or len(functions[0]) != len(functions[1]):
        return False
    changed = {_key(a): b for a, b in zip(*functions, strict=True) if a != b}
    count = Counter(map(_key, functions[0]))
    if any(count[key] > 1 for key in changed):
        return False  # which of them is which, only an import can tell
    live = [f for f in gc.get_objects() if type(f) is FunctionType and _key(f.__code__) in changed]
    # What no living function has may have been used up by a decorator: only an import can tell.
    if not changed or {_key(f.__code__) for f in live} != set(changed):
        return False
    if any(f.__code__.co_freevars != changed[_key(f.__code__)].co_freevars for f in live):
        return False
    for f in live:
        f.__code__ = changed[_key(f.__code__)]
    return True


def _key(code: CodeType) -> _Key:
    return code.co_filename, code.co_name, code.co_firstlineno


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a file or a class, not those inside them."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if _is_class(inner):
                yield from _functions(inner)
            else:
                yield inner


def _is_class(code: CodeType) -> bool:
    return "__module__" in code.co_names and "__qualname__" in code.co_names


def _level(code: CodeType) -> object:
    """The code that runs on import, without the bodies of functions."""
    inner = tuple(
        (_level(c) if _is_class(c) else c.co_name) if isinstance(c, CodeType) else (type(c), c)
        for c in code.co_consts
    )
    return code.co_code, code.co_names, inner
