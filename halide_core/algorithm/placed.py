"""Funcs that were placed in loops of others, and those of them that nothing there uses.

In: each use of ``compute_at``. Out: a warning, at its line, where a pipeline has the consumer alone.

    g.compute_at(f, x), and f reads no g   ->   HalideWarning: g.compute_at(f, x) has no effect: "f" does not use "g".
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from halide_core.algorithm.model import Function
from halide_core.errors import HalideWarning, warn_user
from halide_core.schedule.directives import ComputeAt, ComputeInline, ComputeRoot

_placed: weakref.WeakKeyDictionary[Function, weakref.WeakSet[Function]] = weakref.WeakKeyDictionary()
"""For a consumer the Funcs that were placed in its loops."""


def note_place(function: Function, consumer: Function) -> None:
    """Remembers that a Func was placed in a loop of another."""
    _placed.setdefault(consumer, weakref.WeakSet()).add(function)


def warn_of_lost_places(functions: Sequence[Function]) -> None:
    """Warns of each Func that is placed in a loop of one of these, all that a pipeline has, and is none of them."""
    for consumer in functions:
        for f in sorted(_placed.get(consumer, ()), key=lambda f: f.name):
            placed = [d for d in f.directives if isinstance(d, ComputeAt | ComputeRoot | ComputeInline)]
            last = placed[-1] if placed else None  # the one that counts
            if isinstance(last, ComputeAt) and last.consumer is consumer and f not in functions:
                told = f'{last.spelled()} has no effect: "{consumer.name}" does not use "{f.name}".'
                warn_user(told, HalideWarning, last.location)
