"""Linkage of pipelines: functions of C++ in namespaces, and functions that take their caller's context."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import halide_core as hl
from halide_core.ir.types import UInt
from halide_core.runtime.codegen.linkage import Linkage
from halide_core.runtime.codegen.mangling import BUFFER, POINTERS, UNKNOWN, Layers, mangle, scalar_layers
from halide_core.runtime.compile.toolchain import find_compiler
from tests.support.aot import DESCRIBE, build, cpp, run
from tests.support.checking import variables
from tests.support.symbols import symbols

x, y = variables("x y")
K = hl.OutputFileType
HOST = hl.get_host_target()
CPP = HOST.with_feature(hl.TargetFeature.CPlusPlusMangling)
CONTEXT = HOST.with_feature(hl.TargetFeature.UserContext)
LONG = HOST.bits == 64 and HOST.os is hl.TargetOS.Linux

TYPES: dict[str, Layers] = {
    "halide_buffer_t *": BUFFER,
    "const void *": UNKNOWN,
    "void **": POINTERS,
    **{
        f"{'u' * (sign is hl.UInt)}int{bits}_t": scalar_layers(sign(bits), long_is_64=LONG)
        for sign in (hl.Int, hl.UInt)
        for bits in (8, 16, 32, 64)
    },
    "float": scalar_layers(hl.Float(32), long_is_64=LONG),
    "double": scalar_layers(hl.Float(64), long_is_64=LONG),
    "bool": scalar_layers(hl.Bool(), long_is_64=LONG),
}
SIGNATURES: list[tuple[tuple[str, ...], str, list[str]]] = [
    ((), "plain", []),
    ((), "f", ["halide_buffer_t *", "halide_buffer_t *", "halide_buffer_t *"]),
    (("imaging",), "blur", ["const void *", "halide_buffer_t *", "const void *", "halide_buffer_t *"]),
    (("a", "b", "c"), "f", ["void **", "halide_buffer_t *", "void **", "const void *", "halide_buffer_t *"]),
    (("imaging",), "all", [*TYPES, *TYPES]),
    (tuple(f"n{i}" for i in range(40)), "deep", ["halide_buffer_t *", "halide_buffer_t *", "void **", "void **"]),
]


def test_symbols_are_those_of_the_cpp_compiler(tmp_path: Path) -> None:
    text = "#include <stdint.h>\nstruct halide_buffer_t;\n"
    for namespaces, name, types in SIGNATURES:
        spaces = "".join(f"namespace {n} {{ " for n in namespaces)
        text += f"{spaces}int {name}({', '.join(types)}) {{ return 0; }}{' }' * len(namespaces)}\n"
    (tmp_path / "named.cpp").write_text(text)
    subprocess.run([*cpp(), "-c", "named.cpp", "-o", "named.o"], cwd=tmp_path, check=True)
    theirs = {s.name for s in symbols(tmp_path / "named.o") if s.defined and not s.local}
    ours = {mangle(namespaces, name, [TYPES[t] for t in types]) for namespaces, name, types in SIGNATURES}
    assert ours == {name.removeprefix("_") if hl.TargetOS.OSX is HOST.os else name for name in theirs}


def added() -> tuple[hl.Func, list[Any]]:
    source, by = hl.ImageParam(hl.Int(32), 1, "source"), hl.Param(hl.UInt(8), "by")
    f = hl.Func("added")
    f[x] = source[x] + hl.i32(by)
    f.parallel(x)
    return f, [source, by]


MAIN = f"""
#include "added.h"
{DESCRIBE}
int main(void) {{
    int32_t in[5] = {{1, 2, 3, 4, 5}}, out[5];
    halide_dimension_t d = {{0, 5, 1, 0}};
    halide_buffer_t a = describe(in, halide_type_int, 32, 1, &d), b = describe(out, halide_type_int, 32, 1, &d);
    uint8_t by = 7;
    @
}}
"""


@pytest.mark.parametrize("name", ["imaging::fast::added", "added"])
@pytest.mark.parametrize("several", [False, True], ids=["one", "versions"])
def test_function_of_cpp_is_in_its_namespace(name: str, several: bool, tmp_path: Path) -> None:
    f, arguments = added()
    if several:
        if HOST.arch is not hl.TargetArch.X86:
            pytest.skip("only there can a program ask")
        plain = hl.Target(HOST.os, HOST.arch, HOST.bits).with_feature(hl.TargetFeature.CPlusPlusMangling)
        targets = [plain.with_feature(hl.TargetFeature.SSE41), plain]
        f.compile_to_multitarget_static_library(str(tmp_path / name), arguments, targets)
        for kind in ("a", "h"):
            (tmp_path / f"{name}.{kind}").rename(tmp_path / f"added.{kind}")
    else:
        files = {K.static_library: str(tmp_path / "added.a"), K.c_header: str(tmp_path / "added.h")}
        f.compile_to(files, arguments, name, CPP)
    called = name if "::" in name else f"::{name}"
    body = (
        f"void *pointers[] = {{&a, &by, &b}}; "
        f"if ({called}(&a, by, &b) || out[4] != 12 || (by = 1, {called}_argv(pointers)) || out[4] != 6) return 1; "
        f'puts({called}_metadata()->name); return 0;'
    )
    done = run(build(tmp_path, "main", MAIN.replace("@", body), "added.a", language="cpp"))
    assert (done.returncode, done.stdout) == (0, f"{name}\n")
    text = '#include "added.h"\n'
    (tmp_path / "c.c").write_text(text)
    refused = subprocess.run(
        [*find_compiler().command, "-c", "c.c"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "This header is for C++" in refused.stderr


def test_functions_of_two_namespaces_are_in_one_library(tmp_path: Path) -> None:
    modules = []
    for factor, name in ((2, "fast::scaled"), (3, "exact::scaled")):
        f = hl.Func("f")
        f[x] = x * factor
        modules.append(f.compile_to_module([], name, CPP))
        modules[-1].compile({K.c_header: str(tmp_path / f"{name[:4]}.h")})
    hl.link_modules("both", modules).compile({K.static_library: str(tmp_path / "both.a")})
    body = (
        f'#include "fast.h"\n#include "exac.h"\n{DESCRIBE}\nint main(void) {{ int32_t out[5]; '
        "halide_dimension_t d = {0, 5, 1, 0}; halide_buffer_t b = describe(out, halide_type_int, 32, 1, &d); "
        "if (fast::scaled(&b) || out[4] != 8) return 1; return exact::scaled(&b) || out[4] != 12; }\n"
    )
    assert run(build(tmp_path, "main", body, "both.a", language="cpp")).returncode == 0


@pytest.mark.parametrize("argument", ["scaled_in_context", "scaled_and_data", "embedded_data_0"])
def test_argument_has_a_name_of_a_function_inside(argument: str, tmp_path: Path) -> None:
    data, by, f = hl.Buffer(hl.Int(32), [7]), hl.Param(hl.Int(32), argument), hl.Func("f")
    data.fill(5)
    f[x] = data[x] + x * by
    f.compile_to_object(str(tmp_path / "scaled.o"), [by], "scaled", CONTEXT)
    assert (tmp_path / "scaled.o").exists()


def test_context_reaches_what_the_runtime_calls(tmp_path: Path) -> None:
    f, arguments = added()
    files = {K.static_library: str(tmp_path / "added.a"), K.c_header: str(tmp_path / "added.h")}
    f.compile_to(files, arguments, target=CONTEXT)
    declared = "int added(const void *__user_context, halide_buffer_t *source, uint8_t by"
    assert declared in (tmp_path / "added.h").read_text()
    main = MAIN.replace("int main", """
static int word, seen;
static int run_all(halide_core_task task, int64_t min, int64_t extent, void *closure) {
    seen += halide_core_user_context() == &word;
    return halide_core_default_par_for(task, min, extent, closure);
}
static void on_error(int code, const char *message) {
    (void)message;
    seen += code != 0 && halide_core_user_context() == &word ? 10 : 0;
}
int main""")
    body = """
    halide_core_set_custom_par_for(run_all);
    halide_core_set_error_handler(on_error);
    const void *context = &word;
    void *pointers[] = {&context, &a, &by, &b};
    if (added(&word, &a, by, &b) || added_argv(pointers) || out[4] != 12) return 1;
    d.extent = -1;
    if (!added(&word, &a, by, &b) || halide_core_user_context() != NULL) return 2;
    const halide_filter_argument_t *first = added_metadata()->arguments;
    printf("%d %d %s %d\\n", seen, (int)added_metadata()->num_arguments, first->name, first->type.code);
    return 0;
"""
    for language in ("c", "cpp"):
        done = run(build(tmp_path, f"main_{language}", main.replace("@", body), "added.a", language=language))
        assert (done.returncode, done.stdout) == (0, "12 4 __user_context 3\n")


def test_buffers_of_definitions_go_with_a_context(tmp_path: Path) -> None:
    table, f = hl.Buffer(hl.Int(32), [5]), hl.Func("added")
    for i in range(5):
        table[i] = 10 * i
    f[x] = table[x] + 1
    target = CONTEXT.with_feature(hl.TargetFeature.CPlusPlusMangling)
    files = {K.static_library: str(tmp_path / "added.a"), K.c_header: str(tmp_path / "added.h")}
    f.compile_to(files, [], "n::added", target)
    main = MAIN.replace("@", "(void)a, (void)by; return n::added(nullptr, &b) == 0 ? out[3] : 99;")
    assert run(build(tmp_path, "main", main, "added.a", language="cpp")).returncode == 31


def test_what_can_not_be_called_so_is_refused(tmp_path: Path) -> None:
    f, arguments = added()
    for target, has in ((CPP, "c_plus_plus_name_mangling"), (CONTEXT, "user_context")):
        with pytest.raises(hl.PipelineError, match=f"functions of C without a context; the target has {has}"):
            f.compile_to({K.python_extension: str(tmp_path / "added.abi3.so")}, arguments, target=target)
    for name in ("std::added", "a b::added", "::added"):
        with pytest.raises(hl.PipelineError, match="can't be its namespace"):
            f.compile_to({K.object: str(tmp_path / "added.o")}, arguments, name, CPP)
    assert [p.name for p in tmp_path.iterdir()] == []


def test_context_changes_nothing_that_runs_here() -> None:
    f = hl.Func("f")
    f[x] = x + 1
    assert f.realize([3], target=CONTEXT.with_feature(hl.TargetFeature.CPlusPlusMangling))[2] == 3


def test_integers_of_64_bits_are_long_where_the_system_says() -> None:
    systems = {"x86-64-linux": True, "arm-32-linux": False, "arm-64-osx": False, "x86-64-windows": False}
    for text, long in systems.items():
        linkage = Linkage.of("f", hl.Target(f"{text}-c_plus_plus_name_mangling"))
        assert linkage.long_is_64 is long
        assert scalar_layers(UInt(64), long_is_64=long) == ("m" if long else "y",)


QUERIED = MAIN.replace("int main", """
static void on_error(int code, const char *message) { printf("%d %s\\n", code, message); }
int main""")


@pytest.mark.parametrize(
    ("feature", "told"),
    [("", "0 -1 3\n"), ("no_bounds_query", 'Pipeline "added": input buffer "source" has no memory (host is NULL).')],
)
def test_no_bounds_query_is_answered_where_the_target_has_none(feature: str, told: str, tmp_path: Path) -> None:
    source, f = hl.ImageParam(hl.Int(32), 1, "source"), hl.Func("added")
    f[x] = source[x - 1] + source[x + 1]
    files = {K.static_library: str(tmp_path / "added.a"), K.c_header: str(tmp_path / "added.h")}
    f.compile_to(files, [source], target=hl.Target(f"host-{feature}" if feature else "host"))
    body = """
    (void)by; halide_core_set_error_handler(on_error);
    halide_buffer_t q = a; halide_dimension_t asked = {0, 0, 0, 0}; q.host = NULL; q.dim = &asked; d.extent = 1;
    int error = added(&q, &b);
    if (!error) printf("%d %d %d\\n", error, asked.min, asked.extent);
    d.min = 1; d.extent = 3;
    halide_dimension_t wide = {0, 5, 1, 0}; a.dim = &wide;
    return added(&a, &b) || out[0] != 4 || out[2] != 8;
    """
    done = run(build(tmp_path, "main", QUERIED.replace("@", body), "added.a"))
    assert done.returncode == 0 and told in done.stdout


def test_what_runs_here_asks_for_bounds_all_the_same() -> None:
    source, f = hl.ImageParam(hl.Int(32), 1, "source"), hl.Func("f")
    f[x] = source[x] + 1
    target = HOST.with_feature(hl.TargetFeature.NoBoundsQuery)
    assert target.supported()
    f.infer_input_bounds([4], target)
    found = source.get()
    assert found is not None and found.dim(0).extent() == 4
    assert len(f.realize([4], target).array) == 4
