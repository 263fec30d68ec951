"""Looks for a fast schedule of an unsharp mask by measuring, and keeps it for ``schedule="tuned"``.

    python examples/autotune.py --size 2560 1920 --budget 60        a minute; once more goes on with it
    python -m halide_core tune --budget 60 SCRIPT.py                 the same for the pipelines of any script
"""

from __future__ import annotations

import argparse
from pathlib import Path

import halide_core as hl


def unsharp() -> hl.Func:
    """A picture of floats, sharpened: itself and a half of its distance from a blur of 7 by 7."""
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    near = hl.BoundaryConditions.repeat_edge(image)
    weights = [0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05]
    across, blurred, sharp = hl.Func("across"), hl.Func("blurred"), hl.Func("sharp")
    across[x, y] = sum(w * near[x + i - 3, y] for i, w in enumerate(weights))
    blurred[x, y] = sum(w * across[x, y + i - 3] for i, w in enumerate(weights))
    sharp[x, y] = 1.5 * near[x, y] - 0.5 * blurred[x, y]
    return sharp


def main() -> None:
    """Tunes what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, nargs=2, default=[2560, 1920], metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--budget", type=float, default=60.0, help="seconds (60)")
    parser.add_argument("--trials", type=int, help="candidates, at most")
    parser.add_argument("--plot", type=Path, help="an SVG file: the progress, and the model beside the measurements")
    given = parser.parse_args()
    print(hl.tune(unsharp(), given.size, budget=given.budget, trials=given.trials, plot=given.plot))


if __name__ == "__main__":
    main()
