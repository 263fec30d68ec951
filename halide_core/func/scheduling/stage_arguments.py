"""Arguments of the calls that schedule a stage: loops, groups of loops, and what a call looked like.

In: what a user passed. Out: lists, numbers, and text.

    tile_groups((x, y), {"xi": xi, "yi": yi, "xfactor": 8, "yfactor": 4})   ->   [x, y], [x, y], [xi, yi], [8, 4]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from halide_core.algorithm.model import Function
from halide_core.analysis.index import startup_index
from halide_core.analysis.simplify import simplify
from halide_core.checks import shown
from halide_core.errors import ScheduleError
from halide_core.ir import ExprNode, IntImm
from halide_core.lang.arguments.loop_variables import VarOrRVar as EitherVariable
from halide_core.lang.coordinates import startup
from halide_core.lang.expr import ExprLike, Var, as_node
from halide_core.lang.rdom import RDom, RVar
from halide_core.schedule.directives import Fuse, LoopAlignStrategy, Rename, Split, TailStrategy

VarOrRVar: TypeAlias = "Var | RVar | RDom | EitherVariable"
AlignLike: TypeAlias = "LoopAlignStrategy | Sequence[tuple[VarOrRVar, LoopAlignStrategy]]"
AUTO = TailStrategy.Auto

_TILES = (
    "x y xo yo xi yi xfactor yfactor",
    "x y xi yi xfactor yfactor",
    "previous outers inners factors",
    "previous inners factors",
)
"""The names of what ``tile`` takes, besides a tail."""


def loop_name(directive: str, var: object) -> str:
    """The name of the loop that a Var or an RVar stands for."""
    if isinstance(var, Var | RVar | EitherVariable):
        return var.name()
    if isinstance(var, RDom):
        return var.only().name()
    raise ScheduleError(f"{directive}() takes Vars and RVars, not {shown(var)} of type {var.__class__.__name__}.")


def pure_name(directive: str, var: object) -> str:
    """The name of a Var."""
    if isinstance(var, EitherVariable) and not var.is_rvar:
        return var.name()
    if not isinstance(var, Var):
        raise ScheduleError(f"{directive}() takes a Var, not {shown(var)} of type {var.__class__.__name__}.")
    return var.name()


class LoopHandle:
    """A LoopLevel as the calls see it that take a loop of a stage."""

    def _as_loop(self) -> tuple[Function, str, int]:
        """The Func, the loop and the stage, -1 where none is named. Raises: ScheduleError where it is no loop."""
        raise NotImplementedError  # LoopLevel says


def alignments(name: str, align: object) -> list[tuple[str, LoopAlignStrategy]]:
    """The loops that ``compute_with`` is told of, with a strategy each: of one, that it ends with."""
    pairs = [(name, align)] if isinstance(align, LoopAlignStrategy) else align or ()
    found: list[tuple[str, LoopAlignStrategy]] = []
    for pair in pairs if isinstance(pairs, list | tuple) else (pairs,):
        match pair:
            case (var, LoopAlignStrategy() as strategy):
                found.append((var if isinstance(var, str) else loop_name("compute_with", var), strategy))
            case _:
                raise ScheduleError(
                    "compute_with() takes a hl.LoopAlignStrategy, or a list of pairs of a loop and one, for align, "
                    f"not {pair!r}."
                )
    return found


def positive(what: str, value: ExprLike) -> ExprNode:
    """A start-up expression which, where it is a constant, is at least 1."""
    node = startup(value, what, ScheduleError)
    known = simplify(startup_index(node))
    if isinstance(known, IntImm) and known.value < 1:
        raise ScheduleError(f"{what} must be positive, not {known.value}.")
    return node


def constant(what: str, value: ExprLike) -> int:
    """An integer from 1 on that is known when compiling."""
    known = simplify(startup_index(startup(value, what, ScheduleError)))
    if not isinstance(known, IntImm) or known.value < 1:
        raise ScheduleError(f"{what} must be a positive integer that is known when compiling, not {value!r}.")
    return known.value


def listed(directive: str, args: Sequence[object], name: str, named: object) -> list[object]:
    """Arguments that are passed one by one, or in a list, or in a list by its name."""
    if named is not None and args:
        raise ScheduleError(f"{directive}() takes its arguments one by one or as {name}, not both.")
    flat: list[object] = []
    for each in args if named is None else (named,):
        flat += list(each) if isinstance(each, list | tuple) else [each]
    return flat


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


def tile_groups(
    args: Sequence[object], named: Mapping[str, object]
) -> tuple[list[object], list[object], list[object], list[object]]:
    """The loops, the outer ones, the inner ones, and the factors, of one of the ways to call ``tile``."""
    for way in _TILES:
        names = way.split()
        rest = names[len(args) :]
        if len(args) + len(named) == len(names) and set(rest) == set(named):
            groups = _groups([*args, *(named[n] for n in rest)])
            if groups is not None:
                return groups
    told = [f"({way.replace(' ', ', ')})" for way in _TILES]
    raise ScheduleError(f"tile() takes {told[0]}, {told[1]}, or lists, {told[2]} or {told[3]}; and a tail.")


def _groups(given: list[object]) -> tuple[list[object], list[object], list[object], list[object]] | None:
    lists = [list(g) if isinstance(g, list | tuple) else None for g in given]
    match lists:
        case [list(old), list(outer), list(inner), list(factors)]:
            return old, outer, inner, factors
        case [list(old), list(inner), list(factors)]:
            return old, old, inner, factors
    if any(g is not None for g in lists) or len(given) not in (6, 8):
        return None
    outer = given[:2] if len(given) == 6 else given[2:4]
    return given[:2], outer, given[-4:-2], given[-2:]
