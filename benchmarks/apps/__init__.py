"""The applications by name, in the order of the reports.

APPS["blur"].schedules   ->   {"plain": …, "expert": …, "tiled": …}
"""

from __future__ import annotations

from benchmarks.apps import (
    bilateral_grid,
    blur,
    camera_pipe,
    conv_layer,
    harris,
    histogram,
    interpolate,
    local_laplacian,
    max_filter,
    sgemm,
    stencil_chain,
    unsharp,
)
from benchmarks.apps.app import App

APPS: dict[str, App] = {
    module.APP.name: module.APP
    for module in (
        blur,
        unsharp,
        harris,
        histogram,
        local_laplacian,
        bilateral_grid,
        camera_pipe,
        sgemm,
        conv_layer,
        stencil_chain,
        max_filter,
        interpolate,
    )
}
