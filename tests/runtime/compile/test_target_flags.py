"""The C compiler's flags for a target: instructions, and for which machine they are chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

import halide_core as hl
from halide_core.run.backend import Request
from halide_core.runtime.compile.target_flags import compile_options
from halide_core.runtime.compile.toolchain import Compiler
from tests.support.targets import MIDDLE


def request(target: hl.Target | None) -> Request:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    return f._request(target=target)


def found(monkeypatch: pytest.MonkeyPatch, *command: str, tuned: tuple[str, ...] = ()) -> None:
    """Flags are in the words of this compiler, whichever is installed."""
    named = Compiler(command, " ".join(command), tuned=tuned)
    monkeypatch.setattr("halide_core.runtime.compile.target_flags.find_compiler", lambda: named)


@pytest.mark.parametrize("runs_here", [True, False])
def test_without_a_target_it_is_this_machine(runs_here: bool) -> None:
    flags = compile_options(request(None), runs_here=runs_here).flags()
    assert "-march=native" in flags and "-mtune=native" not in flags


@pytest.mark.parametrize("runs_here", [True, False])
def test_named_instructions_are_tuned_for_where_they_run(runs_here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, "gcc")
    flags = compile_options(request(MIDDLE), runs_here=runs_here).flags()
    assert {"-march=x86-64", "-mavx2", "-mfma"} <= set(flags) and "-march=native" not in flags
    assert ("-mtune=native" in flags) == runs_here


def test_a_compiler_that_chooses_badly_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the code is for another machine; what the request says still comes last."""
    found(monkeypatch, "gcc", tuned=("-mtune=wide",))
    for target in None, MIDDLE:
        flags = compile_options(replace(request(target), flags=("-mtune=mine",)), runs_here=True).flags()
        assert [f for f in flags if f.startswith("-mtune")] == ["-mtune=wide", "-mtune=mine"]
    assert not any(f.startswith("-mtune") for f in compile_options(request(MIDDLE), runs_here=False).flags())


@pytest.mark.parametrize("runs_here", [True, False])
def test_zig_has_one_word_for_both(runs_here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, "python", "-m", "ziglang", "cc")
    flags = compile_options(request(MIDDLE), runs_here=runs_here).flags()
    (named,) = [f for f in flags if f.startswith(("-mcpu", "-march", "-mtune"))]
    assert named.startswith("-mcpu=x86_64+") and named.endswith("+avx2+fma+f16c")


def test_what_the_request_says_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, "gcc")
    flags = compile_options(replace(request(MIDDLE), flags=("-mtune=generic",)), runs_here=True).flags()
    assert flags.index("-mtune=generic") > flags.index("-mtune=native")
