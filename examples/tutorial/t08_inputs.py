"""8. Inputs: Params and ImageParams, compiled once and run on many values.

A Buffer in a definition is part of the program. An ImageParam stands for any picture of a type and a number of
dimensions, a Param for any number; ``compile_to_callable`` makes a function of them.
"""

from __future__ import annotations

import numpy as np
from showing import grey, save, table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
image = hl.ImageParam(hl.UInt(8), 2, "image")
gain, offset = hl.Param(hl.Float(32), "gain"), hl.Param(hl.Int(32), "offset", 0)
offset.set_range(-255, 255)

adjusted = hl.Func("adjusted")
adjusted[x, y] = hl.u8_sat(hl.f32(image[x, y]) * gain + offset)
adjusted.vectorize(x, 16, hl.TailStrategy.GuardWithIf)  # outputs of any width, narrower ones too
table(["argument", "kind", "type"], [[a.name, a.kind.value, a.type] for a in adjusted.infer_arguments()])

# As a function: inputs in the order given, then the output. Arrays are taken as they are, in any size.
adjust = adjusted.compile_to_callable([image, gain, offset])
picture = grey()
results = []
for g, o in ((0.5, 0), (1.0, 40), (2.0, -60)):
    out = np.empty_like(picture)
    adjust(picture, g, o, out)
    wanted = np.clip(np.trunc(picture.astype(np.float32) * np.float32(g) + o), 0, 255)
    assert (out == wanted).all()
    results.append(out)
small = np.zeros((2, 3), np.uint8)
adjust(picture[:2, :3], 1.0, 1, small)
assert (small == picture[:2, :3] + 1).all()

# Or with set() and realize(); what is out of range is refused before anything runs.
image.set(picture)
gain.set(1.0)
offset.set(300)
try:
    adjusted.realize([8, 8])
except hl.PipelineError as error:
    print("\n" + str(error))
save("08_adjusted.png", np.concatenate(results, axis=1))
