"""Checks that directives share, and the messages they fail with: the reason, and what would be legal.

In: a program and a directive. Out: nothing, or a ScheduleError at the user's line.

    no such loop  ->  f.split(z, zo, zi, 8): stage 0 of "f" has no loop "z". Its loops, innermost first: x, y.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NoReturn

from halide_core.algorithm.model import Function
from halide_core.errors import UNKNOWN_LOCATION, ScheduleError
from halide_core.ir import LoopKind
from halide_core.loop_nest import Level, Loop, Nest, Program, StageKey, level_site
from halide_core.schedule.directives import AtLevel, Directive, StageDirective


def refuse(directive: Directive, reason: str, error: type[ScheduleError] = ScheduleError) -> NoReturn:
    """The error of one directive."""
    raise error(f"{directive.spelled()}: {reason}", directive.location)


def stage_key(program: Program, directive: StageDirective) -> StageKey:
    """The nest that a directive is about."""
    func = program.named[directive.func.name]
    if directive.stage >= len(func.definitions):
        refuse(directive, f'"{func.own.name}" has {len(func.definitions) - 1} update definitions.')
    return StageKey(func, directive.stage, directive.branch.number)


def pasted(name: str, variables: Container[str] = ()) -> str:
    """A loop's name as an argument that the user can paste. Reduction loops go by their ``variables``; of a loop that a
    factor made the user has no Var."""
    return name if name.isidentifier() or name in variables else f'hl.Var("{name}")'


def described(loops: Iterable[Loop]) -> str:
    """Loops by name, innermost first."""
    names = [pasted(loop.name.var, loop.reduces) for loop in loops if loop.kind is not LoopKind.AT_ONCE]
    return ", ".join(reversed(names)) if names else "none"


def find_loop(nest: Nest, var: str) -> int | None:
    """The position of a loop; None where there is none of the name."""
    named = (i for i, loop in enumerate(nest.loops) if loop.name.var == var and loop.kind is not LoopKind.AT_ONCE)
    return next(named, None)


def no_loop(nest: Nest, var: str, directive: StageDirective) -> str:
    """Says that a loop is not there, and which ones are."""
    return f'{_stage_of(directive)} has no loop "{var}". Its loops, innermost first: {described(nest.loops)}.'


def require_loop(nest: Nest, var: str, directive: StageDirective) -> int:
    """The position of a loop that must exist."""
    at = find_loop(nest, var)
    if at is None:
        refuse(directive, no_loop(nest, var, directive))
    return at


def require_new_names(nest: Nest, names: Iterable[str], replaced: Iterable[str], directive: StageDirective) -> None:
    """The names that a rewrite introduces must be unused, but for those that it removes (lemma 2.4)."""
    taken = {loop.name.var for loop in nest.loops} - set(replaced)
    for name in names:
        if name in taken:
            refuse(
                directive,
                f'"{name}" already names a loop of {_stage_of(directive)}. '
                f"Its loops, innermost first: {described(nest.loops)}. Choose a new name.",
            )
        taken.add(name)


def _stage_of(directive: StageDirective) -> str:
    return f'stage {directive.stage} of "{directive.own.func.name}"'


def require_dimension(func: Function, var: str, directive: Directive) -> int:
    """The position of a dimension that must exist: a Schedule may have been made for a Func with other Vars."""
    if var not in func.args:
        dimensions = ", ".join(func.args) or "none"
        refuse(directive, f'"{func.own.name}" has no dimension "{var}". Its dimensions: {dimensions}.')
    return func.args.index(var)


def require_own_memory(program: Program, func: Function, directive: Directive) -> None:
    """The Func must not be an output."""
    if func in program.algorithm.outputs:
        refuse(directive, f'"{func.name}" is an output of the pipeline: its memory is the caller\'s.')


def levels_text(
    program: Program, func: Function, at: type[AtLevel], root: type[Directive], levels: Iterable[Level]
) -> str:
    """Legal levels as directives that the user can paste: ``g.compute_root()``, ``g.compute_at(f, y)``."""
    own, nowhere = func.own, UNKNOWN_LOCATION
    lines = []
    for level in levels:
        if level is None:
            told = root(func=own, location=nowhere)
        else:
            site = level_site(program, level)
            loop = program.nests[site.key].loops[site.position]
            var = pasted(level.var, loop.reduces)
            told = at(func=own, location=nowhere, consumer=site.key.func.own, var=var)
        lines.append(f"    {told.spelled()}")
    return "\n".join(lines) or "    none"
