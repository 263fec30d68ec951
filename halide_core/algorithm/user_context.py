"""The caller's context as an input: a pointer that a compiled function finds itself, so that no caller lists it.

In: an input of a pipeline. Out: whether a caller passes it. Code in this process has no context: the pointer is NULL.

    is_passed(p) -> True;  is_passed(USER_CONTEXT) -> False
"""

from __future__ import annotations

from halide_core.algorithm.model import Image, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir.types import Handle


class _UserContext(ScalarParam):
    """There is one in a process: what is pickled and read, or copied, is the same."""

    def __init__(self) -> None:
        super().__init__("__user_context", Handle(), UNKNOWN_LOCATION)
        self.value = 0

    def __reduce__(self) -> str:
        return "USER_CONTEXT"


USER_CONTEXT: ScalarParam = _UserContext()


def is_passed(source: object) -> bool:
    """True where a caller passes an input: all but Buffers of definitions, which are part of a pipeline, and the
    context."""
    return source is not USER_CONTEXT and not (isinstance(source, Image) and source.embedded)
