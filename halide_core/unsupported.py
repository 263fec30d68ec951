"""Names of Halide's that are not here yet: one table, one error.

In: an attribute that a class or the package doesn't have. Out: an error which says that it is to come, or Python's.

    f.gpu_blocks(x)   ->   ScheduleError: "gpu_blocks" is not available yet.
"""

from __future__ import annotations

from enum import EnumMeta
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from halide_core.errors import NotAvailableError, ScheduleError

_STAGE = """
dump_argument_list
"""
_DEVICE = """
gpu gpu_blocks gpu_lanes gpu_single_thread gpu_threads gpu_tile hexagon
"""
_PIPELINE = """
compile_to_bitcode
compile_to_llvm_assembly
"""
_MODULE = """
Derivative propagate_adjoints
"""

DIRECTIVES = frozenset((_STAGE + _DEVICE).split())
STAGE = frozenset((_STAGE + _DEVICE).split())
PIPELINE = frozenset(_PIPELINE.split())
FUNC = DIRECTIVES | PIPELINE
MODULE = frozenset(_MODULE.split())
OUTPUT_MODULE = frozenset(
    """append buffers compile_to_buffer get_auto_scheduler_results get_metadata_name_map remap_metadata_name
    resolve_submodules set_auto_scheduler_results submodules""".split()
)
MEMBERS = {"MemoryType": frozenset("GPUShared GPUTexture LockedCache VTCM".split())}
"""Of the enums that lack some."""


class NotAvailableDirective(ScheduleError, NotAvailableError):
    """A directive of Halide's that isn't here yet."""


def missing(owner: str, name: str, pending: frozenset[str]) -> NoReturn:
    """Raises the error for an attribute that is not there.

    Raises:
        NotAvailableError: a name of Halide's; NotAvailableDirective (a ScheduleError) where it is a directive.
        AttributeError: any other name.
    """
    if name not in pending:
        raise AttributeError(f"{owner} has no attribute {name!r}")  # no full stop: Python adds ". Did you mean …?"
    error = NotAvailableDirective if name in DIRECTIVES and pending in (FUNC, STAGE) else NotAvailableError
    raise error(f'"{name}" is not available yet.')


class Pending:
    """Gives a class the errors for the names in ``_pending``."""

    _pending: ClassVar[frozenset[str]] = frozenset()

    if not TYPE_CHECKING:  # else every misspelt attribute would pass the type checker

        def __getattr__(self, name: str) -> NoReturn:
            missing(type(self).__name__, name, self._pending)


class PendingMembers(EnumMeta):
    """Gives an enum the errors for the names in ``MEMBERS``."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            members = cls.__dict__.get("_member_map_", {})
            if name in members:  # before Python 3.12 this is how one is found
                return members[name]
            missing(cls.__name__, name, MEMBERS.get(cls.__name__, frozenset()))
