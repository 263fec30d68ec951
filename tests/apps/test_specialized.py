"""Specialized pipelines as C: each case gives the reference's values, and a run without a case its error's code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.execute.jit import SPECIALIZE_FAIL
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import check_reference, numbers, same, variables

x, y, xi, yi, c = variables("x y xi yi c")

MAIN = (
    '#include "brighten.h"'
    + DESCRIBE
    + """
int main(int argc, char **argv) {
    const int channels = atoi(argv[1]);
    static uint8_t in[3 * 40 * 30], out[3 * 40 * 30];
    for (int i = 0; i < 3 * 40 * 30; i++) in[i] = (uint8_t)(i * 7);
    halide_dimension_t of_in[3] = {{0, 40, 1, 0}, {0, 30, 40, 0}, {0, channels, 1200, 0}};
    halide_dimension_t of_out[3] = {{0, 40, 1, 0}, {0, 30, 40, 0}, {0, channels, 1200, 0}};
    halide_buffer_t source = describe(in, 1, 8, 3, of_in), target = describe(out, 1, 8, 3, of_out);
    const int code = brighten(&source, 9, &target);
    if (code) {
        printf("%d %s", code, halide_core_last_error());
        return argc > 5;
    }
    unsigned sum = 0;
    for (int i = 0; i < channels * 1200; i++) sum = sum * 31 + out[i];
    printf("%u", sum);
    return 0;
}
"""
)


def brighten() -> tuple[hl.Func, hl.ImageParam, hl.Param]:
    """A pipeline with schedules for one channel and for three, and none for other numbers."""
    source, amount = hl.ImageParam(hl.UInt(8), 3, "source"), hl.Param(hl.UInt(8), "amount")
    wide, f = hl.Func("wide"), hl.Func("brighten")
    wide[x, y, c] = hl.u16(source[x, y, c]) + amount
    f[x, y, c] = hl.u8(hl.min(wide[x, y, c], 255))
    wide.compute_at(f, y).vectorize(x, 8)
    f.specialize(source.channels() == 3).reorder(c, x, y).unroll(c, 3).parallel(y)
    f.specialize(source.channels() == 1).tile(x, y, xi, yi, 8, 4).vectorize(xi)
    f.specialize_fail("only images of 1 or 3 channels")
    return f, source, amount


@pytest.mark.parametrize("channels", [1, 3])
def test_each_case_gives_the_reference(channels: int) -> None:
    f, source, amount = brighten()
    source.set(numbers((channels, 30, 40), np.uint8))
    amount.set(9)
    result = np.asarray(f.realize([40, 30, channels]))
    check_reference(f, [40, 30, channels], result)


def test_run_without_a_case_ends_with_the_message() -> None:
    f, source, amount = brighten()
    source.set(numbers((2, 30, 40), np.uint8))
    amount.set(9)
    with pytest.raises(hl.SpecializeFailError, match="only images of 1 or 3 channels"):
        f.realize([40, 30, 2])


def test_cases_in_a_stand_alone_program(tmp_path: Path) -> None:
    f, source, amount = brighten()
    f.compile_to_static_library(str(tmp_path / "brighten"), [source, amount], "brighten")
    program = build(tmp_path, "main", MAIN, "brighten.a")
    for channels in (1, 3):
        data = (np.arange(channels * 1200, dtype=np.int64) * 7 % 256).astype(np.uint8)
        total = 0
        for value in np.minimum(data.astype(int) + 9, 255):
            total = (total * 31 + int(value)) % 2**32
        assert run(program, str(channels)).stdout == str(total)
    assert run(program, "2").stdout.startswith(f"{SPECIALIZE_FAIL} ")
    assert "only images of 1 or 3 channels" in run(program, "2").stdout


def test_code_is_that_of_the_header() -> None:
    header = (Path(INCLUDE_FOLDER) / "halide_runtime.h").read_text(encoding="utf-8")
    assert f"halide_core_error_specialize_fail = {SPECIALIZE_FAIL}" in header


def test_callable_takes_the_case_of_its_arguments() -> None:
    f, source, amount = brighten()
    brightened = f.compile_to_callable([source, amount])
    for channels in (1, 3):
        data, out = numbers((channels, 30, 40), np.uint8), np.zeros((channels, 30, 40), np.uint8)
        brightened(data, 9, out)
        same(out, np.minimum(data.astype(int) + 9, 255).astype(np.uint8))
