"""The campaign: ``python -m tests.campaigns.targets [TARGET …] [--apps NAME,…]``; see the package."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import halide_core as hl
from benchmarks.apps import APPS
from benchmarks.apps.app import EXPERT, App, Array, Built
from tests.campaigns.targets.machines import MACHINES, Machine

RUN_ANY = Path(__file__).resolve().parents[2] / "support" / "run_any.h"
PROGRAM = """
#include "run_any.h"
#include "pipeline.h"
int main(int argc, char **argv) {
    (void)argc;
    return run_any(pipeline_argv, pipeline_metadata(), argv + 1);
}
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.campaigns.targets", description="The applications elsewhere.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(MACHINES)}; all, if none is named")
    parser.add_argument("--apps", default=",".join(APPS), metavar="NAMES", help="with commas between them (all)")
    return parser.parse_args()


def _built(app: App) -> Built:
    built = app.build(hl, app.sizes["small"])
    app.schedules[EXPERT](built)
    return built


def _expected(app: App) -> Array:
    """The values that this machine computes."""
    built, out = _built(app), app.empty_output(app.sizes["small"])
    built.output.compile_to_callable(list(built.arguments))(*app.inputs(app.sizes["small"]), out)
    return out


def _word(path: str, array: Array) -> str:
    return f"{path}:" + ",".join(map(str, reversed(array.shape)))


def _inputs(app: App, folder: Path) -> list[str]:
    words = []
    for i, value in enumerate(app.inputs(app.sizes["small"])):
        if isinstance(value, np.ndarray):
            (folder / f"in_{i}.raw").write_bytes(np.ascontiguousarray(value).tobytes())
            words.append(_word(f"in_{i}.raw", value))
        else:
            words.append(float(value).hex() if isinstance(value, float) else str(value))
    return words


def _compare(app: App, target: str, machine: Machine, folder: Path) -> str:
    """The outcome of an application there."""
    built, kind, wanted = _built(app), hl.OutputFileType, _expected(app)
    files = {
        kind.static_library: str(folder / "pipeline.a"),
        kind.c_header: str(folder / "pipeline.h"),
        kind.assembly: str(folder / "pipeline.s"),
    }
    built.output.compile_to(files, list(built.arguments), "pipeline", hl.Target(target))
    source, program = folder / "main.c", folder / "program"
    source.write_text(PROGRAM, encoding="ascii")
    shutil.copyfile(RUN_ANY, folder / "run_any.h")
    machine.link(source, folder / "pipeline.a", program)
    # zig's comments about places may end within a character
    assembly = (folder / "pipeline.s").read_text(encoding="utf-8", errors="replace")
    counted = "{} of {} instructions are of vectors".format(*machine.vectors(assembly))
    if not machine.runner:
        return f"linked    {counted}"
    done = machine.run(program, [*_inputs(app, folder), _word("out.raw", wanted)])
    if done.returncode != 0:
        return f"FAILED: status {done.returncode} {done.stdout}{done.stderr}"
    found = np.frombuffer((folder / "out.raw").read_bytes(), wanted.dtype).reshape(wanted.shape)
    if found.tobytes() != np.ascontiguousarray(wanted).tobytes():
        return f"DIFFERENT: {int(np.count_nonzero(found != wanted))} of {wanted.size} values"
    return f"equal     {counted}"


def main() -> int:
    """Compares; 0 where all bytes are equal."""
    given = _arguments()
    fine = True
    for target in given.targets or MACHINES:
        machine = MACHINES[target]
        if missing := machine.missing():
            sys.stdout.write(f'{target:28} NOT RUN: there is no "{missing}" on $PATH\n')
            fine = False
            continue
        for name in given.apps.split(","):
            with tempfile.TemporaryDirectory(prefix="halide_core_targets_") as folder:
                told = _compare(APPS[name], target, machine, Path(folder))
            sys.stdout.write(f"{target:28} {name:16} {told}\n")
            sys.stdout.flush()
            fine = fine and told.startswith(("equal", "linked"))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
