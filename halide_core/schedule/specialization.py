"""The specializations of a stage among its directives: which there are, and how others join them.

In: directives that a Func has, and some that are to come after them. Out: these with numbers of their own.

    has specialize(n == 1), number 1;  specialize(n == 4) to come, number 1   ->   specialize(n == 4), number 2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from halide_core.errors import ScheduleError
from halide_core.ir import ExprNode
from halide_core.ir.printer import format_expr
from halide_core.schedule.directives import GENERAL, Branch, Directive, Specialize, SpecializeFail, StageDirective


def made_case(directives: Iterable[Directive], stage: int, branch: Branch, condition: ExprNode) -> Specialize | None:
    """The specialization of a branch by a condition, where there is one."""
    for d in directives:
        if isinstance(d, Specialize) and d.stage == stage and d.branch == branch and d.condition is condition:
            return d
    return None


def present_branch(directives: Iterable[Directive], stage: int, branch: Branch) -> Branch:
    """The branch with the conditions of one that a Stage was made for.

    Raises:
        ScheduleError: the schedule was cleared since, and has none.
    """
    if branch == GENERAL:
        return branch
    for d in directives:
        if isinstance(d, Specialize) and d.stage == stage and d.made().conditions == branch.conditions:
            return d.made()
    told = "".join(f".specialize({format_expr(c)})" for c in branch.conditions)
    raise ScheduleError(f"This Stage is of a specialization that is gone: {told} was cleared. Specialize again.")


def next_number(directives: Iterable[Directive], stage: int) -> int:
    """The number of a stage's next specialization."""
    return 1 + sum(isinstance(d, Specialize) and d.stage == stage for d in directives)


def refuse_after_fail(directives: Iterable[Directive], stage: int, branch: Branch, directive: str) -> None:
    """Raises ScheduleError where ``specialize_fail`` has ended a branch."""
    for d in directives:
        if isinstance(d, SpecializeFail) and d.stage == stage and d.branch == branch:
            raise ScheduleError(
                f"{directive}() can't follow {d.spelled()}: every run that gets there ends at that. "
                f"Give it before line {d.location.line}."
            )


def joined(before: Sequence[Directive], after: Iterable[Directive]) -> list[Directive]:
    """The directives of a Func, and then others about it, as the same calls would have recorded them: a condition that
    a branch has already means its specialization, and another one makes the next.

    Raises:
        ScheduleError: another specialization of a branch that ``specialize_fail`` has ended.
    """
    whole = list(before)
    branches: dict[tuple[int, int], Branch] = {}
    """For a stage and a number of ``after``, the branch that it has in the whole."""
    for d in after:
        if not isinstance(d, StageDirective):
            whole.append(d)
            continue
        branch = branches.get((d.stage, d.branch.number), d.branch)
        if isinstance(d, Specialize):
            known = made_case(whole, d.stage, branch, d.condition)
            if known is None:
                refuse_after_fail(whole, d.stage, branch, "specialize")
                known = replace(d, branch=branch, number=next_number(whole, d.stage))
                whole.append(known)
            branches[d.stage, d.number] = known.made()
        else:
            if isinstance(d, SpecializeFail):
                refuse_after_fail(whole, d.stage, branch, "specialize_fail")
            whole.append(d if branch == d.branch else replace(d, branch=branch))
    return whole
