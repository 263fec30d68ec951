"""The C of a pipeline that the cache doesn't have: everything from lowering to text.

In: a Request, or what lowering made of it. Out: its translation units.

    emit(request)   ->   ["int halide_core_entry(void **arguments) …", …]

A run whose pipeline the cache has imports none of this: that is half of what such a run would import.
"""

from __future__ import annotations

from halide_core.config import profiles_demanded
from halide_core.debug import deep_recursion, without_collections
from halide_core.lowering.driver import lower
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Request
from halide_core.runtime.codegen.entry import emit_entry, emit_hiding
from halide_core.runtime.codegen.unit import emit_units
from halide_core.runtime.compile.processes import processors


def emit(request: Request, made: Lowered | None = None) -> list[str]:
    """The translation units of a request, or of what was made of it. Raises: ScheduleError, BoundsError."""
    with deep_recursion(), without_collections():
        return _texts(made or lower(request))


def _texts(lowered: Lowered) -> list[str]:
    """The translation units: the pipeline, under a symbol that clashes with nobody's, and its entry, in the first."""
    hiding, entry = (emit(lowered.name, lowered.arguments) for emit in (emit_hiding, emit_entry))
    first, *others = emit_units(lowered, processors(), profile=profiles_demanded())
    return [hiding + first + entry, *others]
