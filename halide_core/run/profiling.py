"""The profiler: where a pipeline's time and memory go, Func by Func.

In: a Func or Pipeline and what it is to compute, or ``HL_PROFILE=1`` for every pipeline of a program. Out: a Profile,
which ``print`` shows as a table; with ``HL_PROFILE=1`` it is printed to stderr when the program ends.

    print(hl.profile(blur, [640, 480], runs=10))

The code is compiled anew with marks where it goes from one Func to another, so a Func that is computed a few pixels at
a time looks dearer than it is: the column of visits tells. Inlined Funcs are part of those that use them.
"""

from __future__ import annotations

from halide_core.config import profiling
from halide_core.errors import PipelineError
from halide_core.run.pipeline import Destination, Realizable
from halide_core.run.profile_data import Profile


def profile(f: Realizable, dst: Destination = (), *, runs: int = 1) -> Profile:
    """Measures a pipeline.

    Args:
        f: a Func or a Pipeline.
        dst: what ``realize`` takes: sizes, or Buffers and arrays to fill.
        runs: how many; one more, which is not counted, comes first.

    Raises:
        PipelineError: ``runs`` is no positive number; and all that ``realize`` raises.
    """
    if not isinstance(runs, int) or runs < 1:
        raise PipelineError(f"profile() needs a positive number of runs, not {runs!r}.")
    kept = f._built
    f.invalidate_cache()
    try:
        with profiling():
            f.realize(dst)
            assert f._built is not None
            compiled = f._built.compiled
            compiled.take_profile()
            for _ in range(runs):
                f.realize(dst)
            return compiled.take_profile()
    finally:
        f._built = kept  # what is not measured
