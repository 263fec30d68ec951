"""Choices of loops as data: short enough for a file, and read again for the same algorithm.

In: what was placed where, and the Funcs of a pipeline, producers first. Out: JSON in which Funcs are numbers; and back.

    blur: strips of 32 rows, 32 lanes   ->   [1, 1, null, [0, 32], 1, [0, 32], null, [1], [0, 32]]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from halide_core.algorithm.model import Function
from halide_core.autoschedule.shapes import WHOLE, Level, LoopShape, Placed


class ChoiceError(ValueError):
    """Data that are no choices for these Funcs."""


def encoded(placed: Sequence[Placed], order: Sequence[Function]) -> str:
    """The text of choices: equal texts are equal choices."""
    number = {f: i for i, f in enumerate(order)}
    rows = [
        [
            number[p.function],
            number[p.anchor],
            None if p.level is None else p.level.name,
            p.shape.tiles,
            p.shape.row,
            p.shape.vector,
            p.shape.micro,
            p.shape.parallel,
            p.vector,
        ]
        for p in placed
    ]
    return json.dumps(rows, separators=(",", ":"))


def decoded(text: str, order: Sequence[Function]) -> list[Placed]:
    """The choices of a text.

    Raises:
        ChoiceError: it has none, or none for these Funcs.
    """
    try:
        found = [_placed(row, order) for row in json.loads(text)]
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ChoiceError(f"These are no choices of loops: {error}.") from error
    roots: set[Function] = set()
    for p in found:
        if p.level is None:
            roots.add(p.function)
        elif p.anchor not in roots:
            raise ChoiceError(f'"{p.function.name}" is placed in loops that "{p.anchor.name}" does not have.')
    return found


def plain(order: Sequence[Function]) -> list[Placed]:
    """Every Func at root, in loops without vectors and threads."""
    shapes = {f: LoopShape((WHOLE,) * f.dimensions, None, (0, 1)) for f in reversed(order)}
    return [Placed(f, f, None, shape, (0, 1)) for f, shape in shapes.items()]


def _placed(row: Any, order: Sequence[Function]) -> Placed:
    f, anchor, level, tiles, dimension, vector, micro, parallel, own = row
    function, loops_of = order[_number(f, len(order))], order[_number(anchor, len(order))]
    rank = loops_of.dimensions
    shape = LoopShape(
        tuple(_number(k) for k in tiles),
        None if dimension is None else _number(dimension, rank),
        _vector(vector, rank),
        None if micro is None else (_number(micro[0]), _number(micro[1])),
        tuple(_number(d, rank) for d in parallel),
    )
    if len(shape.tiles) != rank:
        raise ChoiceError(f'"{loops_of.name}" has {rank} dimensions')
    place = None if level is None else Level[level]
    return Placed(function, loops_of, place, shape, _vector(own, function.dimensions))


def _vector(data: Any, rank: int) -> tuple[int, int]:
    d, lanes = data
    return _number(d, max(1, rank)), _number(lanes)


def _number(data: Any, below: int = 1 << 31) -> int:
    """An integer from 0 to ``below`` - 1."""
    if type(data) is not int or not 0 <= data < below:
        raise ChoiceError(f"{data!r} is out of place")
    return data
