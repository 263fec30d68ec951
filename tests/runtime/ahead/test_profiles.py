"""Profiles of pipelines in libraries, by the names and types of Halide's profiler."""

from __future__ import annotations

from pathlib import Path

import halide_core as hl
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import variables

x, y = variables("x y")
K = hl.OutputFileType

MAIN = f"""
#include "slow.h"
{DESCRIBE}
static struct halide_profiler_func_stats *find(struct halide_profiler_pipeline_stats *p, const char *name) {{
    for (int i = 0; i < p->num_funcs; ++i) {{
        if (strcmp(p->funcs[i].name, name) == 0) return p->funcs + i;
    }}
    return NULL;
}}
int main(int count, char **words) {{
    (void)words;
    static int32_t out[200 * 40];
    halide_dimension_t d[2] = {{{{0, 200, 1, 0}}, {{0, 40, 200, 0}}}};
    halide_buffer_t b = describe(out, halide_type_int, 32, 2, d);
    if (halide_profiler_get_state()->pipelines != NULL || halide_profiler_get_pipeline_state("slow") != NULL) return 1;
    for (int i = 0; i < 3; ++i) {{
        if (slow(&b) != 0) return 2;
    }}
    struct halide_profiler_state *s = halide_profiler_get_state();
    struct halide_profiler_pipeline_stats *p = s->pipelines;
    if (p == NULL || p->next != NULL || strcmp(p->name, "slow") != 0 || p->runs != 3) return 3;
    if (p != halide_profiler_get_pipeline_state("slow") || strcmp(p->funcs[0].name, "overhead") != 0) return 4;
    struct halide_profiler_func_stats *made = find(p, "made");
    if (made == NULL || find(p, "slow") == NULL || made->time == 0 || p->time == 0) return 5;
    if (made->num_allocs != 3 || p->num_allocs != 3 || made->memory_current != 0) return 6;
    if (made->memory_peak < 200 * 40 * 4 || made->memory_total != 3 * made->memory_peak) return 7;
    if (p->memory_peak != made->memory_peak || p->memory_total != made->memory_total) return 8;
    if (count > 1) return 0;
    halide_profiler_reset();
    return halide_profiler_get_state()->pipelines == NULL ? 0 : 9;
}}
"""


def test_profiles_are_told_by_halides_names_and_at_the_end(tmp_path: Path) -> None:
    made, slow = hl.Func("made"), hl.Func("slow")
    made[x, y] = x * y
    slow[x, y] = made[x, y] + made[y, x % 40]
    made.compute_root()
    target = hl.get_host_target().with_feature(hl.TargetFeature.Profile)
    slow.bound(x, 0, 200).bound(y, 0, 40)
    files = {K.static_library: str(tmp_path / "slow.a"), K.c_header: str(tmp_path / "slow.h")}
    slow.compile_to(files, [], "slow", target)
    program = build(tmp_path, "main", MAIN, "slow.a")
    done = run(program)
    assert (done.returncode, done.stdout) == (0, "")
    done = run(program, "report")
    assert done.returncode == 0
    first, *lines = done.stdout.splitlines()
    assert first == "slow"
    assert [line.split(":")[0].strip() for line in lines] == [
        "total time", "average threads used", "heap allocations", "overhead", "made", "slow"
    ]  # fmt: skip
