"""An automatic step of the compiler, with the obligation that a mutant takes from it.

In: where the check stands, an edit of its text that removes or spoils it, and a small program whose answer then is
wrong, or which gets stuck. Out: the compiler without the check, for as long as the context lasts.

    with STEPS["slide: what is kept"].spoilt(): …     the slide is taken without the proof
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

import halide_core as hl
from tests.campaigns.mutate.steps.judges import Made, interpreted
from tests.support.spoiling import spoilt

Tail = hl.TailStrategy

x, y, xo, xi, yo, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi"))


@dataclass(frozen=True)
class AutomaticStep:
    """A step: its check stands in ``function`` of ``owner``, a module or a class; ``old`` becomes ``new`` there."""

    owner: Any
    function: str
    old: str
    new: str
    make: Callable[[], Made]
    judge: Callable[[Made], str] = interpreted

    @property
    def place(self) -> str:
        """The check as the table of docs/internals/passes.md names it."""
        return self.function if inspect.ismodule(self.owner) else f"{self.owner.__name__}.{self.function}"

    def spoilt(self) -> AbstractContextManager[None]:
        """The compiler without the obligation."""
        return spoilt(self.owner, self.function, self.old, self.new)


def image(width: int = 24, height: int = 24) -> hl.ImageParam:
    """Numbers below 100, from (-6, -8) on."""
    result = hl.ImageParam(hl.Int(32), 2, "im")
    buffer = hl.Buffer(np.ascontiguousarray(np.random.default_rng(3).integers(0, 100, (height, width), np.int32)))
    buffer.set_min([-6, -8])
    result.set(buffer)
    return result
