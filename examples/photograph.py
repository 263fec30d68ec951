"""The photograph of the examples, and where their pictures go.

Rear Admiral Grace Hopper by James S. Davis, 1984, in the public domain; it lies in matplotlib's wheel, which the
extra ``examples`` installs. matplotlib itself is not imported.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import imageio.v3 as iio
import numpy as np

OUTPUT = Path(__file__).resolve().parent / "out"


def photograph() -> np.ndarray:
    """The photograph: uint8, shape (height, width, 3)."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise SystemExit("The photograph comes with matplotlib: pip install 'halide-core[examples]'.")
    return np.asarray(iio.imread(Path(spec.origin).parent / "mpl-data" / "sample_data" / "grace_hopper.jpg"))


def save(name: str, picture: np.ndarray) -> Path:
    """Writes a PNG into ``examples/out`` and returns its path."""
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / name
    iio.imwrite(path, picture)
    return path
