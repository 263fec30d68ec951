"""Helpers of the tutorial's scripts: a picture to work on, a place for results, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import halide_core as hl

OUTPUT = Path(__file__).resolve().parents[1] / "out" / "tutorial"
WIDTH, HEIGHT = 192, 128


def scene() -> np.ndarray:
    """A picture of a sun above hills, with some grain: uint8, shape (3, HEIGHT, WIDTH), so that it is planar."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    sky = np.stack([70 + y, 120 + y // 2, 230 - y // 3]).astype(np.float64)
    sun = np.hypot(x - 140, y - 36) < 18
    sky[:, sun] = np.array([[255], [225], [120]])
    for shade, height, wave in ((90, 74, 31.0), (60, 92, 19.0), (35, 108, 13.0)):
        hill = y > height + 9 * np.sin(x / wave + shade)
        sky[:, hill] = np.array([[shade * 0.6], [shade * 1.3], [shade * 0.5]])
    grain = np.random.default_rng(1).normal(0, 6, sky.shape)
    return np.clip(sky + grain, 0, 255).astype(np.uint8)


def grey() -> np.ndarray:
    """The scene without colours: uint8, shape (HEIGHT, WIDTH)."""
    return scene().mean(axis=0).astype(np.uint8)


def save(name: str, picture: object) -> None:
    """Writes a picture below ``examples/out``, and says where."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    hl.imageio.imwrite(OUTPUT / name, np.asarray(picture))
    print(f"picture: {OUTPUT / name}")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints rows in columns."""
    cells = [list(map(str, row)) for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for number, row in enumerate(cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
