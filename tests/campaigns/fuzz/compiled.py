"""Compiled code as a judge: loaded into this process, or as a program of its own under the sanitizers.

In: a case. Out: the outputs' values in its windows; or the PipelineError of a start-up check.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from halide_core.run.backend import Box, Request, backend
from halide_core.run.pipeline import _filled, _values, settled
from tests.campaigns.fuzz.case import Program
from tests.campaigns.fuzz.compare import Array
from tests.campaigns.fuzz.interpreted import request_of, spread


def run_compiled(case: Program, *, scheduled: bool = True) -> list[Array]:
    """The values by loaded code. A crash ends the process, which the parent reports."""
    outputs, windows = case.build(scheduled=scheduled)
    return run_request(request_of(outputs), [tuple(w) for w in windows])


def run_request(request: Request, windows: Sequence[Box]) -> list[Array]:
    """Compiles, asks for the regions, runs, and cuts out the windows."""
    compiled, values = backend().compile(request), _values(request)
    boxes = spread(request, windows)
    _, regions = settled(partial(compiled.query, values), boxes)
    filled = _filled(request, regions)
    compiled.run(values, filled)
    return [np.array(b.cropped(list(w))) for b, w in zip(filled, boxes, strict=True)]
