"""Arguments of the calls that schedule a stage: groups of loops, and what a call looked like.

In: what a user passed. Out: lists, and text.

    tile_groups([x, y, xi, yi, 8, 4])   ->   [x, y], [x, y], [xi, yi], [8, 4]
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.errors import ScheduleError
from halide_core.expr import ExprLike, as_node
from halide_core.schedule import Fuse, Rename, Split, TailStrategy

AUTO = TailStrategy.Auto


def new_names(directives: Sequence[object]) -> set[str]:
    """The loops that directives introduce; asked for membership only."""
    found: set[str] = set()
    for d in directives:
        match d:
            case Split(outer=outer, inner=inner):
                found |= {outer, inner}
            case Fuse(fused=fused):
                found.add(fused)
            case Rename(new=new):
                found.add(new)
    return found


def tail_text(tail: TailStrategy) -> str:
    return "" if tail is AUTO else f", TailStrategy.{tail.value}"


def factor_text(verb: str, name: str, factor: ExprLike, tail: TailStrategy) -> str:
    """A call with a factor as source."""
    return f"{verb}({name}, {as_node(factor)!r}{tail_text(tail)})"


def tile_groups(given: list[object]) -> tuple[list[object], list[object], list[object], list[object]]:
    lists = [list(g) if isinstance(g, list | tuple) else None for g in given]
    match lists:
        case [list(old), list(outer), list(inner), list(factors)]:
            return old, outer, inner, factors
        case [list(old), list(inner), list(factors)]:
            return old, old, inner, factors
    if any(g is not None for g in lists) or len(given) not in (6, 8):
        raise ScheduleError(
            "tile() takes (x, y, xo, yo, xi, yi, xfactor, yfactor), (x, y, xi, yi, xfactor, yfactor), or lists of "
            "old, outer and inner loops and factors; and a tail strategy."
        )
    outer = given[:2] if len(given) == 6 else given[2:4]
    return given[:2], outer, given[-4:-2], given[-2:]
