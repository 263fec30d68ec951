"""The blur ahead of time: a static library and a header, a C program that links them, and the same bytes.

    python examples/aot_blur.py
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from blur_photo import RADIUS, algorithm, parallel_tiles
from photograph import photograph, save

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Builds, runs and compares."""
    picture = photograph()
    height, width, channels = picture.shape
    planar = np.ascontiguousarray(picture.transpose(2, 0, 1))
    blur = algorithm()
    parallel_tiles(blur)
    blur.image.set(planar)
    expected = np.asarray(blur.mean.realize([width, height, channels]))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        blur.mean.compile_to_static_library(str(folder / "blur"), [blur.image, blur.radius], "blur")
        program = folder / "blur_photo"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        command = [*compiler, "-O2", f"-I{folder}", str(HERE / "main.c"), str(folder / "blur.a"), "-o", str(program)]
        subprocess.run([*command, "-lpthread", "-lm"], check=True)
        planar.tofile(folder / "in.raw")
        sizes = [str(n) for n in (width, height, channels, RADIUS)]
        subprocess.run([str(program), str(folder / "in.raw"), str(folder / "out.raw"), *sizes], check=True)
        result = np.fromfile(folder / "out.raw", np.uint8).reshape(planar.shape)

    if not (result == expected).all():
        raise SystemExit("The C program's picture differs from the compiled one.")
    print(save("blurred_aot.png", result.transpose(1, 2, 0)))
    print(f"the C program's {result.nbytes} bytes are equal to those of realize: yes")


if __name__ == "__main__":
    main()
