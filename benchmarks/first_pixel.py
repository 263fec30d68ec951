"""One blur of one small image, from nothing to its first pixel: what ``compile_time.py`` starts and times."""

import numpy as np

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
image = hl.ImageParam(hl.UInt(16), 2, "image")
across, blur = hl.Func("across"), hl.Func("blur")
across[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
blur[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3
xi, yi = hl.Var("xi"), hl.Var("yi")
blur.tile(x, y, xi, yi, 256, 32).vectorize(xi, 16).parallel(y)
across.compute_at(blur, x).vectorize(x, 16)
image.set(np.ones((66, 514), np.uint16))
print(blur.realize([512, 64])[0, 0])
