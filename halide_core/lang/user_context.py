"""The caller's context as a value: ``user_context_value()``, for C functions.

In: nothing. Out: an operand that no caller gives a value.

    e.define_extern("shown", [user_context_value(), g], Int(32), 1)   ->   int shown(void *, halide_buffer_t *, …)
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm.user_context import USER_CONTEXT
from halide_core.ir.types import Handle, Type
from halide_core.lang.expr import Expr


class _ContextValue(Expr):
    """The context as it is passed to C functions. In expressions it is its address, as a Param of a pointer is."""

    __slots__ = ()

    def type(self) -> Type:
        """A pointer."""
        return Handle()


def user_context_value() -> Expr:
    """The pointer that a pipeline's caller gave it as its context: in files for a target with ``user_context``, else
    NULL, as in all that runs in this process. It is no argument of the pipeline. In expressions it is its address, a
    ``uint64``."""
    return _ContextValue.of(ir.ParamRef(USER_CONTEXT.computed, USER_CONTEXT))
