"""Asserts that something is refused with the right class, the right names, and the user's line that is at fault.

In: a call, the texts that its message must have, and a text of the line. Out: the error, or an AssertionError.

    refused(hl.ScheduleError, lambda: f.realize([4]), '"z"', at="f.split(z")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

import halide_core as hl
from halide_core.runtime.compile.cache import CompileCache

E = TypeVar("E", bound=hl.HalideError)

RUNS_AFTERWARDS = True
"""True where another pipeline is compiled and run after each test of an error."""


def refused(error: type[E], call: Callable[[], Any], *named: str, at: str) -> E:
    """The error that ``call`` raises: its message has every text of ``named``, and it ends with a line of the caller's
    file that has the text ``at``."""
    with pytest.raises(error) as caught:
        call()
    found = caught.value
    for text in named:
        assert text in found.message, f"{text!r} is not in: {found.message}"
    assert found.location.file == inspect.stack()[1].filename
    assert at in found.location.text
    assert str(found).endswith(f"\n  at {found.location}")
    return found


def cache_is_sound(folder: Path) -> None:
    """Every entry of a cache is whole, and nothing half-made lies about."""
    entries = list(folder.glob("[0-9a-f][0-9a-f]/*"))
    cache = CompileCache(folder)
    broken = [e.name for e in entries if not cache.verify(e.name)]
    assert broken == []
    if (folder / "tmp").exists():
        assert list((folder / "tmp").iterdir()) == []
