"""Offers of refusals are legal: every call and every tail strategy that its message names, given, makes a program
that runs, and gives what the definitions say.

In: a pipeline, and the lines of a schedule of which one is refused. Out: the message.

    refusal(pair, "g.compute_at(f, z)")   ->   … The legal levels: g.compute_root(), …     each in place of the line
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import halide_core as hl

Names = dict[str, Any]

_CALL = re.compile(r"\b[A-Za-z_]\w*(?:\.\w+\((?:[^()]|\([^()]*\))*\))+")
_TAIL = re.compile(r"hl\.TailStrategy\.\w+")
_KINDS = {"compute_root": "compute_at", "store_root": "store_at", "hoist_storage_root": "hoist_storage"}


def refusal(build: Callable[[], Names], *lines: str, window: Sequence[int] = (9, 7)) -> str:
    """The message with which one of some lines is refused, the output being ``f``.

    A call of the line's own kind takes its place, and so does the line with another tail strategy; other calls come
    before it. One that takes the user's word is not held to what the definitions say.
    """
    with pytest.raises(hl.ScheduleError) as caught:
        _run(build(), lines, window)
    at = [_file(line) for line in lines].index(caught.value.location.file)
    message = caught.value.message
    for offer in offers(message):
        names, wanted = build(), [*lines[:at], *_instead(lines[at], offer), *lines[at + 1 :]]
        found = _run(names, wanted, window)
        if "allow_race_conditions" not in offer:
            np.testing.assert_array_equal(found, names["f"].evaluate(list(window)), err_msg="; ".join(wanted))
    return message


def offers(message: str) -> list[str]:
    """The calls and the tail strategies that a message offers: what stands after the directive that it is about."""
    (refused,) = _CALL.findall(message)[:1]
    rest = message.removeprefix(refused)
    return [call for call in _CALL.findall(rest) if not call.startswith("hl.")] + _TAIL.findall(rest)


def _instead(line: str, offer: str) -> list[str]:
    if _TAIL.fullmatch(offer):
        return [_TAIL.sub(offer, line)]
    verb, other = (_KINDS.get(_verb(each), _verb(each)) for each in (line, offer))
    return [offer] if verb == other else [offer, line]


def _verb(call: str) -> str:
    """The last call of a chain."""
    (each,) = (node for node in ast.parse(call).body if isinstance(node, ast.Expr))
    assert isinstance(each.value, ast.Call)
    assert isinstance(each.value.func, ast.Attribute)
    return each.value.func.attr


def _run(names: Names, lines: Sequence[str], window: Sequence[int]) -> Any:
    schedule(names, *lines)
    return np.asarray(names["f"].realize(list(window)))


def schedule(names: Names, *lines: str) -> None:
    """Runs some lines; what is wrong with one is said of a file of its own."""
    for line in lines:
        exec(compile(line, _file(line), "exec"), names)


def _file(line: str) -> str:
    return f"<{line}>"
