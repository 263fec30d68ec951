"""Directives that make cases of a stage, and those that put bounds on multiples: how each is drawn.

In: a Drawing, as in ``directives``; or a Func that has a place. Out: directives appended. The tables here hold all
directives: those of ``directives`` and these.

    f0.specialize(p0 > 2);  f0.specialize(p0 > 2).split(x, xo, xi, 4);  f0.specialize_fail("no case fits")
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.schedule import AlignBounds, Directive, Estimate, Rename, Specialize, SpecializeFail
from halide_core.types import BOOL, INT32
from tests.fuzz.case import Case, Definition, Literal, Loop, Scalar, Told
from tests.fuzz.directives import FUNC_DIRECTIVES, LOOP_DIRECTIVES, Drawing, Generator
from tests.fuzz.terms import Term, infix, name, number, prefix

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_DEEPEST = 2


def draw_stage(d: Drawing, most: list[int]) -> None:
    """Draws directives of one stage, or of a case of it: as many as one of ``most``."""
    for _ in range(d.rng.choice(most)):
        names = list(STAGE_DIRECTIVES)
        weights = [STAGE_DIRECTIVES[n].weight for n in names]
        STAGE_DIRECTIVES[d.rng.choices(names, weights)[0]].draw(d)


def _draw_rename(d: Drawing) -> None:
    loop = d.pick(lambda each: True)
    if loop is not None:
        new = d.fresh(f"{loop.name}n")
        d.tell("rename", Loop(loop.name), Loop(new))
        d.nest.replace_loop(loop.name, replace(loop, name=new))


def _draw_unscheduled(d: Drawing) -> None:
    func, stage = d.nest.stage
    about = [t for t in d.told if (t.func, t.stage, t.cases) == (func, stage, d.cases)]
    if not any(t.method in STAGE_DIRECTIVES for t in about):
        d.tell("unscheduled")


def _condition(d: Drawing) -> Term:
    """What is known when a run starts: a comparison of a Param or of an output's extent, or a Param that is a bool."""
    r = d.rng
    scalars: list[Scalar | None] = [item for item in d.case.items if isinstance(item, Scalar)]
    chosen = r.choice([*scalars, None]) if d.case.windows[0] else r.choice(scalars) if scalars else None
    if chosen is None:
        if not d.case.windows[0]:
            return number(r.random() < 0.5, BOOL)
        output, at = d.case.outputs[0], r.randrange(len(d.case.windows[0]))
        extent = name(f"{output}.output_buffer().dim({at}).extent()", INT32, of=output)
        return infix(r.choice(_COMPARISONS), extent, number(d.case.windows[0][at][1] + r.randint(-1, 1), INT32))
    value = name(chosen.name, chosen.type, of=chosen.name)
    if chosen.type is BOOL:
        return value if r.random() < 0.5 else prefix("~", value)
    near = chosen.value if r.random() < 0.5 or not chosen.type.is_integer() else r.randint(0, 9)
    return infix(r.choice(_COMPARISONS), value, number(near, chosen.type))


def _draw_specialize(d: Drawing) -> None:
    if d.nest.closed or len(d.cases) == _DEEPEST:
        return
    condition = _condition(d)
    if d.rng.random() < 0.25:
        condition = infix(d.rng.choice("&|"), condition, _condition(d))
    if condition in d.nest.conditions:  # the same one again would be the same case, whose loops may differ by now
        return
    d.tell("specialize", condition)
    nest = d.nest.copy()
    d.nest.cases.append(nest)
    d.nest.conditions.append(condition)
    draw_stage(replace(d, nest=nest, cases=(*d.cases, condition)), [0, 1, 1, 2])


def _draw_specialize_fail(d: Drawing) -> None:
    if d.nest.cases and not d.nest.closed:
        d.tell("specialize_fail", Literal('"no case fits"'))
        d.nest.closed = True


STAGE_DIRECTIVES: dict[str, Generator] = {
    **LOOP_DIRECTIVES,
    "rename": Generator(_draw_rename, 1, (Rename,)),
    "specialize": Generator(_draw_specialize, 3, (Specialize,)),
    "specialize_fail": Generator(_draw_specialize_fail, 2, (SpecializeFail,)),
    "unscheduled": Generator(_draw_unscheduled, 1, ()),
}
"""The directives about one stage."""

WHOLE_DIRECTIVES: dict[str, tuple[type[Directive], ...]] = {
    **FUNC_DIRECTIVES,
    "align_bounds": (AlignBounds,),
    "align_extent": (AlignBounds,),
    "set_estimate": (Estimate,),
    "set_estimates": (Estimate,),
}
"""The directives about a whole Func: those that ``draw_schedule``, ``draw_bound`` and ``draw_multiples`` draw."""


def draw_multiples(case: Case, rng: random.Random, func: str, args: tuple[str, ...], told: list[Told]) -> None:
    """Puts the bounds of a Func on multiples; those of an output seldom on such that its window does not meet."""
    if not args:
        return
    at = rng.randrange(len(args))
    k, rest = rng.choice([1, 2, 3, 4, 5, 8]), rng.randint(-3, 9)
    if func in case.outputs and rng.random() < 0.9:
        low, extent = case.windows[case.outputs.index(func)][at]
        k = next((n for n in (k, 8, 4, 3, 2) if extent % n == 0), 1)
        rest = low
    if rng.random() < 0.6:
        told.append(Told(func, 0, "align_bounds", (Loop(args[at]), number(k, INT32), number(rest, INT32))))
    else:
        told.append(Told(func, 0, "align_extent", (Loop(args[at]), number(k, INT32))))


def draw_estimates(case: Case, rng: random.Random, func: str, args: tuple[str, ...], told: list[Told]) -> None:
    """Says what is expected of a Func's region, which changes nothing."""
    if not args or not any(isinstance(item, Definition) and item.name == func for item in case.items):
        return
    if rng.random() < 0.5:
        told.append(Told(func, 0, "set_estimate", (Loop(rng.choice(args)), number(0, INT32), number(9, INT32))))
    else:
        told.append(Told(func, 0, "set_estimates", (Literal(repr([(0, 9)] * len(args))),)))
