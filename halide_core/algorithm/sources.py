"""Sources with a buffer of their own that schedules speak of: inputs, and outputs.

In: nothing. Out: a class that ImageParams share, which the interface of schedules can name without knowing them.
"""

from __future__ import annotations

from halide_core.algorithm.model import Function, Image
from halide_core.unsupported import Pending


class Source(Pending):
    """A buffer that is an argument of pipelines."""

    def _buffer(self) -> Image | Function:
        raise NotImplementedError  # ImageParam and OutputImageParam say
