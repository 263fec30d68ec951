"""One C compiler beside another: the applications, compiled by each, in one run, turn by turn.

    python -m benchmarks.compilers --of gcc --other "python -m ziglang cc"
    python -m benchmarks.compilers --apps blur,sgemm --threads 2

Prints for each application the ratio of run times (the other compiler's over the first one's; below 1 the other is
faster) and the seconds of compiling, and the geometric mean. It ends with 1 where a result differs by a bit.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.apps import APPS
from benchmarks.apps.app import EXPERT
from benchmarks.measure import Prepared, Sides, measure
from benchmarks.worker import OURS


def _command(compiler: str) -> list[str]:
    """A worker whose compiler is another one."""
    program, *words = shlex.split(compiler)
    found = shutil.which(program) or program
    worker = [sys.executable, "-m", "benchmarks.worker", OURS]
    return ["env", f"CC={shlex.join([found, *words])}", *worker]


def main() -> int:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", default="gcc", help="a C compiler, with arguments")
    parser.add_argument("--other", default=f"{sys.executable} -m ziglang cc", help="the other one")
    parser.add_argument("--apps", default=",".join(APPS), help=f"of: {', '.join(APPS)}")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5, help="turns that each side gets")
    parser.add_argument("--small", action="store_true", help="the small sizes of the tests")
    given = parser.parse_args()
    unknown = [name for name in given.apps.split(",") if name not in APPS]
    if unknown or given.threads < 1 or given.repeat < 1:
        parser.error(f'there is no application "{unknown[0]}"' if unknown else "numbers must be at least 1")
    sides = Sides({"first": _command(given.of), "other": _command(given.other)})
    ratios, wrong = [], False
    with tempfile.TemporaryDirectory(prefix="compilers-") as folder:
        for name in given.apps.split(","):
            prepared = Prepared(APPS[name], "small" if given.small else "full", Path(folder))
            row = measure(sides, prepared, EXPERT, given.threads, given.repeat, check=False)
            first, other = row.outcomes["first"], row.outcomes["other"]
            results = [(Path(folder) / f"{side}.npy").read_bytes() for side in row.outcomes]
            if first.run_s is None or other.run_s is None:
                print(f"{name:16} {first.failed or other.failed}", flush=True)
                wrong = True
                continue
            wrong |= results[0] != results[1]
            ratios.append(other.run_s / first.run_s)
            told = "" if results[0] == results[1] else ", DIFFERENT"
            compiled = f"compiled in {first.compile_s:.2f} s and {other.compile_s:.2f} s"
            times = f"{1e3 * first.run_s:8.2f} ms {1e3 * other.run_s:8.2f} ms"
            print(f"{name:16} {times}  {ratios[-1]:.2f}  {compiled}{told}", flush=True)
    sides.close()
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"{len(ratios)} applications, geometric mean {mean:.2f}, worst {max(ratios):.2f}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
