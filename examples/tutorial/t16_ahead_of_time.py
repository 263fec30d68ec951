"""16. Ahead of time: a C library that needs no Python.

``compile_to_static_library`` writes a library and a header; a C or C++ program fills in halide_buffer_t for each
picture and calls one function. Python loads the very same library here with ctypes' means: a small C program does it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from showing import grey, save, table

import halide_core as hl

MAIN = r"""
#include "negative.h"
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    const int32_t width = atoi(words[1]), height = atoi(words[2]);
    const size_t size = (size_t)width * height;
    uint8_t *in = malloc(size), *out = malloc(size);
    if (count < 3 || !in || !out || fread(in, 1, size, stdin) != size) return 2;
    halide_dimension_t shape[2] = {{0, width, 1, 0}, {0, height, width, 0}};
    halide_buffer_t source = {0}, result = {0};
    source.host = in, result.host = out;
    source.dim = result.dim = shape;
    source.dimensions = result.dimensions = 2;
    source.type.code = result.type.code = halide_type_uint;
    source.type.bits = result.type.bits = 8;
    source.type.lanes = result.type.lanes = 1;
    const int error = negative(&source, 255, &result);
    if (error) return fprintf(stderr, "%s\n", halide_core_last_error()), error;
    return fwrite(out, 1, size, stdout) == size ? 0 : 3;
}
"""

x, y = hl.Var("x"), hl.Var("y")
image, white = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Param(hl.UInt(8), "white")
negative = hl.Func("negative")
negative[x, y] = white - image[x, y]
negative.vectorize(x, 16)

picture = grey()
height, width = picture.shape
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    negative.compile_to_static_library(str(folder / "negative"), [image, white], "negative")
    (folder / "main.c").write_text(MAIN, encoding="utf-8")
    table(["file", "bytes"], sorted((p.name, p.stat().st_size) for p in folder.iterdir()))
    compiler = [*shlex.split(os.environ.get("CC", "cc")), f"-I{folder}"]
    parts = [str(folder / "main.c"), str(folder / "negative.a"), "-lpthread", "-lm"]
    subprocess.run([*compiler, *parts, "-o", str(folder / "main")], check=True)
    command = [str(folder / "main"), str(width), str(height)]
    done = subprocess.run(command, input=picture.tobytes(), capture_output=True, check=True)
result = np.frombuffer(done.stdout, np.uint8).reshape(picture.shape)
assert (result == 255 - picture).all()
save("16_negative.png", result)
