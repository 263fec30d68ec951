"""Arguments with several names: an overload of Halide's gives one argument a name of its own.

In: what was passed under each name. Out: the value.

    f.in_(fs=[g, h])   ->   one_of("in_", ScheduleError, f=None, fs=[g, h])   ->   [g, h]
"""

from __future__ import annotations

from typing import Any

from halide_core.errors import HalideError


def one_of(call: str, error: type[HalideError], **named: object) -> Any:
    """The value that was passed under one of the names, or None where there is none.

    Raises:
        error: two were passed.
    """
    given = {name: value for name, value in named.items() if value is not None}
    if len(given) > 1:
        raise error(f"{call}() takes {' or '.join(named)}, which are one argument, and is given {' and '.join(given)}.")
    return next(iter(given.values()), None)
