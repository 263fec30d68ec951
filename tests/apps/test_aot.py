"""Pipelines as C: libraries, objects and sources that a C program links, and what it is told when it errs."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile.toolchain import find_compiler
from tests.support.aot import DESCRIBE, build, cpp, run
from tests.support.checking import Array, check_reference, image, numbers, same, variables

x, y, xo, yo, xi, yi = variables("x y xo yo xi yi")
W, H = 61, 43


def smooth() -> tuple[hl.Func, list[hl.ImageParam | hl.Param]]:
    """A pipeline with a stage between, vectors, threads, and every kind of argument."""
    source, gain = hl.ImageParam(hl.UInt(16), 2, "source"), hl.Param(hl.Float(32), "gain")
    radius = hl.Param(hl.Int(32), "radius")
    radius.set_range(0, 8)
    r = hl.RDom([(-radius, radius * 2 + 1)])
    padded = hl.BoundaryConditions.repeat_edge(source)
    across, f = hl.Func("across"), hl.Func("smooth")
    across[x, y] = hl.f32(0)
    across[x, y] += hl.f32(padded[x + r.x, y])
    f[x, y] = across[x, y - 1] * gain + across[x, y + 1]
    guard = hl.TailStrategy.GuardWithIf
    f.tile(x, y, xo, yo, xi, yi, 32, 8, guard).vectorize(xi, 8, guard).parallel(yo)
    across.compute_at(f, xo).vectorize(x, 8).update().vectorize(x, 8)
    return f, [source, gain, radius]


def picture() -> Array:
    return numbers((H, W), np.uint16)


@pytest.fixture(scope="module")
def expected() -> Array:
    """The bytes of the JIT for gain 0.3 and radius 2, which are numpy's and the reference's too."""
    f, arguments = smooth()
    for argument, value in zip(arguments, (picture(), 0.3, 2), strict=True):
        argument.set(value)  # type: ignore[arg-type]  # each its own kind
    result = np.asarray(f.realize([W, H]))
    p = np.pad(picture(), ((1, 1), (2, 2)), mode="edge").astype(np.float32)
    across = np.zeros((H + 2, W), np.float32)
    for i in range(5):
        across = across + p[:, i : i + W]
    same(result, across[:-2] * np.float32(0.3) + across[2:])
    check_reference(f, [W, H], result)
    return result


MAIN = (
    '#include "smooth.h"\n'
    + DESCRIBE
    + """
int main(int argc, char **argv) {
    enum { W = 61, H = 43 };
    static uint16_t in[W * H];
    static float out[W * H];
    halide_dimension_t a[2] = {{0, W, 1, 0}, {0, H, W, 0}}, b[2] = {{0, W, 1, 0}, {0, H, W, 0}};
    halide_buffer_t source = describe(in, halide_type_uint, 16, 2, a);
    halide_buffer_t result = describe(out, halide_type_float, 32, 2, b);
    FILE *from = fopen(argv[1], "rb"), *to = fopen(argv[2], "wb");
    if (argc != 3 || !from || !to || fread(in, 1, sizeof in, from) != sizeof in) return 100;
    halide_core_set_num_threads(3);
    const int error = smooth(&source, 0.3f, 2, &result);
    if (!error && fwrite(out, 1, sizeof out, to) != sizeof out) return 101;
    fclose(from);
    fclose(to);
    return error;
}
"""
)


def check_program(program: Path, expected: Array) -> None:
    (program.parent / "in.raw").write_bytes(picture().tobytes())
    done = run(program, "in.raw", "out.raw")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (program.parent / "out.raw").read_bytes() == expected.tobytes()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with smooth.a, smooth.h and halide_runtime.h, and nothing else."""
    folder = tmp_path_factory.mktemp("library")
    f, arguments = smooth()
    f.compile_to_static_library(str(folder / "smooth"), arguments)
    assert sorted(p.name for p in folder.iterdir()) == ["halide_runtime.h", "smooth.a", "smooth.h"]
    return folder


def test_library_gives_the_bytes_of_the_jit(library: Path, expected: Array) -> None:
    program = build(library, "main", MAIN, "smooth.a")
    check_program(program, expected)
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "python" not in needed


def test_object_gives_the_bytes_of_the_jit_when_linked_with_the_runtime(tmp_path: Path, expected: Array) -> None:
    f, arguments = smooth()
    f.compile_to_file(str(tmp_path / "smooth"), arguments)
    assert {"smooth.o", "smooth.h"} <= {p.name for p in tmp_path.iterdir()}
    f.compile_to_object(str(tmp_path / "same.o"), arguments)
    assert (tmp_path / "same.o").stat().st_size == (tmp_path / "smooth.o").stat().st_size
    check_program(build(tmp_path, "main", MAIN, "smooth.o", runtime=True), expected)


def test_c_source_gives_the_bytes_of_the_jit(tmp_path: Path, expected: Array) -> None:
    f, arguments = smooth()
    f.compile_to_c(str(tmp_path / "smooth.c"), arguments)
    f.compile_to_header(str(tmp_path / "smooth.h"), arguments)
    check_program(build(tmp_path, "main", MAIN, "smooth.c", runtime=True), expected)


def test_c_source_is_the_same_each_time(tmp_path: Path) -> None:
    texts = []
    for name in ("a.c", "b.c"):
        f, arguments = smooth()
        f.compile_to_c(str(tmp_path / name), arguments)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert "int smooth(" in texts[0]


def test_function_has_the_name_asked_for(tmp_path: Path) -> None:
    f, arguments = smooth()
    f.compile_to_header(str(tmp_path / "other.h"), arguments, "gentle_blur")
    assert "int gentle_blur(" in (tmp_path / "other.h").read_text()


def test_lowered_stmt_shows_the_loops(tmp_path: Path) -> None:
    f, arguments = smooth()
    f.compile_to_lowered_stmt(str(tmp_path / "smooth.stmt"), arguments)
    text = (tmp_path / "smooth.stmt").read_text()
    for word in ("parallel", "smooth", "across", "source"):
        assert word in text
    assert "?" not in text  # no hole is left
    f.compile_to_lowered_stmt(str(tmp_path / "smooth.html"), arguments, hl.StmtOutputFormat.HTML)
    page = (tmp_path / "smooth.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "<details open><summary>" in page


def test_header_is_c_and_cpp(library: Path, tmp_path: Path) -> None:
    text = '#include "smooth.h"\n' * 2 + "int (*f)(halide_buffer_t *, float, int32_t, halide_buffer_t *) = smooth;\n"
    commands = [[*find_compiler().command, "-std=c99"], [*cpp(), "-std=c++11"], [*cpp(), "-std=c++20"]]
    for command, suffix in zip(commands, ("c", "cpp", "cpp"), strict=True):
        source = tmp_path / f"user.{suffix}"
        source.write_text(text)
        made = ["-c", str(source), "-o", str(tmp_path / "user.o")]
        flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{library}", *made]
        done = subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_library_works_from_cpp(library: Path, expected: Array) -> None:
    text = MAIN.replace("int main(int argc", 'extern "C" int unused;\nint main(int argc')
    check_program(build(library, "main_cpp", text, "smooth.a", language="cpp"), expected)


QUERY = (
    '#include "smooth.h"\n'
    + DESCRIBE
    + """
static void show(const char *name, const halide_buffer_t *b) {
    printf("%s", name);
    for (int d = 0; d < b->dimensions; d++)
        printf(" [%d %d %d]", b->dim[d].min, b->dim[d].extent, b->dim[d].stride);
    printf("\\n");
}

int main(void) {
    float memory[8];
    halide_dimension_t a[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}}, b[2] = {{-3, 20, 1, 0}, {7, 11, 20, 0}};
    halide_buffer_t source = describe(NULL, halide_type_uint, 16, 2, a);
    halide_buffer_t result = describe(NULL, halide_type_float, 32, 2, b);
    a[0].min = 100, a[0].extent = 200, a[1].extent = 10;
    printf("%d\\n", smooth(&source, 1.0f, 2, &result));
    show("source", &source);
    show("result", &result);
    result.host = (uint8_t *)memory; /* only the input asks now */
    printf("%d\\n", smooth(&source, 1.0f, 2, &result));
    show("result", &result);
    return 0;
}
"""
)


def test_bounds_query_answers_when_host_is_null(library: Path) -> None:
    done = run(build(library, "query", QUERY, "smooth.a"))
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert lines[0] == lines[3] == "0"
    assert lines[2] == lines[4] == "result [-3 20 1] [7 11 20]"
    # The edge is repeated: what is read lies inside of what the caller said that it has.
    found = [tuple(map(int, part.split())) for part in re.findall(r"\[(.*?)\]", lines[1])]
    assert [stride for _, _, stride in found] == [1, found[0][1]]


def test_bounds_query_is_exact_when_the_input_is_a_stencil_s(tmp_path: Path) -> None:
    source, f = hl.ImageParam(hl.UInt(8), 2, "source"), hl.Func("f")
    f[x, y] = source[x - 1, 2 * y] + source[x + 2, 2 * y + 1]
    f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    f.compile_to_static_library(str(tmp_path / "f"), [source])
    text = QUERY.replace("smooth.h", "f.h").replace("smooth(&source, 1.0f, 2, &result)", "f(&source, &result)")
    text = text.replace("halide_type_float, 32", "halide_type_uint, 8").replace("uint, 16", "uint, 8")
    lines = run(build(tmp_path, "query", text, "f.a")).stdout.splitlines()
    assert lines[1] == "source [-4 23 1] [14 22 23]"
    source.reset()
    f.infer_input_bounds(hl.Buffer(hl.UInt(8), [20, 11]).translated([-3, 7]))
    bound = source.get()
    assert bound is not None
    assert [(bound.dim(d).min(), bound.dim(d).extent()) for d in (0, 1)] == [(-4, 23), (14, 22)]


TWO = (
    '#include "smooth.h"\n#include "twice.h"\n'
    + DESCRIBE
    + """
static int calls;
static void handler(int code, const char *message) {
    calls++;
    printf("%d %s\\n", code, message);
}

int main(void) {
    enum { W = 16, H = 4 };
    static uint16_t in[W * H];
    static float middle[W * H], out[W * H];
    for (int i = 0; i < W * H; i++) in[i] = (uint16_t)i;
    halide_dimension_t d[2] = {{0, W, 1, 0}, {0, H, W, 0}};
    halide_buffer_t a = describe(in, halide_type_uint, 16, 2, d), b = describe(middle, halide_type_float, 32, 2, d);
    halide_buffer_t c = describe(out, halide_type_float, 32, 2, d);
    halide_core_set_num_threads(2);
    if (smooth(&a, 0.0f, 0, &b) || twice(&b, &c)) return 1;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (out[y * W + x] != 2.0f * in[(y + 1 < H ? y + 1 : y) * W + x]) return 2;
    halide_core_set_error_handler(handler); /* one for both */
    if (smooth(NULL, 0.0f, 0, &b) != 1 || twice(NULL, &c) != 1 || calls != 2) return 3;
    return 0;
}
"""
)


def test_two_libraries_share_one_runtime_when_linked_together(library: Path) -> None:
    source, f = hl.ImageParam(hl.Float(32), 2, "source"), hl.Func("twice")
    f[x, y] = source[x, y] * 2.0
    f.parallel(y)
    f.compile_to_static_library(str(library / "twice"), [source])
    for order in (("smooth.a", "twice.a"), ("twice.a", "smooth.a")):
        done = run(build(library, "two", TWO, *order))
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert [line.split('"')[1] for line in lines] == ["smooth", "twice"]
        assert all(line.startswith("1 Pipeline") and '"source"' in line and "NULL" in line for line in lines)


BAD = (
    '#include "smooth.h"\n'
    + DESCRIBE
    + """
enum { W = 16, H = 4 };
static uint16_t in[W * H];
static float out[W * H];
static halide_dimension_t a[3], b[3];
static halide_buffer_t source, result;

static void reset(void) {
    static const halide_dimension_t d[3] = {{0, W, 1, 0}, {0, H, W, 0}, {0, 1, 1, 0}};
    memcpy(a, d, sizeof a);
    memcpy(b, d, sizeof b);
    source = describe(in, halide_type_uint, 16, 2, a);
    result = describe(out, halide_type_float, 32, 2, b);
}

static void show(int code) {
    printf("%d %s\\n", code, code ? halide_core_last_error() : "");
    for (int i = 0; i < W * H; i++)
        if (out[i] != -1.0f) printf("written\\n"), i = W * H;
    reset();
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) halide_core_quiet_errors();
    for (int i = 0; i < W * H; i++) out[i] = -1.0f;
    reset();
    show(smooth(NULL, 1.0f, 1, &result));
    show(smooth(&source, 1.0f, 1, NULL));
    source.dim = NULL, show(smooth(&source, 1.0f, 1, &result));
    source.type.bits = 8, show(smooth(&source, 1.0f, 1, &result));
    result.type.code = halide_type_int, show(smooth(&source, 1.0f, 1, &result));
    source.dimensions = 3, show(smooth(&source, 1.0f, 1, &result));
    b[1].extent = -1, show(smooth(&source, 1.0f, 1, &result));
    a[0].stride = 2, show(smooth(&source, 1.0f, 1, &result));
    show(smooth(&source, 1.0f, 9, &result));
    show(smooth(&source, 1.0f, -1, &result));
    a[0].extent = 0, show(smooth(&source, 1.0f, 1, &result));
    result.host = source.host, show(smooth(&source, 1.0f, 1, &result));
    source.flags = halide_buffer_flag_device_dirty, show(smooth(&source, 1.0f, 1, &result));
    b[0].min = 1 << 30, show(smooth(&source, 1.0f, 1, &result));
    b[0].extent = 0, show(smooth(&source, 1.0f, 1, &result));
    return 0;
}
"""
)
REFUSALS = [
    (1, ['input buffer "source"', "NULL"]),
    (1, ['output buffer "smooth"', "NULL"]),
    (1, ['"source"', "dimensions"]),
    (2, ['"source"', "uint8", "uint16"]),
    (2, ['"smooth"', "int32", "float32"]),
    (3, ['"source"', "3", "2"]),
    (4, ['"smooth"', "-1", "dimension 1"]),
    (5, ['"source"', "stride", "2"]),
    (12, ['"radius"', "8", "9"]),
    (12, ['"radius"', "0", "-1"]),
    (6, ['"source"']),
    (9, ['"source"', '"smooth"', "overlaps"]),
    (10, ['"source"', "device"]),
    (11, ['"smooth"']),
    (0, []),  # an empty window: nothing is done
]


def test_bad_arguments_are_refused_with_a_code_and_a_message(library: Path) -> None:
    program = build(library, "bad", BAD, "smooth.a")
    done = run(program, "quiet")
    assert done.stderr == ""
    assert "written" not in done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) == len(REFUSALS), done.stdout
    for line, (code, named) in zip(lines, REFUSALS, strict=True):
        assert line.split(" ")[0] == str(code), line
        assert code == 0 or 'Pipeline "smooth": ' in line
        for text in named:
            assert text in line
    loud = run(program)
    assert loud.stdout == done.stdout
    assert [f"halide_core: {line.split(' ', 1)[1]}" for line in lines[:-1]] == loud.stderr.splitlines()


HALIDE = """
/* The layout of HalideRuntime.h of Halide 21, as far as buffers go. */
#ifndef HALIDE_HALIDERUNTIME_H
#define HALIDE_HALIDERUNTIME_H
#include <stdint.h>
typedef enum halide_type_code_t { halide_type_int, halide_type_uint, halide_type_float } halide_type_code_t;
struct halide_type_t { uint8_t code, bits; uint16_t lanes; };
typedef struct halide_dimension_t { int32_t min, extent, stride; uint32_t flags; } halide_dimension_t;
typedef struct halide_buffer_t {
    uint64_t device;
    const struct halide_device_interface_t *device_interface;
    uint8_t *host;
    uint64_t flags;
    struct halide_type_t type;
    int32_t dimensions;
    halide_dimension_t *dim;
    void *padding;
} halide_buffer_t;
#endif
"""


def test_program_written_for_halide_calls_the_library(library: Path, expected: Array) -> None:
    (library / "HalideRuntime.h").write_text(HALIDE)
    check_program(build(library, "halide", '#include "HalideRuntime.h"\n' + MAIN, "smooth.a"), expected)


# Files that can't be written, arguments that are missing.


def test_nothing_is_written_when_the_folder_does_not_exist(tmp_path: Path) -> None:
    f, arguments = smooth()
    with pytest.raises(hl.HalideError) as caught:
        f.compile_to_static_library(str(tmp_path / "none" / "smooth"), arguments)
    assert str(tmp_path / "none") in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_when_one_of_the_names_is_a_folder(tmp_path: Path) -> None:
    f, arguments = smooth()
    (tmp_path / "smooth.h").mkdir()
    with pytest.raises(hl.HalideError, match=r"smooth\.h"):
        f.compile_to_static_library(str(tmp_path / "smooth"), arguments)
    assert [p.name for p in tmp_path.iterdir()] == ["smooth.h"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("function", ["shutil.copyfile", "tempfile.mkstemp"])
def test_files_stay_as_they_were_when_the_system_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, function: str
) -> None:
    f, arguments = smooth()
    old = tmp_path / "smooth.h"
    old.write_text("old")
    real: Callable[..., object] = shutil.copyfile

    def refuse(*given: object, **options: object) -> object:
        if function == "shutil.copyfile":
            real(*given)
        name = str(given[1]) if len(given) > 1 else str(options["dir"])
        raise OSError(code, os.strerror(code), name)

    monkeypatch.setattr(f"halide_core.runtime.ahead.write.{function}", refuse)
    with pytest.raises(hl.HalideError) as caught:
        f.compile_to_header(str(old), arguments)
    assert os.strerror(code) in caught.value.message
    assert str(tmp_path) in caught.value.message
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["smooth.h"]
    assert old.read_text() == "old"
    f.compile_to_header(str(old), arguments)
    assert "int smooth(" in old.read_text()


def test_nothing_is_written_when_the_pipeline_is_wrong(tmp_path: Path) -> None:
    f, arguments = smooth()
    f.vectorize(xo)  # of a length that is not a constant
    with pytest.raises(hl.ScheduleError, match="not a constant"):
        f.compile_to_static_library(str(tmp_path / "smooth"), arguments)
    assert list(tmp_path.iterdir()) == []


def test_error_when_arguments_are_missing(tmp_path: Path) -> None:
    f, arguments = smooth()
    with pytest.raises(hl.PipelineError, match='"radius"'):
        f.compile_to_header(str(tmp_path / "f.h"), arguments[:2])
    with pytest.raises(hl.PipelineError, match="1 name"):
        f.compile_to_header(str(tmp_path / "f.h"), arguments, "1 name")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["int", "main", "printf", "y1", "free", "memcpy", "expf", "bool", "class", "halide_core_par_for", "a-2", "été"],
)
def test_names_are_safe_when_c_or_a_library_knows_them_already(tmp_path: Path, name: str) -> None:
    ip, flag, f = hl.ImageParam(hl.UInt(8), 1, name), hl.Param(hl.Bool(), "flag", True), hl.Func(name)
    f[x] = ip[x] + hl.select(flag, hl.u8(hl.exp(hl.f32(ip[x]) * 0.0)), 0)
    f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    ip.set(numbers((5,), np.uint8))
    same(f.realize([5]), numbers((5,), np.uint8) + np.uint8(1))
    told = pytest.warns(hl.HalideWarning, match=f'can be called "{name}"')
    with nullcontext() if name in ("y1", "a-2") else told:
        f.compile_to_c(str(tmp_path / "f.c"), [ip, flag])
        f.compile_to_header(str(tmp_path / "f.h"), [ip, flag])
    assert (tmp_path / "f.h").read_text()


def test_embedded_image_is_the_same_as_a_parameter() -> None:
    source = numbers((6, 7), np.int16)
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = hl.Buffer(source, "data")[x, y] * 2
    g[x, y] = image(source)[x, y] * 2
    same(f.realize([7, 6]), source * np.int16(2))
    same(f.realize([7, 6]), np.asarray(g.realize([7, 6])))
