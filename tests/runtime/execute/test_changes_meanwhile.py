"""A program that another thread changes while it is compiled: what runs, and what the cache keeps, is what it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Request
from halide_core.runtime.execute import build

x = hl.Var("x")
Emit = Callable[[Request, Lowered | None], list[str]]


def program(name: str) -> tuple[hl.Param, hl.Func]:
    p, f = hl.Param(hl.Int(32), "p", 500), hl.Func(name)
    p.set_range(0, 2000)
    f[x] = x + p * 3
    return p, f


def during(monkeypatch: pytest.MonkeyPatch, change: Callable[[int], object], *, before: bool) -> list[int]:
    """Lets something happen before or after each lowering. Returns: the calls, as they come."""
    calls: list[int] = []
    emit: Emit = build.emit

    def emitted(request: Request, made: Lowered | None = None) -> list[str]:
        calls.append(len(calls))
        if before:
            change(calls[-1])
        texts = emit(request, made)
        if not before:
            change(calls[-1])
        return texts

    monkeypatch.setattr(build, "emit", emitted)
    return calls


@pytest.mark.parametrize("before", [True, False])
def test_a_range_that_changes_while_its_program_is_compiled_is_checked(
    before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, f = program(f"meanwhile_{before}")
    calls = during(monkeypatch, lambda call: p.set_range(0, 10), before=before)
    for _ in range(2):
        with pytest.raises(hl.PipelineError, match="at most 10"):
            f.realize([3])
    assert calls == [0, 1]
    monkeypatch.undo()
    _, same = program(f"meanwhile_{before}")
    np.testing.assert_array_equal(same.realize([3]), [1500, 1501, 1502])


def test_a_schedule_that_changes_while_its_program_is_compiled_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    _, f = program("rescheduled")
    calls = during(monkeypatch, lambda call: call or f.vectorize(x, 4), before=False)
    for _ in range(2):
        np.testing.assert_array_equal(f.realize([4]), [1500, 1501, 1502, 1503])
    assert calls == [0, 1]


def test_a_program_that_changes_all_the_time_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    p, f = program("restless")
    calls = during(monkeypatch, lambda call: p.set_range(0, 1000 + call), before=False)
    with pytest.raises(hl.PipelineError, match="changed by another thread each time"):
        f.realize([3])
    assert len(calls) > 1
