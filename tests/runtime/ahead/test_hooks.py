"""Halide's hooks on this runtime: a program that sets them by Halide's names sees errors, memory and loops."""

from __future__ import annotations

from pathlib import Path

import halide_core as hl
from tests.support.aot import DESCRIBE, build, run
from tests.support.checking import variables

x, y = variables("x y")
K = hl.OutputFileType

MAIN = f"""
#include "summed.h"
{DESCRIBE}
static int word;
static long allocated, freed, errors, loops, tasks, lines;
static int strange; /* calls without the context */
static void check(void *context) {{ strange += context != &word; }}
static void *get(void *context, size_t bytes) {{
    check(context);
    allocated += 1;
    return malloc(bytes + 1) /* not aligned */;
}}
static void give(void *context, void *pointer) {{
    check(context);
    freed += 1;
    free(pointer);
}}
static void on_error(void *context, const char *message) {{
    check(context);
    errors += strstr(message, "summed") != NULL;
}}
static int all(void *context, halide_task_t task, int min, int size, uint8_t *closure) {{
    check(context);
    loops += 1;
    for (int i = size - 1; i >= 0; --i) {{
        const int result = halide_do_task(context, task, min + i, closure);
        if (result) return result;
    }}
    return 0;
}}
static int one(void *context, halide_task_t task, int index, uint8_t *closure) {{
    check(context);
    __atomic_add_fetch(&tasks, 1, __ATOMIC_RELAXED);
    return task(context, index, closure);
}}
static void show(void *context, const char *text) {{
    check(context);
    lines += text[strlen(text) - 1] == '\\n';
}}
int main(void) {{
    static int32_t in[60 * 50], out[60 * 50];
    for (int i = 0; i < 60 * 50; ++i) in[i] = i % 97;
    halide_dimension_t d[2] = {{{{0, 60, 1, 0}}, {{0, 50, 60, 0}}}};
    halide_buffer_t a = describe(in, halide_type_int, 32, 2, d), b = describe(out, halide_type_int, 32, 2, d);
    if (summed(&word, &a, &b) != 0) return 1;
    const int32_t wanted = out[60 * 50 - 1];
    if (allocated || loops || wanted == 0) return 2;

    halide_malloc_t old_malloc = halide_set_custom_malloc(get);
    halide_free_t old_free = halide_set_custom_free(give);
    halide_error_handler_t old_handler = halide_set_error_handler(on_error);
    halide_print_t old_print = halide_set_custom_print(show);
    halide_do_par_for_t old_loop = halide_set_custom_do_par_for(all);
    halide_do_task_t old_task = halide_set_custom_do_task(one);
    if (!old_malloc || !old_free || !old_handler || !old_print || !old_loop || !old_task) return 3;
    memset(out, 0, sizeof out);
    if (summed(&word, &a, &b) != 0 || out[60 * 50 - 1] != wanted) return 4;
    if (allocated == 0 || allocated != freed || loops == 0 || tasks != 50 * loops) return 5;
    halide_core_swap_user_context(&word);
    halide_core_print("%d", 1);
    halide_core_swap_user_context(NULL);
    d[0].extent = 59; /* the input is too small */
    halide_buffer_t c = a;
    halide_dimension_t e[2] = {{{{0, 60, 1, 0}}, {{0, 50, 60, 0}}}};
    c.dim = e;
    b.dim = e;
    if (summed(&word, &a, &b) == 0 || errors != 1 || lines != 1 || strange != 0) return 6;
    halide_error(&word, "summed is a word");
    if (errors != 2) return 7;

    /* the default loop with a task of the program's own */
    halide_set_custom_do_par_for(old_loop);
    const long before = tasks;
    if (summed(&word, &c, &b) != 0 || out[60 * 50 - 1] != wanted || tasks == before || strange != 0) return 8;

    /* a block goes back to where it came from, whatever is set then */
    void *theirs = halide_malloc(&word, 10);
    const long given = freed;
    halide_set_custom_malloc(old_malloc);
    halide_set_custom_free(old_free);
    void *own = halide_malloc(&word, 10);
    halide_free(&word, theirs);
    if (freed != given + 1) return 13;
    halide_set_custom_malloc(get);
    halide_set_custom_free(give);
    halide_free(&word, own);
    if (freed != given + 1) return 14;

    /* back to what was */
    if (halide_set_custom_malloc(old_malloc) != get || halide_set_custom_free(old_free) != give) return 9;
    halide_set_custom_do_task(old_task);
    const long counted = allocated + tasks;
    if (summed(&word, &c, &b) != 0 || allocated + tasks != counted) return 10;
    void *block = halide_malloc(NULL, 1000);
    if (block == NULL || (uintptr_t)block % 128 != 0) return 11;
    halide_free(NULL, block);
    if (halide_set_num_threads(3) < 1 || halide_get_num_threads() != 3 || halide_set_num_threads(0) != 3) return 12;
    halide_shutdown_thread_pool();
    return summed(&word, &c, &b) != 0;
}}
"""


def test_hooks_are_called_with_the_context(tmp_path: Path) -> None:
    source, f, g = hl.ImageParam(hl.Int(32), 2, "source"), hl.Func("summed"), hl.Func("g")
    g[x, y] = source[x, y] * 2
    f[x, y] = g[x, y] + g[hl.clamp(x - y, 0, 59), y]
    g.compute_root().parallel(y)
    f.parallel(y)
    target = hl.get_host_target().with_feature(hl.TargetFeature.UserContext)
    files = {K.static_library: str(tmp_path / "summed.a"), K.c_header: str(tmp_path / "summed.h")}
    f.compile_to(files, [source], "summed", target)
    assert run(build(tmp_path, "main", MAIN, "summed.a")).returncode == 0


def test_libraries_of_halides_without_a_runtime_find_what_they_call(tmp_path: Path) -> None:
    f = hl.Func("one")
    f[x] = x
    f.compile_to({K.static_library: str(tmp_path / "one.a"), K.c_header: str(tmp_path / "one.h")}, [])
    theirs = """
#include "one.h"
#include <string.h>
int halide_error_bad_dimensions(void *context, const char *name, int32_t given, int32_t wanted);
int halide_error_out_of_memory(void *context);
static int word, told;
static void on_error(void *context, const char *message) {
    told += context == &word && strcmp(message, "picture has 3 dimensions, and not 2") == 0;
}
int main(void) {
    halide_set_error_handler(on_error);
    if (halide_error_bad_dimensions(&word, "picture", 3, 2) != -43 || told != 1) return 1;
    return halide_error_out_of_memory(&word) == -11 && one(0) != 0 ? 0 : 2;
}
"""
    assert run(build(tmp_path, "main", theirs, "one.a")).returncode == 0


def test_hooks_are_linked_where_they_are_called_alone(tmp_path: Path) -> None:
    f = hl.Func("one")
    f[x] = x
    f.compile_to({K.static_library: str(tmp_path / "one.a"), K.c_header: str(tmp_path / "one.h")}, [])
    own = """
#include "one.h"
static int count;
int halide_set_num_threads(int n) { return ++count + n; } /* of another runtime */
int main(void) { return one(0) == 0 ? 9 : halide_set_num_threads(4); }
"""
    assert run(build(tmp_path, "main", own, "one.a")).returncode == 5
