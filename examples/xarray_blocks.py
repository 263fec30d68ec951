"""A pipeline over labelled arrays: ``xarray.apply_ufunc`` gives ``hl.dask.realize`` its Dask array, and keeps labels.

    pip install 'halide-core[dask,examples]'
    python examples/xarray_blocks.py

Each month of a year of measurements is smoothed over latitude and longitude; months, which the pipeline doesn't mix,
are its third dimension. Nothing is computed before the values are asked for.
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import xarray as xr

import halide_core as hl
import halide_core.dask

x, y, month = hl.Var("x"), hl.Var("y"), hl.Var("month")
field = hl.ImageParam(hl.Float(32), 3, "field")
padded = hl.BoundaryConditions.repeat_edge(field, [hl.Range(0, field.width()), hl.Range(0, field.height()), hl.Range()])
smooth = hl.Func("smooth")
smooth[x, y, month] = (padded[x - 1, y, month] + 2 * padded[x, y, month] + padded[x + 1, y, month]) / 4


def smoothed(array: Any) -> Any:
    """The function that apply_ufunc calls, with the Dask array inside of the labelled one."""
    return halide_core.dask.realize(smooth, array.shape, chunks=array.chunks, inputs={field: array})


months = np.arange(np.datetime64("2025-01"), np.datetime64("2026-01"))
latitude, longitude = np.linspace(-90, 90, 180), np.arange(0.0, 360.0)
values = da.from_array(np.random.default_rng(1).random((12, 180, 360), np.float32), chunks=(4, 90, 90))
labels = {"month": months.astype("datetime64[ns]"), "latitude": latitude, "longitude": longitude}
temperature = xr.DataArray(values, coords=labels, dims=tuple(labels), name="temperature", attrs={"units": "K"})

result = xr.apply_ufunc(smoothed, temperature, dask="allowed", keep_attrs=True)
print(f"lazy: {result.chunks is not None}; units: {result.attrs['units']}; dimensions: {result.dims}")

summer = result.sel(month=slice("2025-06", "2025-08")).mean("month")
print(f"a mean over summer: {summer.shape}, {float(summer.mean()):.4f}")

array = np.asarray(values)
wide = np.pad(array, ((0, 0), (0, 0), (1, 1)), mode="edge")
want = (wide[..., :-2] + 2 * wide[..., 1:-1] + wide[..., 2:]) / np.float32(4)
print(f"equal to numpy: {np.allclose(result.values, want, rtol=1e-6)}")
