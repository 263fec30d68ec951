"""Events of traces, as programs of Halide's hooks are told of them: which one each belongs to, in threads too."""

from __future__ import annotations

import os
import struct
import subprocess
from collections import Counter
from pathlib import Path

import halide_core as hl
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import variables

x, y = variables("x y")
K = hl.OutputFileType
Event = tuple[int, int, int, str, int, tuple[int, ...], float, str]
"""Its number, its code, what it belongs to, the name, the component, the coordinates, the value and the tag."""

LOAD, STORE, BEGIN, END, PRODUCE, END_PRODUCE, CONSUME, END_CONSUME, BEGIN_PIPELINE, END_PIPELINE, TAG = range(11)

MAIN = f"""
#include "shown.h"
{DESCRIBE}
static int last = 40;
static int32_t tell(void *context, const struct halide_trace_event_t *e) {{
    if (context != NULL) return 0;
    const int id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    char line[400];
    int n = sprintf(line, "%d|%d|%d|%s|%d|", id, (int)e->event, (int)e->parent_id, e->func, (int)e->value_index);
    for (int i = 0; i < e->dimensions; ++i) n += sprintf(line + n, "%d,", (int)e->coordinates[i]);
    double value = 0;
    if (e->value != NULL && e->type.lanes != 1) return 0;
    if (e->value != NULL && e->type.code == halide_type_float) value = *(const float *)e->value;
    if (e->value != NULL && e->type.code == halide_type_int) value = *(const int32_t *)e->value;
    if (e->value != NULL && e->type.code == halide_type_uint) value = *(const uint8_t *)e->value;
    sprintf(line + n, "|%g|%s\\n", value, e->trace_tag);
    fputs(line, stdout);
    return id;
}}
int main(int count, char **words) {{
    halide_trace_t before = count > 1 ? NULL : halide_set_custom_trace(tell);
    if (count == 1 && before != halide_default_trace) return 1;
    static uint8_t in[60];
    static int32_t out[8];
    for (int i = 0; i < 60; ++i) in[i] = (uint8_t)i;
    halide_dimension_t d[2] = {{{{0, 10, 1, 0}}, {{0, 6, 10, 0}}}}, e[2] = {{{{0, 4, 1, 0}}, {{0, 2, 4, 0}}}};
    halide_buffer_t a = describe(in, halide_type_uint, 8, 2, d), b = describe(out, halide_type_int, 32, 2, e);
    if (count > 1 && words[1][0] == 's') d[0].extent = 1;
    const int result = shown(&a, &b);
    halide_shutdown_trace();
    return result;
}}
"""


def program(folder: Path) -> Path:
    image, f, g = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Func("f"), hl.Func("g")
    f[x, y] = (hl.i32(image[x, y]), hl.f32(x) / 2)
    g[x, y] = f[x, y][0] + f[x + 1, y][0]
    image.trace_loads()
    f.compute_at(g, y).trace_realizations().trace_loads().trace_stores().add_trace_tag("a tag")
    g.parallel(y).trace_realizations().trace_stores()
    files = {K.static_library: str(folder / "shown.a"), K.c_header: str(folder / "shown.h")}
    g.compile_to(files, [image], "shown")
    return build(folder, "main", MAIN, "shown.a")


def parsed(line: str) -> Event:
    number, code, parent, name, component, point, value, tag = line.split("|")
    at = tuple(int(p) for p in point.split(",") if p)
    return int(number), int(code), int(parent), name, int(component), at, float(value), tag


def check(events: list[Event]) -> None:
    """Each event belongs to the one that it says, and as many are there as the schedule makes."""
    by_number = {e[0]: e for e in events}
    owners = {LOAD: CONSUME, STORE: PRODUCE, END_PRODUCE: PRODUCE, END_CONSUME: CONSUME}
    owners |= dict.fromkeys((PRODUCE, CONSUME, END), BEGIN) | dict.fromkeys((BEGIN, END_PIPELINE, TAG), BEGIN_PIPELINE)
    (pipeline,) = (e for e in events if e[1] == BEGIN_PIPELINE)
    for _, code, parent, name, _, at, _, _ in events:
        if code == BEGIN_PIPELINE:
            assert (parent, name) == (0, "shown")
            continue
        owner = by_number[parent]
        if name == "image":
            assert owner is pipeline
            continue
        assert owner[1] == owners[code]
        assert owner is pipeline or owner[3] == name
        if name == "f" and code in (LOAD, STORE):
            box = owner[5]
            assert box[0] <= at[0] < box[0] + box[1] and (at[1], 1) == box[2:]  # that of its own row
    assert Counter((e[1], e[3]) for e in events) == {
        (BEGIN_PIPELINE, "shown"): 1, (END_PIPELINE, "shown"): 1, (TAG, "f"): 1,
        **{(code, "f"): 2 for code in (BEGIN, END, PRODUCE, END_PRODUCE, CONSUME, END_CONSUME)},
        **{(code, "g"): 1 for code in (BEGIN, END, PRODUCE, END_PRODUCE)},
        (LOAD, "image"): 10, (STORE, "f"): 20, (LOAD, "f"): 16, (STORE, "g"): 8,
    }  # fmt: skip
    assert {e[7] for e in events if e[1] == TAG} == {"a tag"}
    assert {(e[5], e[6]) for e in events if e[1:5] == (STORE, e[2], "f", 1)} == {
        ((i, j), i / 2) for i in range(5) for j in range(2)
    }


def packets(data: bytes) -> list[Event]:
    """The events of a file."""
    events = []
    while data:
        size, number, code, bits, lanes, event, parent, component, dimensions = struct.unpack_from("<IiBBHIiii", data)
        assert size % 4 == 0
        at = struct.unpack_from(f"<{dimensions}i", data, 28)
        start, count = 28 + 4 * dimensions, bits // 8 * lanes
        form = {(2, 32): "<f", (0, 32): "<i", (1, 8): "<B"}.get((code, bits))
        value = struct.unpack_from(form, data, start)[0] if form and count else 0
        name, tag, _ = data[start + count : size].split(b"\0", 2)
        events.append((number, event, parent, name.decode(), component, at, value, tag.decode()))
        data = data[size:]
    return events


def test_events_tell_what_they_belong_to(tmp_path: Path) -> None:
    done = run(program(tmp_path))
    assert done.returncode == 0
    check([parsed(line) for line in done.stdout.splitlines()])

    trace = tmp_path / "trace.bin"
    command = [str(tmp_path / "main"), "file"]
    done = subprocess.run(command, env={**os.environ, "HL_TRACE_FILE": str(trace)}, check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"")
    check(packets(trace.read_bytes()))

    refused = subprocess.run([str(tmp_path / "main"), "short"], check=False, capture_output=True, text=True)
    assert refused.returncode != 0  # before it begins
    assert refused.stdout == ""
