"""Compiled code as a judge, loaded into this process.

In: a case, lowered. Out: the outputs' values in its windows; or the PipelineError of a start-up check.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from halide_core.lowering.module import Lowered
from halide_core.run.backend import Box, Request
from halide_core.run.pipeline import _filled, _values, settled
from halide_core.runtime.execute.jit import compile_pipeline
from tests.campaigns.fuzz.compare import Array
from tests.campaigns.fuzz.interpreted import spread


def run_compiled(request: Request, lowered: Lowered, windows: Sequence[Box]) -> list[Array]:
    """Compiles what is lowered, loads it, asks for the regions, runs, and cuts out the windows. A crash ends the
    process, which the parent reports."""
    compiled, values = compile_pipeline(request, lowered), _values(request)
    boxes = spread(request, windows)
    _, regions = settled(partial(compiled.query, values), boxes)
    filled = _filled(request, regions)
    compiled.run(values, filled)
    return [np.array(b.cropped(list(w))) for b, w in zip(filled, boxes, strict=True)]
