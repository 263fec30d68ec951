"""Asserts that a call raises, and that the error names the user's own line: the one that makes the call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

import pytest

import halide_core as hl

E = TypeVar("E", bound=hl.HalideError)


def raised(error: type[E], call: Callable[[], object], *named: str) -> E:
    """The error that ``call``, a lambda on one line, raises; every text in ``named`` is in the message."""
    assert isinstance(call, FunctionType)
    with pytest.raises(error) as caught:
        call()
    found = caught.value
    assert found.location.file == call.__code__.co_filename
    assert found.location.line == call.__code__.co_firstlineno
    for text in named:
        assert text in found.message
    return found
