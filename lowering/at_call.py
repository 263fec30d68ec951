"""Directives checked as they are given, by the loops of their stage alone: the same rewrites that a compile applies, so
that an error is the same, and comes at the call.

In: a Func, and directives about its stages that are about to be recorded. Out: nothing, or a ScheduleError.

    f.split(z, zo, zi, 8)   ->   ScheduleError: stage 0 of "f" has no loop "z". Its loops, innermost first: x, y.

A compile checks again: wrappers, inlined Funcs and partial results change definitions until then. So a stage is left
alone here from an ``rfactor`` on, and where the answer may depend on what Funcs that it reads are.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace

from halide_core.algorithm.model import Algorithm, Function
from halide_core.debug import deep_recursion
from halide_core.errors import DependenceError, ScheduleError
from halide_core.ir import Access, ExprNode
from halide_core.ir.visitor import subexpressions
from halide_core.loop_nest import Program, StageKey
from halide_core.lowering.initial import lower_stage
from halide_core.schedule.access_directives import Atomic
from halide_core.schedule.directives import Directive, Specialize, StageDirective
from halide_core.schedule.func_directives import RFactor
from halide_core.scheduling.phase0.atomic_laws import with_offer
from halide_core.scheduling.phases import LOOP_RULES


class _Stages:
    """The loops of a Func's stages as the directives so far make them."""

    def __init__(self, function: Function) -> None:
        algorithm = Algorithm((function,), (function,), (), (), ())
        self.given: tuple[Directive, ...] = ()
        self._program = Program(algorithm, {function.name: function}, {}, {}, {})
        self._left_alone: frozenset[int] = frozenset()

    def lead_to(self, given: Sequence[Directive]) -> bool:
        """True where a Func's directives begin with those applied here."""
        return len(given) >= len(self.given) and all(map(operator.is_, self.given, given))

    def after(self, function: Function, directives: Sequence[Directive]) -> _Stages:
        """The loops after further directives. Raises: ScheduleError."""
        changed = _Stages.__new__(_Stages)
        changed.given = (*self.given, *directives)
        changed._program, changed._left_alone = self._program, self._left_alone
        for d in directives:
            if isinstance(d, StageDirective) and d.stage not in changed._left_alone:
                changed._apply(function, d)
        return changed

    def _apply(self, function: Function, d: StageDirective) -> None:
        definition = function.definitions[d.stage]
        if isinstance(d, RFactor) or function.extern is not None or _reads_funcs(function, definition.args):
            self._left_alone |= {d.stage}
            return
        key = StageKey(function, d.stage, d.branch.number)
        if key not in self._program.nests:
            self._program = self._program.with_nest(key, lower_stage(function, d.stage, definition))
        if isinstance(d, Specialize):
            self._program = self._program.with_nest(StageKey(function, d.stage, d.number), self._program.nests[key])
        elif rule := LOOP_RULES.get(type(d)):
            try:
                if isinstance(d, Atomic):
                    algorithm = with_offer(self._program.algorithm, function, d)
                    self._program = replace(self._program, algorithm=algorithm)
                self._program = rule(self._program, d)
            except DependenceError:
                if d.stage > 0 and not _reads_funcs(function, definition.exprs()):
                    raise
                self._left_alone |= {d.stage}  # inlined Funcs may show that iterations keep apart, or this may be one


@deep_recursion()
def check(function: Function, directives: Sequence[StageDirective]) -> None:
    """Checks directives that are to follow those which the Func has.

    Raises: ScheduleError, at the line of the directive that is illegal.
    """
    before = function.loops_so_far
    if not isinstance(before, _Stages) or not before.lead_to(function.directives):
        before = _Stages(function)
    missed = function.directives[len(before.given) :]
    if missed:
        try:
            before = before.after(function, missed)
        except ScheduleError:  # a Schedule gave them, all at once, to a Func that they don't fit: a compile says so
            return
    function.loops_so_far = before.after(function, directives)


def _reads_funcs(function: Function, exprs: Iterable[ExprNode]) -> bool:
    return any(
        isinstance(e, Access) and isinstance(e.callee, Function) and e.callee is not function
        for e in subexpressions(exprs)
    )
