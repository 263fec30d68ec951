"""ThreadSanitizer watches stand-alone executables made from ahead-of-time output: parallel loops in every nesting.

Each program is C of a pipeline, the C runtime with its thread pool, and a main that calls the pipeline from two threads
at once. Nothing but the executable runs: no Python, no JIT.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import find_compiler
from halide_core.runtime.crt.runtime_library import SOURCES
from tests.support.aot import DESCRIBE
from tests.support.checking import variables

x, y, xo, yo, xi, yi, t = variables("x y xo yo xi yi t")
W, H = 320, 200
GUARD = hl.TailStrategy.GuardWithIf

MAIN = """
#include "pipeline.h"
#include <pthread.h>
enum { width = %(width)d, height = %(height)d, rounds = 6 };
static int32_t results[2][height][width];
static void *call(void *number) {
    for (int round = 0; round < rounds; ++round) {
        halide_dimension_t dim[2] = {{0, width, 1, 0}, {0, height, width, 0}};
        halide_buffer_t out = describe(results[*(int *)number], 0, 32, 2, dim);
        if (pipeline(&out) != 0) {
            return number;
        }
    }
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    int numbers[2] = {0, 1}, failed = 0;
    halide_core_set_num_threads(4);
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, call, &numbers[i]);
    }
    for (int i = 0; i < 2; ++i) {
        void *error;
        pthread_join(threads[i], &error);
        failed |= error != NULL;
    }
    halide_core_shutdown_thread_pool();
    failed |= memcmp(results[0], results[1], sizeof results[0]) != 0;
    fwrite(results[0], sizeof results[0], 1, stdout);
    return failed;
}
"""


def compiler_flags(folder: Path) -> list[str]:
    """A compiler that can watch threads; skips where there is none."""
    command = [*find_compiler().command, "-std=gnu11", "-g", "-O1", "-fsanitize=thread"]
    trivial = folder / "trivial.c"
    trivial.write_text("int main(void) { return 0; }\n")
    built = subprocess.run(
        [*command, str(trivial), "-o", str(folder / "trivial")], capture_output=True, text=True, check=False
    )
    if built.returncode != 0:
        pytest.skip("the compiler has no -fsanitize=thread")
    return command


def executable(f: hl.Func, folder: Path) -> Path:
    """Makes the executable of a Func."""
    command = compiler_flags(folder)
    source, main, program = folder / "pipeline.c", folder / "main.c", folder / "program"
    f.compile_to_c(str(source), [], "pipeline")
    f.compile_to_header(str(folder / "pipeline.h"), [], "pipeline")
    main.write_text('#include "pipeline.h"\n' + DESCRIBE + MAIN % {"width": W, "height": H})
    files = [str(source), str(main), *map(str, SOURCES)]
    paths = [f"-I{folder}", f"-I{INCLUDE_FOLDER}"]
    built = subprocess.run(
        [*command, *paths, *files, "-o", str(program), "-pthread", "-lm"], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return program


def watched(program: Path) -> subprocess.CompletedProcess[bytes]:
    """Runs an executable."""
    return subprocess.run([program], env={}, capture_output=True, timeout=120, check=False)


def stencil() -> tuple[hl.Func, hl.Func]:
    """A producer, and a consumer of five points of it."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * 7 + y * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y] + g[x, y - 1] + g[x, y + 1] * 2
    return g, f


def rows() -> hl.Func:
    """One parallel loop, and a producer in another one before it."""
    g, f = stencil()
    f.parallel(y)
    g.compute_root().parallel(y)
    return f


def rows_with_memory_in_each() -> hl.Func:
    """Memory of each task's own."""
    g, f = stencil()
    f.parallel(y)
    g.compute_at(f, y).store_in(hl.MemoryType.Heap)
    return f


def tiles_in_tiles() -> hl.Func:
    """A parallel loop in a parallel loop, and a third one in what they compute."""
    g, f = stencil()
    f.tile(x, y, xo, yo, xi, yi, 16, 8, GUARD).parallel(yo).parallel(xo)
    g.compute_at(f, xo).parallel(y, 3, GUARD).vectorize(x, 4, GUARD)
    return f


def one_loop_of_two() -> hl.Func:
    """Tasks of several iterations of a fused loop."""
    g, f = stencil()
    f.fuse(x, y, t).parallel(t, 7, GUARD)
    g.compute_root().parallel(x).parallel(y)
    return f


def strips_that_slide() -> hl.Func:
    """A slide in each task, with memory that folds."""
    g, f = stencil()
    f.split(y, yo, yi, 8, GUARD).parallel(yo).vectorize(x, 4, GUARD)
    g.store_at(f, yo).compute_at(f, yi).parallel(x)
    return f


def updates() -> hl.Func:
    """Pure loops of updates, one around a reduction and one inside of it."""
    g, f = stencil()
    r = hl.RDom([(0, 9)], "r")
    f[x, y] += g[x + r.x, y] * r.x
    f[x, y] -= g[r.x, y]
    f.parallel(y)
    f.update(0).reorder(r.x, x, y).parallel(y)
    f.update(1).reorder(x, r.x, y).parallel(x).parallel(y)
    g.compute_root().parallel(y)
    return f


def rows_of_a_reduction() -> hl.Func:
    """Iterations of a reduction that are proven never to meet."""
    f, r = hl.Func("f"), hl.RDom([(0, H)], "r")
    f[x, y] = x - y
    f[x, r.x] += x * r.x
    f.update().allow_race_conditions().parallel(r.x)
    return f


def iterations_that_take_turns() -> hl.Func:
    """Updates of few points by many iterations: by instructions, and by trying again."""
    r, f = hl.RDom([(0, W), (0, H)], "r"), hl.Func("f")
    counts, products, most = hl.Func("counts"), hl.Func("products"), hl.Func("most")
    counts[x], products[x], most[x] = hl.i32(0), hl.i32(1), hl.f32(0)
    counts[(r.x + r.y) % 5] += r.x
    products[(r.x + r.y) % 5] *= r.y * 2 + 1
    most[(r.x * r.y) % 5] = hl.max(most[(r.x * r.y) % 5], hl.f32(r.x ^ r.y))
    f[x, y] = counts[x % 5] + products[y % 5] + hl.i32(most[(x + y) % 5])
    for each in (counts, products, most):
        each.compute_root().update().atomic().parallel(r.y)
    return f


def producers_beside_consumers() -> hl.Func:
    """Two producers in threads of their own, read by two: memory that folds, and pure loops in both."""
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x * 7 + y * 3
    g[x, y] = h[x, y] + h[x, y + 1]
    f[x, y] = g[x, y] + g[x, y + 2] + h[x, y]
    h.store_root().compute_at(f, y).fold_storage(y, 8).async_().parallel(x, 64, GUARD)
    g.store_root().compute_at(f, y).fold_storage(y, 5).async_()
    return f


def producers_in_tasks() -> hl.Func:
    """A producer in a thread of its own in each task of a parallel loop, and one in the tasks of a producer."""
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x * 7 + y * 3
    g[x, y] = h[x, y] + h[x, y + 1]
    f[x, y] = g[x, y] + g[x, y + 2]
    f.split(y, yo, yi, 50, GUARD).parallel(yo)
    g.store_at(f, yo).compute_at(f, yi).async_()
    h.compute_at(g, y).async_()
    return f


def rings_of_tiles() -> hl.Func:
    """Tiles whose producer is ahead, in memory for a few of them."""
    g, f = stencil()
    f.tile(x, y, xo, yo, xi, yi, 16, 8, GUARD).parallel(yo)
    g.compute_at(f, xo).hoist_storage(f, yo).ring_buffer(3).async_().vectorize(x, 4, GUARD)
    return f


PROGRAMS = [
    rows, rows_with_memory_in_each, tiles_in_tiles, one_loop_of_two, strips_that_slide, updates, rows_of_a_reduction,
    iterations_that_take_turns, producers_beside_consumers, producers_in_tasks,
    rings_of_tiles,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_no_race_is_found_in_a_program(program: Callable[[], hl.Func], tmp_path: Path) -> None:
    f = program()
    ran = watched(executable(f, tmp_path))
    assert (ran.returncode, ran.stderr) == (0, b"")
    found = np.frombuffer(ran.stdout, np.int32).reshape(H, W)
    np.testing.assert_array_equal(found, np.asarray(program().realize([W, H])))


@pytest.mark.uncertified
def test_a_race_that_is_there_is_found(tmp_path: Path) -> None:
    """A race that the tool can find, without which its silence would show nothing: here all iterations of a parallel
    loop write one row. On a busy machine one thread may run all of them before another is awake, and then there is
    none: it is tried again."""
    f, r = hl.Func("f"), hl.RDom([(0, 500), (0, 300)], "r")
    f[x, y] = x - y
    f[r.y, 0] += f[r.y + 1, 1]
    f.update().allow_race_conditions().reorder(r.y, r.x).parallel(r.x)
    program = executable(f, tmp_path)
    assert any(b"ThreadSanitizer: data race" in watched(program).stderr for _ in range(20))
