"""The compiler with one edit: a function of it whose text has something else, while a test or a campaign looks.

In: a module or a class, the name of a function in it, a piece of its text, what takes its place.

    with spoilt(hoist, "_reads_memory", "has(e, Access)", "False"): …
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from halide_core.ir.visitor import Rewriter


@contextmanager
def spoilt(owner: Any, function: str, old: str, new: str) -> Iterator[None]:
    """The compiler with the edit; the piece must be there, once."""
    whole = getattr(owner, function)
    text = textwrap.dedent(inspect.getsource(whole))
    assert text.count(old) == 1, f"{function} has no longer one {old!r}"
    made: dict[str, Any] = {}
    exec(text.replace(old, new), vars(sys.modules[whole.__module__]), made)
    try:
        _put(owner, function, whole, made[function])
        yield
    finally:
        _put(owner, function, made[function], whole)


def _put(owner: Any, name: str, old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """One function in place of another, wherever modules know it, by whatever name."""
    places = [(owner, name)]
    if inspect.ismodule(owner):
        ours = [m for path, m in sys.modules.items() if path.partition(".")[0] == "halide_core"]
        places = [(m, known) for m in ours for known, value in vars(m).items() if value is old]
    for each, known in places:
        setattr(each, known, new)
    if isinstance(owner, type) and issubclass(owner, Rewriter):
        owner._methods.clear()  # it remembers which methods it has
