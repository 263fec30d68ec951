"""A separable box blur of a photograph, its window size a Param, under five schedules.

    python examples/blur_photo.py              time and check all five, write the pictures
    python examples/blur_photo.py --explain    how the tiled one was lowered, scheduled and bounded

The algorithm is written once. A schedule says only when and where its parts are computed, so all five must give the
same bytes, which are compared with numpy, with each other, and on a part of the picture with the reference semantics.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from photograph import photograph, save
from rich.console import Console
from rich.table import Table

import halide_core as hl

RADIUS = 4


@dataclass(frozen=True)
class Blur:
    """The algorithm: the image across, then down, then the mean of the window."""

    image: hl.ImageParam
    radius: hl.Param
    padded: hl.Func
    across: hl.Func
    down: hl.Func
    mean: hl.Func
    x: hl.Var
    y: hl.Var
    c: hl.Var


def algorithm() -> Blur:
    """The Funcs, not scheduled yet."""
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
    image = hl.ImageParam(hl.UInt(8), 3, "photo")
    radius = hl.Param(hl.Int(32), "radius", RADIUS)
    radius.set_range(0, 64)
    padded = hl.BoundaryConditions.repeat_edge(image)
    width = radius * 2 + 1
    window = hl.RDom([(-radius, width)], "window")

    across, down, mean = hl.Func("across"), hl.Func("down"), hl.Func("mean")
    across[x, y, c] = hl.u32(0)
    across[x, y, c] += hl.u32(padded[x + window.x, y, c])
    down[x, y, c] = hl.u32(0)
    down[x, y, c] += across[x, y + window.x, c]
    area = hl.u32(width * width)
    mean[x, y, c] = hl.u8((down[x, y, c] + area // 2) // area)
    return Blur(image, radius, padded, across, down, mean, x, y, c)


def root(b: Blur) -> None:
    """Each Func whole before the next."""
    b.across.compute_root()
    b.down.compute_root()


def root_vectors(b: Blur) -> None:
    """The same order, sixteen points at a time; the padded picture is stored, so that vectors read it densely."""
    root(b)
    b.padded.compute_root()
    for f in (b.across, b.down, b.mean):
        f.vectorize(b.x, 16)
    for f in (b.across, b.down):
        f.update().vectorize(b.x, 16)


def rows(b: Blur) -> None:
    """The second pass row by row, just before the row is needed; rows in parallel."""
    b.padded.compute_root()
    b.across.compute_root()
    b.down.compute_at(b.mean, b.y)
    b.mean.parallel(b.y).vectorize(b.x, 16)
    b.down.vectorize(b.x, 16).update().vectorize(b.x, 16)
    b.across.vectorize(b.x, 16).update().vectorize(b.x, 16)


def tiles(b: Blur) -> None:
    """Both passes tile by tile."""
    xo, yo, xi, yi = hl.Var("xo"), hl.Var("yo"), hl.Var("xi"), hl.Var("yi")
    b.mean.tile(b.x, b.y, xo, yo, xi, yi, 256, 32)
    b.down.compute_at(b.mean, xo)
    b.across.compute_at(b.mean, xo)


def parallel_tiles(b: Blur) -> None:
    """Both passes tile by tile, rows of tiles in parallel, sixteen points at a time."""
    xo, yo, xi, yi = hl.Var("xo"), hl.Var("yo"), hl.Var("xi"), hl.Var("yi")
    b.mean.tile(b.x, b.y, xo, yo, xi, yi, 256, 32).vectorize(xi, 16).parallel(yo)
    b.padded.compute_at(b.mean, xo)
    for f in (b.across, b.down):
        f.compute_at(b.mean, xo).vectorize(b.x, 16)
        f.update().vectorize(b.x, 16)


SCHEDULES: dict[str, Callable[[Blur], None]] = {
    "root": root,
    "root, vectors": root_vectors,
    "rows": rows,
    "tiles": tiles,
    "parallel tiles": parallel_tiles,
}


def numpy_blur(picture: np.ndarray, radius: int) -> np.ndarray:
    """The same mean with numpy: uint8, shape (height, width, 3)."""
    n = 2 * radius + 1
    total = np.zeros(picture.shape, np.uint32)
    padded = np.pad(picture.astype(np.uint32), ((radius, radius), (radius, radius), (0, 0)), mode="edge")
    for dy in range(n):
        for dx in range(n):
            total += padded[dy : dy + picture.shape[0], dx : dx + picture.shape[1]]
    return ((total + n * n // 2) // (n * n)).astype(np.uint8)


def milliseconds(run: Callable[[], object], repeats: int = 10) -> float:
    """The least of several times."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main() -> None:
    """Runs every schedule on the photograph."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--explain", action="store_true", help="show how the parallel tiles were compiled")
    arguments.add_argument("--radius", type=int, default=RADIUS, help="the window is 2·radius + 1 wide")
    options = arguments.parse_args()
    if options.explain:
        blur = algorithm()
        parallel_tiles(blur)
        print(blur.mean.explain())
        return

    picture = photograph()
    height, width, channels = picture.shape
    planar = np.ascontiguousarray(picture.transpose(2, 0, 1))  # Halide's order: x, y, c, the first being dense
    expected = numpy_blur(picture, options.radius).transpose(2, 0, 1)
    print(f"{save('photograph.png', picture)}: {width} x {height}")

    window = 2 * options.radius + 1
    table = Table(title=f"mean of {window} x {window} on {width} x {height} x {channels}")
    for column in ("schedule", "ms", "equal to reference"):
        table.add_column(column, justify="right" if column == "ms" else "left")
    results: list[np.ndarray] = []
    sound = True
    for name, schedule in SCHEDULES.items():
        blur = algorithm()
        schedule(blur)
        blur.image.set(planar)
        blur.radius.set(options.radius)
        result = np.asarray(blur.mean.realize([width, height, channels]))
        corner = np.asarray(blur.mean.evaluate([(0, 12), (0, 9), (0, channels)]))
        output = np.empty_like(planar)
        best = milliseconds(lambda f=blur.mean, out=output: f.realize(out))
        equal = bool((result == expected).all() and (result[:, :9, :12] == corner).all() and (output == result).all())
        equal = equal and all((result == other).all() for other in results)
        results.append(result)
        sound = sound and equal
        table.add_row(name, f"{best:.2f}", "yes" if equal else "NO")
    Console().print(table)
    print(save("blurred.png", results[0].transpose(1, 2, 0)))
    if not sound:
        raise SystemExit("A schedule changed the answer.")


if __name__ == "__main__":
    main()
