"""23. Generators: pipelines as classes, which build systems and other pipelines set parameters of.

A Generator declares parameters, inputs and outputs, and defines the outputs in ``generate``. One class makes a function
for Python, a library for C, and a part of another pipeline. In a file of Generators the last line is ``hl.main()``, and
the shell says the rest: ``python filters.py -g sharpen -o out target=host radius=2``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from showing import grey, save

import halide_core as hl

x, y = hl.vars("x y")


@hl.alias(soft={"radius": 4})
@hl.generator("mean")
class Mean:
    """The mean of a square around each point."""

    radius = hl.GeneratorParam(1)
    source = hl.InputBuffer(hl.UInt(8), 2)
    out = hl.OutputBuffer(hl.UInt(8), 2)

    def generate(g):
        size = 2 * g.radius + 1
        square = hl.RDom([(-g.radius, size), (-g.radius, size)])
        inside = hl.BoundaryConditions.repeat_edge(g.source) if isinstance(g.source, hl.ImageParam) else g.source
        g.out[x, y] = hl.u8(hl.sum(hl.u32(inside[x + square.x, y + square.y])) / (size * size))
        if not g.using_autoscheduler():
            g.out.vectorize(x, g.natural_vector_size(hl.UInt(32)), hl.TailStrategy.GuardWithIf).parallel(y)


# In Python: parameters, then a function of the inputs and the outputs.
picture = grey()
blurred = np.zeros_like(picture)
Mean({"radius": 3}).compile_to_callable()(picture, blurred)
save("23_mean.png", blurred)

# An alias is another name for some parameters; a name is all that create_callable_from_generator needs.
softer = np.zeros_like(picture)
hl.create_callable_from_generator(hl.Target("host"), "soft")(picture, softer)
assert softer.std() < blurred.std()


@hl.generator("detail")
class Detail:
    """The detail that a mean takes away: it calls the other Generator, which becomes a Func of this one."""

    source = hl.InputBuffer(None, 2)
    out = hl.OutputBuffer(hl.Int(16), 2)

    def generate(g):
        mean = Mean.call(g.source, generator_params={"radius": 2})
        g.out[x, y] = hl.i16(g.source[x, y]) - mean[x, y]
        mean.compute_root()


# A type that the class leaves open is a parameter, ``source.type``. A wrong one is an error that names it.
detail = np.zeros(picture.shape, np.int16)
Detail({"source.type": "uint8"}).compile_to_callable()(picture, detail)
save("23_detail.png", np.uint8(np.clip(128 + 4 * detail, 0, 255)))
try:
    Detail()
except hl.HalideError as error:
    print(error.message)

# For C: a library and its header. This script is a file of Generators, too.
if len(sys.argv) > 1:
    hl.main()
else:
    with tempfile.TemporaryDirectory() as folder:
        flags = ["-g", "mean", "-f", "mean5", "-o", folder, "target=host", "radius=2"]
        subprocess.run([sys.executable, __file__, *flags], check=True)
        for path in sorted(Path(folder).iterdir()):
            print("written:", path.name)
