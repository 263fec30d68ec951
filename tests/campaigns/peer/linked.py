"""A library that Halide made in one program with one of ours: both orders, hooks, and one runtime for both.

In: Halide's Python. Out: a line for each program, and 0 where all outputs are equal and hooks count what they should.

    python -m tests.campaigns.peer.linked --peer .venv-peer/bin/python
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import halide_core as hl
from tests.support.aot import cpp

_GENERATOR = """
import sys
import {package} as hl
folder, name, feature = sys.argv[1:]
x, y = hl.Var("x"), hl.Var("y")
source, by, f, g = hl.ImageParam(hl.Int(32), 2, "source"), hl.Param(hl.Int(32), "by"), hl.Func("f"), hl.Func("g")
g[x, y] = source[x, y] * by
f[x, y] = g[x, y] + g[hl.clamp(x - y, 0, 59), y]
g.compute_root().parallel(y)
f.parallel(y).vectorize(x, 8, hl.TailStrategy.GuardWithIf)
target = hl.get_host_target()
if feature:
    target = target.with_feature(getattr(hl.TargetFeature, feature))
kinds = hl.OutputFileType.static_library, hl.OutputFileType.c_header
files = {{kind: f"{{folder}}/{{name}}{{end}}" for kind, end in zip(kinds, (".a", ".h"))}}
f.compile_to(files, [source, by], name.partition("_")[0], target)
"""

_MAIN = """
#include "theirs.h"
#include "ours.h"
#include <HalideBuffer.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static std::atomic<long> taken, given, tasks, errors;
static void *take(void *, size_t bytes) {
    taken += 1;
    void *whole = malloc(bytes + 256);
    char *used = (char *)(((uintptr_t)whole + 256) & ~(uintptr_t)127);
    ((void **)used)[-1] = whole;
    return used;
}
static void give(void *, void *pointer) {
    given += 1;
    free(((void **)pointer)[-1]);
}
static int loop(void *context, halide_task_t task, int min, int size, uint8_t *closure) {
    for (int i = 0; i < size; ++i) {
        tasks += 1;
        if (int result = task(context, min + i, closure)) return result;
    }
    return 0;
}
static void refused(void *, const char *) { errors += 1; }

int main(int count, char **) {
    if (count > 1) {
        halide_set_custom_malloc(take);
        halide_set_custom_free(give);
        halide_set_custom_do_par_for(loop);
    }
    Halide::Runtime::Buffer<int32_t> in(60, 50), a(60, 50), b(60, 50), large(61, 50);
    in.for_each_element([&](int x, int y) { in(x, y) = x * 31 + y * 17; });
    int wrong = 0;
    for (int by = 0; by < 100; ++by) {
        a.fill(-1);
        b.fill(-2);
        if (theirs(in, by, a) || ours(in, by, b) || memcmp(a.data(), b.data(), a.size_in_bytes())) wrong += 1;
    }
    printf("wrong %d taken %ld given %ld tasks %ld", wrong, (long)taken, (long)given, (long)tasks);
    halide_set_error_handler(refused);
    const int first = theirs(in, 1, large), second = ours(in, 1, large);
    printf(" refused %d %d errors %ld\\n", first != 0, second != 0, (long)errors);
    return wrong != 0 || first == 0 || second == 0;
}
"""

RUNS, TASKS, BLOCKS = 100, 100, 1
"""Runs of each function in a program, and the tasks and blocks of memory of one."""


def make_libraries(peer: str, folder: Path) -> None:
    """Writes ``theirs.a`` and ``ours.a``, each with its runtime, and ``theirs_bare.a`` and ``ours_bare.a`` without."""
    for python, package, owner in ((peer, "halide", "theirs"), (sys.executable, "halide_core", "ours")):
        text = _GENERATOR.format(package=package)
        for name, feature in ((owner, ""), (f"{owner}_bare", "NoRuntime")):
            subprocess.run([python, "-W", "ignore", "-c", text, str(folder), name, feature], check=True)
    hl.compile_standalone_runtime({hl.OutputFileType.static_library: str(folder / "runtime.a")}, hl.get_host_target())


def build(peer: str, folder: Path, name: str, linked: Sequence[str]) -> Path:
    """A program of the libraries, in this order."""
    told = subprocess.run(
        [peer, "-c", "import halide; print(halide.install_dir())"], check=True, capture_output=True, text=True
    )
    include = Path(told.stdout.strip(), "include")
    (folder / "main.cpp").write_text(_MAIN)
    program = folder / name
    halides = [f"-I{include}", "-include", str(include / "HalideRuntime.h")]
    command = [*cpp(), "-std=c++17", "-O1", "-w", *halides, f"-I{folder}"]
    files = [str(folder / file) for file in ("main.cpp", *linked)]
    subprocess.run([*command, *files, "-o", str(program), "-lpthread", "-ldl", "-lm"], check=True)
    return program


PROGRAMS = {
    "ours first": ("ours.a", "theirs.a"),
    "theirs first": ("theirs.a", "ours.a"),
    "our runtime alone": ("ours.a", "theirs_bare.a", "ours.a"),
    "our runtime, of its own": ("theirs_bare.a", "ours_bare.a", "runtime.a"),
}
SERVED = {"ours first": 2, "theirs first": 1, "our runtime alone": 2, "our runtime, of its own": 2}
"""The number of functions, of two, that hooks by Halide's names serve in each program."""


def check(program: Path, words: Sequence[str], *, served: int) -> tuple[str, bool]:
    """The line that a program printed; true where it is as it should be."""
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False, timeout=300)
    line = done.stdout.strip()
    blocks, tasks = (served * RUNS * each if words else 0 for each in (BLOCKS, TASKS))
    expected = f"wrong 0 taken {blocks} given {blocks} tasks {tasks} refused 1 1 errors {served}"
    return line or done.stderr.strip(), done.returncode == 0 and line == expected


def main(words: Sequence[str]) -> int:
    """Builds and runs the programs. Returns: how many are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True, help="the Python that has Halide 21")
    peer = parser.parse_args(words).peer
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="halide_core_") as name:
        folder = Path(name)
        make_libraries(peer, folder)
        for title, linked in PROGRAMS.items():
            program = build(peer, folder, title.replace(" ", "_").replace(",", ""), linked)
            for given in ([], ["hooks"]):
                line, right = check(program, given, served=SERVED[title])
                wrong += not right
                sys.stdout.write(f"{', '.join([title, *given])}: {'' if right else 'WRONG '}{line}\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
