"""Input buffers of a pipeline.

In: a type, a number of dimensions, perhaps a name. Out: something to index in definitions, filled when it runs.

    ip = ImageParam(UInt(8), 2, "ip");  f[x, y] = ip[x + 1, y];  ip.set(array)
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.func.func import Func
from halide_core.func.scheduling.func_schedule import wrapper_of_input
from halide_core.lang.input_buffer import InputImage


class ImageParam(InputImage):
    """An input buffer of a type and a number of dimensions; ``set`` binds a Buffer or a numpy array to it."""

    def in_(self, f: Func | Sequence[Func] | None = None) -> Func:
        """Makes a Func of the input's values, which consumers read in its place: to load a tile of it, once, where it
        is read often. Without a place of its own it is inlined, and changes nothing.

        Args:
            f: the consumer, or several, which share one; None for all that have nothing else to read in its place.

        Returns: the new Func of the Vars ``_0``, ``_1`` …, for a schedule of its own; the same one for the same
            consumers.

        Raises:
            ScheduleError: no Func; or a consumer for which another call made one.
        """
        return Func._of(wrapper_of_input(self._source, f))
