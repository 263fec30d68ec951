"""Schedules as values: what was said of some Funcs can be looked at, printed, taken away, and given again.

A schedule is a Python function of Funcs. A Schedule is what such a function did, for scripts that try many:

    plain = hl.Schedule(f)      # the directives of f and of all that it uses, as they are now
    plain.clear()               # as if none had been given
    f.vectorize(x, 8)
    fast = hl.Schedule(f)
    fast.clear()
    plain.apply()               # the same directives again, with the lines on which they were written
    print(fast)                 # Python source that gives them again
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from halide_core.algorithm.model import Function, Image, ScalarParam, realization_order, with_made_funcs
from halide_core.algorithm.schedule_source import Given, schedule_source
from halide_core.algorithm.snapshot import leaves
from halide_core.checks import shown
from halide_core.errors import ScheduleError
from halide_core.ir import BufferField, Callee, ExprNode, ParamRef
from halide_core.ir.visitor import Rewriter
from halide_core.run.pipeline import Realizable
from halide_core.schedule.access_directives import Prefetch
from halide_core.schedule.specialization import joined

_N = TypeVar("_N", Function, Image, ScalarParam)


class Schedule:
    """The directives of some Funcs and of all that these use, at the time of the call. It does not change later."""

    def __init__(self, *outputs: Realizable) -> None:
        self._functions = _functions(outputs)
        self._given = [(f, tuple(f.directives)) for f in self._functions]

    def directives(self) -> list[str]:
        """Each directive as it was recorded, those of producers first: ``["bx.compute_at(by, y)", …]``."""
        return [str(d) for _, each in self._given for d in each]

    def source(self, name: str = "schedule") -> str:
        """Python source of a function that gives the directives again. Its arguments are the Funcs that have any or are
        named by one, producers first, then the Params and ImageParams that directives mention.

        Raises:
            ScheduleError: a directive that can't be written.
        """
        if not isinstance(name, str) or not name.isidentifier():
            raise ScheduleError(f"The function of a Schedule needs a name of Python's, not {shown(name)}.")
        return schedule_source(self._given, name)

    def __str__(self) -> str:
        return self.source()

    def __len__(self) -> int:
        return sum(len(each) for _, each in self._given)

    def clear(self) -> None:
        """Takes all directives away from the Funcs, those given since too."""
        for f in self._functions:
            f.directives.clear()

    def apply(self, *outputs: Realizable) -> None:
        """Gives the directives again, after those that the Funcs have: to the same Funcs, or to those of one name in
        another pipeline, such as the same algorithm made anew. As with the calls that gave them, a condition for which
        a stage is specialized already means that specialization.

        Raises:
            ScheduleError: the other pipeline has no Func, Param or ImageParam of a name, or several; a directive that
                makes a Func; a specialization of a stage that ``specialize_fail`` has ended. Nothing is given then.
        """
        if not outputs:
            _give(self._given)
            return
        making = next((d for _, each in self._given for d in each if d.funcs()), None)
        if making is not None:
            raise ScheduleError(f"{making.spelled()} makes a Func of its own pipeline: run source() for another one.")
        others = _functions(outputs)
        callees: dict[Callee, Callee] = {}
        for f, directives in self._given:
            same = [g for g in others if g.name == f.name]
            if directives or len(same) == 1:  # others without directives are of interest only where they are named
                callees[f] = _the_one("Func", f.name, same)
        rewriter = _ToOthers(callees, *leaves(others))
        for d in (d for _, each in self._given for d in each):
            if isinstance(d, Prefetch) and isinstance(d.fetched, Image):
                callees[d.fetched] = rewriter.image(d.fetched)
        new = [(callees.get(f), [d.with_exprs(rewriter.expr).renamed(callees) for d in e]) for f, e in self._given]
        _give([(f, directives) for f, directives in new if isinstance(f, Function)])


class _ToOthers(Rewriter):
    """Expressions about the arguments of another pipeline."""

    def __init__(self, callees: dict[Callee, Callee], images: list[Image], params: list[ScalarParam]) -> None:
        super().__init__()
        self._callees = callees
        self._images = images
        self._params = params

    def rewrite_ParamRef(self, e: ParamRef) -> ExprNode:
        """The Param of its name; the Param itself where that is used there too."""
        if not isinstance(e.param, ScalarParam) or e.param in self._params:
            return e
        return ParamRef(e.type, self._same("Param", e.param.name, self._params))

    def rewrite_BufferField(self, e: BufferField) -> ExprNode:
        """The ImageParam of its name, or the output of its name."""
        if isinstance(e.buffer, Function):
            return BufferField(e.type, self._callees.get(e.buffer, e.buffer), e.field, e.dim)
        return BufferField(e.type, self.image(e.buffer), e.field, e.dim) if isinstance(e.buffer, Image) else e

    def image(self, image: Image) -> Image:
        """The input of its name; the input itself where that is read there too."""
        return image if image in self._images else self._same("ImageParam", image.name, self._images)

    def _same(self, kind: str, name: str, known: Sequence[_N]) -> _N:
        return _the_one(kind, name, [each for each in known if each.name == name])


def _give(new: Given) -> None:
    """Adds directives to Funcs, to all or to none."""
    for f, directives in [(f, joined(f.directives, directives)) for f, directives in new]:
        f.directives[:] = directives


def _functions(outputs: Sequence[Realizable]) -> list[Function]:
    wrong = [each for each in outputs if not isinstance(each, Realizable)]
    if wrong or not outputs:
        raise ScheduleError(f"A Schedule is of Funcs and Pipelines, not of {shown(wrong[0]) if wrong else 'nothing'}.")
    return with_made_funcs(realization_order([f for each in outputs for f in each._functions()]))


def _the_one(kind: str, name: str, found: Sequence[_N]) -> _N:
    if len(found) != 1:
        count = "no" if not found else str(len(found))
        plural = "" if len(found) < 2 else "s"
        raise ScheduleError(
            f'The pipeline has {count} {kind}{plural} called "{name}", which the schedule is about. '
            f"Give it to one whose names are those of the first, each of one {kind} only."
        )
    return found[0]
