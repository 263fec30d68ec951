"""One function for several targets: the first version that the processor can run is called."""

from __future__ import annotations

from pathlib import Path

import pytest

import halide_core as hl
from halide_core.generate import command_line
from halide_core.runtime.ahead.choice import BITS, SUPPORT
from tests.support.aot import build, run
from tests.support.gallery import gallery

HOST = hl.get_host_target()
PLAIN = hl.Target(HOST.os, HOST.arch, HOST.bits)
SSE = PLAIN.with_feature(hl.TargetFeature.SSE41)
NEVER = PLAIN.with_feature(hl.TargetFeature.FMA4).with_feature(hl.TargetFeature.AVX512_SapphireRapids)
"""Instructions that no processor has together."""

pytestmark = pytest.mark.skipif(HOST.arch is not hl.TargetArch.X86, reason="only there can a program ask")

MAIN = """
#include "twice.h"
#include <stdio.h>
#include <string.h>
int main(void) {
    int32_t in[7] = {1, 2, 3, 4, 5, 6, 7}, out[7];
    halide_dimension_t d = {0, 7, 1, 0};
    const halide_type_t type = {halide_type_int, 32, 1};
    halide_buffer_t a = {0, 0, (uint8_t *)in, 0, type, 1, &d, 0}, b = {0, 0, (uint8_t *)out, 0, type, 1, &d, 0};
    void *pointers[] = {&a, &b};
    const int code = twice(&a, &b);
    if (code || twice_argv(pointers)) {
        puts(halide_core_last_error());
        return code;
    }
    printf("%s %d %s\\n", twice_metadata()->name, out[6], twice_metadata()->target);
    return 0;
}
"""


def twice() -> tuple[hl.Func, hl.ImageParam]:
    x, f, image = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.Int(32), 1, "twice")  # named as the function is
    f[x] = image[x] * 2
    f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    return f, image


@pytest.mark.parametrize(
    ("targets", "chosen"), [([NEVER, SSE, PLAIN], SSE), ([NEVER, PLAIN], PLAIN), ([SSE, PLAIN], SSE), ([PLAIN], PLAIN)]
)
def test_first_version_that_runs_is_called(tmp_path: Path, targets: list[hl.Target], chosen: hl.Target) -> None:
    f, image = twice()
    f.compile_to_multitarget_static_library(str(tmp_path / "twice"), [image], targets)
    done = run(build(tmp_path, "main", MAIN, "twice.a"))
    assert (done.returncode, done.stdout) == (0, f"twice 14 {chosen}\n")


def test_processor_that_can_run_none_is_told(tmp_path: Path) -> None:
    f, image = twice()
    f.compile_to_multitarget_static_library(str(tmp_path / "twice"), [image], [NEVER])
    done = run(build(tmp_path, "main", MAIN, "twice.a"))
    assert done.returncode != 0
    assert 'Pipeline "twice": no version of it is for this processor.' in done.stdout


def test_objects_are_a_file_a_version(tmp_path: Path) -> None:
    f, image = twice()
    prefix = str(tmp_path / "twice")
    f.compile_to_multitarget_object_files(prefix, [image], [SSE, PLAIN], ["quick", "base"])
    objects = ["twice-base.o", "twice-quick.o", "twice_runtime.o", "twice_wrapper.o"]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["halide_runtime.h", "twice.h", *objects])
    assert run(build(tmp_path, "main", MAIN, *objects)).stdout == f"twice 14 {SSE}\n"


def test_versions_are_called_by_their_targets(tmp_path: Path) -> None:
    f, image = twice()
    prefix, suffixes = str(tmp_path / "twice"), ["x86-64-sse41", "x86-64"]
    f.compile_to_multitarget_object_files(prefix, [image], [SSE, PLAIN], suffixes)
    objects = [*(f"twice-{suffix}.o" for suffix in suffixes), "twice_runtime.o", "twice_wrapper.o"]
    assert run(build(tmp_path, "main", MAIN, *objects)).stdout == f"twice 14 {SSE}\n"
    with pytest.raises(hl.HalideError, match="suffixes of targets differ"):
        f.compile_to_multitarget_object_files(prefix, [image], [SSE, PLAIN], ["a-b", "a_b"])


def test_generator_is_made_for_each_target(tmp_path: Path) -> None:
    words = ["-g", "axpy", "-f", "sum", "-o", str(tmp_path), f"target={NEVER},{SSE},{PLAIN}"]
    with gallery():
        assert command_line.run([*words, "-e", "static_library,c_header,registration"]) == 0
    text = '#include "sum.h"\n#include <stdio.h>\nint main(void) {\n    float out;\n'
    text += "    halide_buffer_t b = {0, 0, (uint8_t *)&out, 0, {halide_type_float, 32, 1}, 0, 0, 0};\n"
    text += '    const int code = sum(2.0f, 3.0f, 0.5f, &b);\n    printf("%g\\n", out);\n    return code;\n}\n'
    assert run(build(tmp_path, "main", text, "sum.a")).stdout == "6.5\n"


def test_versions_have_their_data(tmp_path: Path) -> None:
    x, f = hl.Var("x"), hl.Func("f")
    data = hl.Buffer(hl.Int(32), [7])
    data.fill(5)
    f[x] = data[x] + x
    f.compile_to_multitarget_static_library(str(tmp_path / "thrice"), [], [NEVER, SSE, PLAIN])
    text = '#include "thrice.h"\nint main(void) {\n    int32_t out[7];\n    halide_dimension_t d = {0, 7, 1, 0};\n'
    text += "    halide_buffer_t b = {0, 0, (uint8_t *)out, 0, {halide_type_int, 32, 1}, 1, &d, 0};\n"
    text += "    return thrice(&b) ? 1 : out[6];\n}\n"
    assert run(build(tmp_path, "main", text, "thrice.a")).returncode == 11


def test_argument_has_a_name_of_what_chooses(tmp_path: Path) -> None:
    x, f = hl.Var("x"), hl.Func("f")
    chosen, version = hl.Param(hl.Int(32), "chosen"), hl.Param(hl.Int(32), "twice_sse41")
    f[x] = x + chosen + version
    f.compile_to_multitarget_static_library(str(tmp_path / "twice"), [chosen, version], [SSE, PLAIN])
    assert (tmp_path / "twice.a").exists()


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    f, image = twice()
    prefix = str(tmp_path / "twice")
    with pytest.raises(hl.HalideError, match="are for one machine"):
        f.compile_to_multitarget_static_library(prefix, [image], [PLAIN, "arm-64-linux"])
    with pytest.raises(hl.HalideError, match="given twice"):
        f.compile_to_multitarget_static_library(prefix, [image], [SSE, SSE])
    with pytest.raises(hl.HalideError, match="needs one at least"):
        f.compile_to_multitarget_static_library(prefix, [image], [])
    with pytest.raises(hl.HalideError, match="2 targets have 2 suffixes"):
        f.compile_to_multitarget_object_files(prefix, [image], [SSE, PLAIN], ["one"])
    with pytest.raises(hl.HalideError, match="not one of wrapper, runtime, argv, metadata"):
        f.compile_to_multitarget_object_files(prefix, [image], [SSE, PLAIN], ["wrapper", "other"])
    with pytest.raises(hl.HalideError, match="chosen at run time on x86 only"):
        f.compile_to_multitarget_static_library(prefix, [image], ["arm-64-linux", "arm-64-linux-sve"])
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="nothing else tells of the processor")
def test_processor_has_what_the_system_says(tmp_path: Path) -> None:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    says = next(line for line in text.splitlines() if line.startswith("flags")).split()
    asked = "".join(f'    printf("{name} %d\\n", processor_has({bits}));\n' for name, bits in BITS.items())
    main = f'{SUPPORT.read_text(encoding="utf-8")}\n#include <stdio.h>\nint main(void) {{\n{asked}    return 0;\n}}\n'
    told = dict(line.split() for line in run(build(tmp_path, "main", main)).stdout.splitlines())
    assert told == {name: str(int(name in says)) for name in BITS}
