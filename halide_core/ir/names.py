"""Names that the user did not give.

In: nothing. Out: a name that is unique in this process, and remembered as automatic, so that a snapshot can replace it
by one that is the same in every process.

    automatic_name()  ->  "v7";   is_automatic("v7")  ->  True
"""

from __future__ import annotations

from itertools import count

OUTERMOST = "__outermost"
"""The name of the place around all loops of a Func: ``Var.outermost()``."""

_numbers = count(1)
_automatic: set[str] = set()


def automatic_name() -> str:
    """A fresh name for a variable."""
    name = f"v{next(_numbers)}"
    _automatic.add(name)
    return name


def is_automatic(name: str) -> bool:
    """True where the system chose a name. A user's own choice of the same name is taken for it: both mean one Var."""
    return name in _automatic


_inputs = 0


def fresh_input_name() -> str:
    """A name for an input that the user gave none: two inputs of one pipeline can't share one."""
    global _inputs
    _inputs += 1
    return f"p{_inputs - 1}"
