"""A filter for a microcontroller: C without an operating system, threads, or a heap of the system's.

In: a folder. Out: in it the filter's C, the runtime's, and a program that runs one on the other, with the command that
compiles them; with ``--run`` it is compiled by this machine's compiler, as it would be for the other one, and run.

    python examples/embedded/build.py out
    python examples/embedded/build.py out --cc "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb --specs=rdimon.specs"
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import halide_core as hl
from halide_core.runtime.crt.runtime_library import SOURCES

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=gnu11", "-O2", "-DHALIDE_CORE_NO_THREADS")


def smoothed() -> tuple[hl.Func, hl.ImageParam]:
    """Samples of a sensor, smoothed over five and thinned by two; the sums of pairs are kept between."""
    x, samples = hl.Var("x"), hl.ImageParam(hl.Int(16), 1, "samples")
    at = hl.BoundaryConditions.repeat_edge(samples)
    pairs, out = hl.Func("pairs"), hl.Func("out")
    pairs[x] = hl.i32(at[x]) + at[x + 1]
    out[x] = hl.i16((pairs[2 * x - 2] + pairs[2 * x] + at[2 * x + 2]) / 5)
    pairs.compute_root()
    return out, samples


def write(folder: Path) -> list[str]:
    """Writes all C files; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    out, samples = smoothed()
    kind, target = hl.OutputFileType, hl.Target("arm-32-noos")
    files = {kind.c_source: str(folder / "smooth.c"), kind.c_header: str(folder / "smooth.h")}
    out.compile_to(files, [samples], "smooth", target)
    for path in (*SOURCES, *SOURCES[0].parent.glob("*.h"), HERE / "main.c"):
        shutil.copyfile(path, folder / path.name)
    return ["main.c", "smooth.c", *(path.name for path in SOURCES)]


def main() -> None:
    """Writes, and compiles and runs where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cc", help="a compiler, with its arguments: the program is compiled")
    parser.add_argument("--run", action="store_true", help="compile for this machine, and run")
    given = parser.parse_args()
    names = write(given.folder)
    compiler = given.cc or os.environ.get("CC", "cc")
    command = [*shlex.split(compiler), *FLAGS, *names, "-o", "program"]
    print(shlex.join(command))
    if given.cc or given.run:
        subprocess.run(command, cwd=given.folder, check=True)
    if given.run:
        print(subprocess.run([given.folder / "program"], check=True, capture_output=True, text=True).stdout, end="")


if __name__ == "__main__":
    main()
