"""Checks that directives share, and the messages they fail with: the reason, and what would be legal.

In: a program and a directive. Out: nothing, or a ScheduleError at the user's line.

    no such loop  ->  f.split(z, zo, zi, 8): stage 0 of "f" has no loop "z". Its loops, innermost first: x, y.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from halide_core.algorithm import Function
from halide_core.errors import ScheduleError
from halide_core.program import Level, Loop, Nest, Program, StageKey
from halide_core.schedule import AtLevel, Directive, StageDirective


def refuse(directive: Directive, reason: str) -> NoReturn:
    """The error of one directive."""
    raise ScheduleError(f"{as_written(directive).spelled()}: {reason}", directive.location)


def as_written(directive: Directive) -> Directive:
    """The directive of the user's own Funcs, where it is about copies of them."""
    mentioned = [directive.func]
    if isinstance(directive, AtLevel):
        mentioned.append(directive.consumer)
    return directive.renamed({f: users_own(f) for f in mentioned if isinstance(f, Function)})


def users_own(func: Function) -> Function:
    """The Func that the user knows, of one that may be the compiler's copy."""
    return func.original or func


def stage_key(program: Program, directive: StageDirective) -> StageKey:
    """The nest that a directive is about."""
    func = program.named[directive.func.name]
    if directive.stage >= len(func.definitions):
        refuse(directive, f'"{func.name}" has {len(func.definitions) - 1} update definitions.')
    return StageKey(func, directive.stage, directive.branch.number)


def described(loops: Iterable[Loop]) -> str:
    """Loops by name, innermost first."""
    names = [loop.name.var for loop in loops]
    return ", ".join(reversed(names)) if names else "none"


def require_loop(nest: Nest, var: str, directive: StageDirective) -> int:
    """The position of a loop that must exist."""
    for i, loop in enumerate(nest.loops):
        if loop.name.var == var:
            return i
    refuse(
        directive,
        f'stage {directive.stage} of "{directive.func.name}" has no loop "{var}". '
        f"Its loops, innermost first: {described(nest.loops)}.",
    )


def require_new_names(nest: Nest, names: Iterable[str], replaced: Iterable[str], directive: StageDirective) -> None:
    """The names that a rewrite introduces must be unused, but for those that it removes (lemma 2.4)."""
    taken = {loop.name.var for loop in nest.loops} - set(replaced)
    for name in names:
        if name in taken:
            refuse(
                directive,
                f'"{name}" already names a loop of stage {directive.stage} of "{directive.func.name}". '
                f"Its loops, innermost first: {described(nest.loops)}. Choose a new name.",
            )
        taken.add(name)


def levels_text(program: Program, func: Function, directive: str, levels: Iterable[Level]) -> str:
    """Legal levels as source that the user can paste: ``g.compute_root()``, ``g.hoist_storage(f, y)``."""
    name = users_own(func).name
    lines = []
    for level in levels:
        if level is None:
            lines.append(f"    {name}.{directive}_root()")
        else:
            consumer = users_own(program.named[level.func]).name
            at = "" if directive == "hoist_storage" else "_at"
            lines.append(f"    {name}.{directive}{at}({consumer}, {level.var})")
    return "\n".join(lines)
