"""The C compiler's flags for a target: instructions, and for which machine they are chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import halide_core as hl
from halide_core.run.backend import Request
from halide_core.runtime.compile import toolchain
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
    """Unless the code is for another machine, or the request says it."""
    found(monkeypatch, "gcc", tuned=("-mtune=wide",))
    for target in None, MIDDLE:
        for given, wanted in ((), "-mtune=wide"), (("-mtune=mine",), "-mtune=mine"):
            flags = compile_options(replace(request(target), flags=given), runs_here=True).flags()
            assert [f for f in flags if f.startswith("-mtune")] == [wanted]
    assert not any(f.startswith("-mtune") for f in compile_options(request(MIDDLE), runs_here=False).flags())


@pytest.mark.parametrize("runs_here", [True, False])
def test_zig_has_one_word_for_both(runs_here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, "python", "-m", "ziglang", "cc")
    flags = compile_options(request(MIDDLE), runs_here=runs_here).flags()
    (named,) = [f for f in flags if f.startswith(("-mcpu", "-march", "-mtune"))]
    assert named.startswith("-mcpu=x86_64+") and named.endswith("+avx2+fma+f16c")


def test_what_the_request_says_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, "gcc")
    flags = compile_options(replace(request(MIDDLE), flags=("-mno-fma",)), runs_here=True).flags()
    assert flags.index("-mno-fma") > max(flags.index("-mfma"), flags.index("-mtune=native"))


@pytest.mark.parametrize(
    ("cpu", "cc", "is_told"),
    [
        ("x86_64 AuthenticAMD 25 17 avx2 avx512bw", "gcc", True),
        ("x86_64 AuthenticAMD 25 1 avx2", "gcc", False),
        ("x86_64 GenuineIntel 6 106 avx2 avx512bw", "gcc", False),
        ("x86_64 AuthenticAMD 25 17 avx2 avx512bw", "gcc -mtune=znver3", False),
        ("x86_64 AuthenticAMD 25 17 avx2 avx512bw", "gcc -march=znver3", False),
    ],
)
def test_gcc_is_told_of_processors_that_it_chooses_badly_for(
    cpu: str, cc: str, is_told: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where neither the command nor the machine is another one."""
    program, *words = cc.split()
    (tmp_path / program).touch()
    monkeypatch.setattr(toolchain, "cpu_identity", lambda: cpu)
    monkeypatch.setattr(toolchain, "cpu_features", lambda: frozenset(cpu.split()))
    monkeypatch.setattr(toolchain.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(toolchain.sys, "platform", "linux")
    assert bool(toolchain._compiler(str(tmp_path / program), words).tuned) == is_told
