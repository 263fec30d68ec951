"""A pipeline while it is drawn: its inputs, and its Funcs with what a schedule may name of them.

In: a module (ours, or the peer's) and a seed. Out, from a family: Funcs, producers before consumers, the last one the
output. The same seed draws the same program from either module.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass
class Updated:
    """An update definition: its pure dimensions, innermost first, and its reduction variables."""

    pure: tuple[Any, ...]
    reduced: tuple[Any, ...] = ()


@dataclass
class Stage:
    """A Func: its dimensions, innermost first, with the extents that they may have in schedules, and its updates."""

    func: Any
    name: str
    args: tuple[Any, ...]
    reads: tuple[str, ...]
    updates: list[Updated] = field(default_factory=list)
    whole: bool = False
    """True where it is read all over, or made of all before it: nobody computes it in tiles."""
    small: int | None = None
    """The place of a dimension that is short and known, such as the channels; None where there is none."""

    @property
    def pure(self) -> bool:
        """True where it can be inlined."""
        return not self.updates


class Drawing:
    """The drawing so far."""

    def __init__(self, hl: Any, seed: str) -> None:
        self.hl = hl
        self.rng = random.Random(seed)
        self.values = np.random.default_rng(self.rng.randrange(1 << 30))
        self.stages: list[Stage] = []
        self.images: list[tuple[Any, Array]] = []
        self.scalars: list[tuple[Any, float | int]] = []
        self.shape: tuple[int, ...] = ()
        """Of the output, innermost dimension first."""
        self.rounds = False
        """True where the last digit of floats decides about integers, so that some may differ by 1."""
        self.x, self.y, self.c, self.z = (hl.Var(n) for n in ("x", "y", "c", "z"))

    # -- what families draw

    def size(self, most: int = 1_200_000) -> tuple[int, int]:
        """The width and height of a picture: round numbers, and others."""
        width = self.rng.choice([256, 500, 512, 640, 1000, 1024, 1280, 1531, 1920])
        height = max(8, min(1200, int(most * self.rng.uniform(0.3, 1.0) / width)))
        return width, height

    def image(self, type: str, *extents: int, low: float = 0, high: float | None = None) -> Any:
        """An input of random values, its extents innermost first."""
        kind = np.dtype(type)
        if kind.kind == "f":
            array = self.values.uniform(low, 1 if high is None else high, extents[::-1]).astype(kind)
        else:
            most = (255 if kind.itemsize == 1 else 4095) if high is None else high
            array = self.values.integers(int(low), int(most), extents[::-1], endpoint=True).astype(kind)
        param = self.hl.ImageParam(self.of(type), len(extents), f"in{len(self.images)}")
        self.images.append((param, array))
        return param

    def scalar(self, type: str, value: float) -> Any:
        """A Param."""
        param = self.hl.Param(self.of(type), f"p{len(self.scalars)}", value)
        self.scalars.append((param, value))
        return param

    def of(self, type: str) -> Any:
        """A type by numpy's name."""
        kind = np.dtype(type)
        make = {"f": self.hl.Float, "u": self.hl.UInt, "i": self.hl.Int}[kind.kind]
        return make(8 * kind.itemsize)

    def cast(self, type: str, e: Any) -> Any:
        """A conversion."""
        return self.hl.cast(self.of(type), e)

    def func(
        self, name: str, args: Sequence[Any], value: Any, reads: Sequence[str] = (), small: int | None = None
    ) -> Any:
        """A Func with its first definition. ``reads``: the Funcs that it reads; the one before it, unless said."""
        f = self.hl.Func(name)
        f[tuple(args)] = value
        before = (self.stages[-1].name,) if self.stages and not reads else tuple(reads)
        self.stages.append(Stage(f, name, tuple(args), () if reads == ("",) else before, small=small))
        return f

    def updated(self, pure: Sequence[Any], *reduced: Any) -> None:
        """Notes an update of the last Func."""
        self.stages[-1].updates.append(Updated(tuple(pure), reduced))

    def read_all_over(self) -> None:
        """Notes that the last Func is no Func to be computed in tiles."""
        self.stages[-1].whole = True

    def pick(self, *choices: Any) -> Any:
        """One of some."""
        return self.rng.choice(choices)

    def finish(self, *shape: int, rounds: bool = False) -> None:
        """Says what the output covers, innermost first, and whether floats were rounded to its integers."""
        self.shape, self.rounds = shape, rounds
