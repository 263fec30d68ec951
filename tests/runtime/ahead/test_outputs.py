"""Files beside libraries: metadata, registrations, schedules, pages; and several functions in one library."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.ahead.page import page
from halide_core.runtime.compile.target_flags import options_for
from halide_core.runtime.crt.runtime_library import runtime_object, standalone_object
from tests.support.aot import build, loaded, run
from tests.support.checking import same, variables

x, y = variables("x y")
K = hl.OutputFileType


def scaled(name: str = "scaled") -> tuple[hl.Func, list[Any]]:
    source, limit = hl.ImageParam(hl.UInt(8), 2, "source"), hl.Param(hl.Float(64), "limit")
    by = hl.Param(hl.Int(16), "by", 3)
    source.set_estimates([(0, 640), (-2, 480)])
    by.set_range(-5, 9)
    by.set_estimate(4)
    f = hl.Func(name)
    f[x, y] = hl.f64(source[x, y]) * by + limit
    f.vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    return f, [source, by, limit]


DESCRIBING = """
#include <inttypes.h>
#include <stdio.h>
#include "scaled.h"
static void show(const halide_scalar_value_t *v) {
    if (v) printf(" %d", (int)v->u.i16); else printf(" -");
}
int main(void) {
    const halide_filter_metadata_t *m = scaled_metadata();
    printf("%s %d %d %s\\n", m->name, (int)m->version, (int)m->num_arguments, m->target);
    for (int i = 0; i < m->num_arguments; i++) {
        const halide_filter_argument_t *a = &m->arguments[i];
        printf("%s %d %d %d:%d", a->name, (int)a->kind, (int)a->dimensions, a->type.code, a->type.bits);
        show(a->scalar_def), show(a->scalar_min), show(a->scalar_max), show(a->scalar_estimate);
        for (int d = 0; a->buffer_estimates && d < 2 * a->dimensions; d++) printf(" %" PRId64, *a->buffer_estimates[d]);
        printf("\\n");
    }
    return 0;
}
"""


def test_metadata_describes_the_arguments(tmp_path: Path) -> None:
    f, arguments = scaled()
    f.compile_to_static_library(str(tmp_path / "scaled"), arguments)
    for language in ("c", "cpp"):
        done = run(build(tmp_path, f"main_{language}", DESCRIBING, "scaled.a", language=language))
        assert done.stdout.splitlines() == [
            f"scaled 1 4 {hl.get_host_target()}",
            "source 1 2 1:8 - - - - 0 640 -2 480",
            "by 0 0 0:16 3 -5 9 4",
            "limit 0 0 2:64 - - - -",
            "scaled 2 2 2:64 - - - -",
        ]


def test_functions_of_one_library_share_a_runtime(tmp_path: Path) -> None:
    modules = [f.compile_to_module(a) for f, a in (scaled("one"), scaled("two"))]
    both = hl.link_modules("both", modules)
    assert both.name() == "both" and both.target() == hl.get_host_target()
    both.compile({K.static_library: str(tmp_path / "both.a"), K.c_header: str(tmp_path / "both.h")})
    text = "int main(void) { return one_metadata()->num_arguments + two_metadata()->num_arguments; }\n"
    text = f'#include "both.h"\n{text}'
    assert run(build(tmp_path, "main", text, "both.a")).returncode == 8
    with pytest.raises(hl.PipelineError, match="A file of type object holds one function, and 2 are given"):
        both.compile({K.object: str(tmp_path / "both.o")})
    with pytest.raises(hl.PipelineError, match='Two functions to be linked are called "one"'):
        hl.link_modules("twice", [modules[0], modules[0]])
    with pytest.raises(hl.PipelineError, match="takes Modules, one or more, for one target"):
        hl.link_modules("none", [])
    old, arguments = scaled("old")
    with pytest.raises(hl.PipelineError, match="for one target"):
        hl.link_modules("mixed", [modules[0], old.compile_to_module(arguments, target=hl.Target("x86-64-linux-sse41"))])


@pytest.mark.parametrize("type", [hl.UInt(8), hl.Float(32), hl.BFloat(16), hl.Bool(), hl.Int(64)], ids=str)
def test_buffers_of_definitions_are_constants(type: hl.Type, tmp_path: Path) -> None:
    array = (np.arange(15).reshape(3, 5) * 7 % 4).astype(np.uint8)
    table = hl.Buffer(type, [5, 3])
    for row, column in np.ndindex(3, 5):
        table[column, row] = int(array[row, column] != 0 if type.is_bool() else array[row, column])
    table.set_min([-2, 1])
    scale = hl.Buffer(np.array(3, np.int32))
    source, f = hl.ImageParam(hl.Int(32), 1, "embedded_0"), hl.Func("looked_up")
    f[x, y] = source[x] + hl.i32(table[x - 2, y + 1]) * scale[()]
    f.compile_to({K.python_extension: str(tmp_path / "looked_up.abi3.so"), K.c_header: str(tmp_path / "f.h")}, [source])
    assert "int looked_up(halide_buffer_t *embedded_0, halide_buffer_t *looked_up_1);" in (tmp_path / "f.h").read_text()
    given, out = np.arange(5, dtype=np.int32), np.zeros((3, 5), np.int32)
    loaded(tmp_path / "looked_up.abi3.so").looked_up(given, out)
    source.set(given)
    same(out, np.asarray(f.realize([5, 3])))
    same(out, given + (array != 0 if type.is_bool() else array).astype(np.int32) * np.int32(3))


def test_schedule_is_python_that_gives_it_again(tmp_path: Path) -> None:
    f, arguments = scaled()
    f.compile_to({K.schedule: str(tmp_path / "scaled.schedule.py")}, arguments)
    again, _ = scaled()
    wanted = hl.Schedule(again).directives()
    hl.Schedule(again).clear()
    space: dict[str, Any] = {}
    exec((tmp_path / "scaled.schedule.py").read_text(), space)
    space["schedule_scaled"](again)
    assert hl.Schedule(again).directives() == wanted != []


def test_page_has_every_line_and_folds_what_is_inside(tmp_path: Path) -> None:
    f, arguments = scaled()
    f.compile_to({K.stmt: str(tmp_path / "f.stmt"), K.stmt_html: str(tmp_path / "f.html")}, arguments)
    shown, text = (tmp_path / "f.html").read_text(), (tmp_path / "f.stmt").read_text()
    body = shown[shown.index("</p>") + 4 : shown.index("<script>")]
    lines = [html.unescape(re.sub("<[^>]*>", "", line)) for line in body.splitlines()]
    assert [line for line in lines if line] == [line.strip() for line in text.splitlines() if line.strip()]
    assert body.count("<details open>") == body.count("</details>") > 2
    assert '<span class="keyword">for</span>' in body
    assert "http" not in shown


def test_page_shows_text_as_it_is() -> None:
    shown = page("a<b", 'if a < b:\n    assert x, "<script>alert(1)</script>" # &\nend\n')
    assert "<title>a&lt;b</title>" in shown and "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert shown.count("<script>") == 1
    assert '<div class="line"><span class="name">end</span></div>\n<script>' in shown


def test_runtime_is_compiled_once(tmp_path: Path) -> None:
    first = runtime_object(options_for(None))
    stamp = first.stat().st_mtime_ns
    assert runtime_object(options_for(None)).stat().st_mtime_ns == stamp
    assert runtime_object(options_for(hl.Target("x86-64-linux-sse41"))) != first
    names = hl.compile_standalone_runtime(
        {K.object: str(tmp_path / "r.o"), K.static_library: str(tmp_path / "r.a")}, hl.Target("host")
    )
    assert names is not None and sorted(p.name for p in tmp_path.iterdir()) == ["halide_runtime.h", "r.a", "r.o"]
    assert (tmp_path / "r.o").read_bytes() == standalone_object(options_for(None)).read_bytes()
    assert hl.compile_standalone_runtime(str(tmp_path / "only.o"), hl.Target("host")) is None
    with pytest.raises(hl.NotAvailableError, match="object or static_library, not as assembly"):
        hl.compile_standalone_runtime({K.assembly: str(tmp_path / "r.s")}, hl.Target("host"))


def test_argv_takes_pointers(tmp_path: Path) -> None:
    f, arguments = scaled()
    f.compile_to({K.static_library: str(tmp_path / "scaled.a"), K.c_header: str(tmp_path / "scaled.h")}, arguments)
    text = """
#include <stdio.h>
#include <string.h>
#include "scaled.h"
int main(void) {
    uint8_t in[6] = {1, 2, 3, 4, 5, 6};
    double out[6];
    int16_t by = -2;
    double limit = 0.5;
    halide_dimension_t dim[2] = {{0, 3, 1, 0}, {0, 2, 3, 0}};
    halide_buffer_t a, b;
    memset(&a, 0, sizeof a);
    a.host = in, a.type.code = halide_type_uint, a.type.bits = 8, a.type.lanes = 1, a.dimensions = 2, a.dim = dim;
    b = a;
    b.host = (uint8_t *)out, b.type.code = halide_type_float, b.type.bits = 64;
    void *pointers[] = {&a, &by, &limit, &b};
    const int code = scaled_argv(pointers);
    for (int i = 0; i < 6; i++) printf("%g ", out[i]);
    return code;
}
"""
    done = run(build(tmp_path, "main", text, "scaled.a"))
    assert (done.returncode, done.stdout) == (0, " ".join(f"{v:g}" for v in np.arange(1, 7) * -2 + 0.5) + " ")


def test_featurization_counts_what_each_nest_does(tmp_path: Path) -> None:
    source, f, g = hl.ImageParam(hl.UInt(8), 2, "source"), hl.Func("f"), hl.Func("g")
    f[x, y] = hl.u16(source[x, y]) * 3
    g[x, y] = f[x, y] + f[x, y + 1]
    f.compute_at(g, y)
    g.bound(x, 0, 64).vectorize(x, 8).parallel(y)
    path = tmp_path / "g.featurization"
    g.compile_to({hl.OutputFileType.featurization: str(path)}, [source], "g")
    found = json.loads(path.read_text())
    assert [(a["name"], a["kind"], a["type"]) for a in found["arguments"]] == [
        ("source", "InputBuffer", "uint8"), ("g", "OutputBuffer", "uint16")
    ]  # fmt: skip
    (memory,) = found["memory"]
    assert memory == {"func": "f", "types": ["uint16"], "extents": [64, 2], "inside": "g.s0.y"}
    made, read = found["nests"]
    assert (made["func"], made["loads"], made["stores"]) == ("f", {"source": 1}, ["uint16"])
    assert made["operations"] == {"cast uint8 to uint16": 1, "mul uint16": 1}
    assert (read["func"], read["loads"], read["operations"]) == ("g", {"f": 2}, {"add uint16": 1})
    kinds = [(loop["kind"], loop["extent"]) for loop in read["loops"]]
    assert kinds == [("parallel", "g.extent.1"), ("serial", 8), ("vectorized", 8)]
