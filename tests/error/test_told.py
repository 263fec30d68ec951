"""Errors and warnings where there was silence once: constants that overflow, places that nothing uses, settings without
meaning."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import halide_core as hl
from halide_core.config import check_thread_count

x = hl.Var("x")


@pytest.mark.parametrize(
    "make",
    [
        lambda: hl.i32(2147483647) + 1,
        lambda: hl.i32(-2147483647) - 2,
        lambda: hl.i32(65536) * 65536,
        lambda: hl.i64(1 << 62) * hl.i64(4),
        lambda: x + (hl.i32(1 << 20) * (hl.i32(1 << 10) + 1024)),
        lambda: -hl.i32(-2147483648),
        lambda: hl.i32(hl.i64(1) << 3) + (hl.i32(hl.u8(255)) * 16777216),
    ],
)
def test_signed_constants_that_overflow_are_an_error_at_their_line(make: Callable[[], Any]) -> None:
    f = hl.Func("f")
    with pytest.raises(hl.DefinitionError, match=r"signed arithmetic of (32|64) bits must not overflow") as caught:
        f[x] = make()
    assert caught.value.location.file == __file__
    assert not f.defined(), "nothing is left half done"
    f[x] = hl.cast(make().type(), 0)
    with pytest.raises(hl.DefinitionError, match="must not overflow"):
        f[hl.i32(make())] = 1
    with pytest.raises(hl.DefinitionError, match="must not overflow"):
        f[x] += make()
    assert f.num_update_definitions() == 0


def test_constants_of_a_reduction_overflow_too() -> None:
    with pytest.raises(hl.DefinitionError, match="must not overflow"):
        hl.RDom([(0, hl.i32(2147483647) + 1)])


def test_what_wraps_by_definition_still_does() -> None:
    f = hl.Func("f")
    f[x] = hl.i32(hl.u32(4294967295) + hl.u32(2)) + hl.i32(hl.i16(32767) + hl.i16(1)) + hl.i32(hl.u8(255) * hl.u8(3))
    assert list(f.realize([1])) == [1 - 32768 + 253]


def test_a_place_that_nothing_uses_is_told_at_its_line() -> None:
    f, g, other = hl.Func("f"), hl.Func("g"), hl.Func("other")
    g[x] = x
    other[x] = x
    f[x] = other[x] + 1
    g.compute_at(f, x)
    with pytest.warns(hl.HalideWarning, match=r'g\.compute_at\(f, x\) has no effect: "f" does not use "g"') as told:
        f.realize([3])
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g.compute_root()
        f.realize([3])
        wrapper = other.in_(f)
        wrapper.compute_at(f, x)
        f.realize([3])


@pytest.mark.parametrize("setting", ["0", "-2", "abc", "", "99999", "1.5"])
def test_a_number_of_threads_that_is_none_is_told(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_NUM_THREADS", setting)
    threads = 512 if setting == "99999" else os.cpu_count()
    with pytest.warns(hl.HalideWarning, match=f'HL_NUM_THREADS="{setting}" .* 1 to 512: parallel loops have {threads}'):
        check_thread_count()


def test_a_number_of_threads_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_NUM_THREADS", "3")
    check_thread_count()
    monkeypatch.delenv("HL_NUM_THREADS")
    check_thread_count()
