"""Pipelines over Dask arrays: each block of the result reads just the regions that bounds inference gives.

    blurred = hl.dask.realize(blur, picture.shape, chunks="auto", inputs={image: picture})     # a dask.array.Array
    blurred.to_zarr("blurred.zarr")
    hl.dask.store(blur, out, inputs={image: picture}).compute()                                 # into an array of Zarr
    print(hl.dask.plan(blur, picture.shape, inputs={image: picture}))                           # what it will read

Needs the extra ``halide-core[dask]``. Shapes and chunks are those of arrays, whose axes are the reversed dimensions of
Funcs: ``f[x, y]`` is ``array[y, x]``. Nothing runs, and nothing is read, before Dask computes the array.
"""

from __future__ import annotations

from halide_core.dask.blocked import plan, realize, store
from halide_core.dask.planned import Plan

__all__ = ["Plan", "plan", "realize", "store"]
