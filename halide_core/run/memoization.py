"""The cache of memoized Funcs in this process: its size, and eviction.

In: sizes and eviction keys. Out: nothing; the next runs compute what they miss.
"""

from __future__ import annotations

from halide_core.checks import integer, shown
from halide_core.errors import PipelineError
from halide_core.run.implementation import implementation


def memoization_cache_set_size(size: int) -> None:
    """Sets how many bytes are kept, 0 for the default of 1 MiB. What was not used for the longest time goes.

    Raises: PipelineError for a negative size.
    """
    if not 0 <= integer(size, "memoization_cache_set_size() takes bytes") < 1 << 63:
        raise PipelineError(f"memoization_cache_set_size() needs bytes, or 0 for the default, not {shown(size)}.")
    implementation().remember(size)


def memoization_cache_evict(eviction_key: int) -> None:
    """Gives up what is kept of the Funcs that have this eviction key."""
    implementation().forget(integer(eviction_key, "memoization_cache_evict() takes the number of a key"))


def memoization_cache_cleanup() -> None:
    """Gives up all that is kept."""
    implementation().forget(None)
