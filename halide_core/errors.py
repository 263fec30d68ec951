"""The errors a user can meet, and where in the user's own program each one came from.

In: a message, and the stack at the moment of the call. Out: exceptions that end in ``file:line``.

    f[x, y] = g[x]   ->   DefinitionError: Func "g" has 2 dimensions, but is used with 1.
                            at blur.py:12: f[x, y] = g[x]
"""

from __future__ import annotations

import linecache
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

HOME = Path(__file__).parent
"""The package's folder."""
# Frames below it are the compiler's own; the first frame outside is the user's.
_OWN = str(HOME) + "/"


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's program."""

    file: str
    line: int

    @property
    def text(self) -> str:
        """The source line itself, or an empty string where it can't be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        return f"{where}: {self.text}" if self.text else where


UNKNOWN_LOCATION = Location("<unknown>", 0)


def is_own(frame: FrameType) -> bool:
    """True where a frame runs the compiler's own code."""
    return frame.f_code.co_filename.startswith(_OWN)


def user_location() -> Location:
    """The innermost line of the running stack that is not the compiler's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_own(frame):
            return Location(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return UNKNOWN_LOCATION


class HalideError(Exception):
    """The root of every error that this system raises on purpose.

    ``location`` is the user's line that is at fault: the one given, else the one being executed.
    """

    def __init__(self, message: str, location: Location | None = None) -> None:
        self.message = message
        self.location = location if location is not None else user_location()
        at = "" if self.location == UNKNOWN_LOCATION else f"\n  at {self.location}"
        super().__init__(f"{message}{at}")


_warned: dict[object, object] = {}


def warn_user(message: str, category: type[Warning], at: Location | None = None) -> None:
    """Warns at the user's line, the one given or else the one being executed, once for each line and text unless the
    warning filters say otherwise."""
    at = at or user_location()
    warnings.warn_explicit(message, category, at.file, at.line, registry=_warned)  # type: ignore[arg-type]  # a cache


class HalideWarning(UserWarning):
    """Something legal that is seldom meant."""


class IgnoredDirectiveWarning(HalideWarning):
    """A directive that has no effect where it stands, and asks for nothing which is then missed."""


class PrecisionWarning(HalideWarning, RuntimeWarning):
    """A number that loses digits on its way into an expression."""


class CoordinateError(HalideError, IndexError):
    """A coordinate outside of a buffer; an IndexError, so that Python's own loops end on it."""


class DimensionError(HalideError, KeyError, IndexError):
    """A dimension that a reduction domain does not have; a KeyError, as in Halide, and an IndexError."""

    __str__ = HalideError.__str__


class NotAvailableError(HalideError, AttributeError):
    """A name of Halide's that isn't here yet; an AttributeError, so that ``hasattr`` is False."""


class DefinitionError(HalideError):
    """A Func, RDom, Param or Expr that is not well formed (definitions 2.7 to 2.10)."""


class NotIterableError(DefinitionError, TypeError):
    """A loop over something that has no parts; a TypeError, as Python's own."""


class TruthValueError(DefinitionError, ValueError):
    """An expression where Python needs to know whether it is true; a ValueError, as in numpy and in Halide."""


class CoordinateCountError(DefinitionError, ValueError):
    """Another number of coordinates than a Buffer has dimensions; a ValueError, as in Halide."""


class TypeMismatchError(DefinitionError):
    """Operands, arguments or values whose types don't go together."""


class ArgumentTypeError(TypeMismatchError, TypeError):
    """An argument of a Python type that the call doesn't take; a TypeError, as Python's own and Halide's."""


class ScheduleError(HalideError):
    """A directive that is illegal where it stands; the message lists what would be legal."""


class DependenceError(ScheduleError):
    """A directive by which iterations that may meet in one point would trade places or run at once."""


class BoundsError(HalideError):
    """A region that can't be bounded, or that is refuted; the message names the access."""


class CertificateError(HalideError):
    """A compile that HL_CERTIFY demands a certificate of, and a claim that is refuted or left open."""


class PipelineError(HalideError):
    """A compiled pipeline refused its arguments or failed while it ran."""


class SpecializeFailError(PipelineError):
    """A run that ``specialize_fail`` ends: no specialization of a stage fits it. The message is the user's."""


class PromiseError(HalideError):
    """A value of the reference semantics that breaks a promise of the user's: see ``unsafe_promise_clamped``."""


class ToolchainError(HalideError):
    """The C compiler is missing or failed; the message holds the command and what it printed."""


class InternalError(HalideError):
    """A fault of the compiler itself: an invariant between two passes does not hold."""
