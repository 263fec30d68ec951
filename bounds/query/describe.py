"""Accesses and clauses in words, for answers and messages; never longer than a person would read.

describe(clause)   ->   "by.s0 reads bx[by.s0.x, {by.s0.y - 1 | by.s0.y + 1}]"
"""

from __future__ import annotations

from halide_core.bounds.query.query import Clause, Rule
from halide_core.errors import BoundsError
from halide_core.ir import ExprNode, ParamRef
from halide_core.ir.brief import brief
from halide_core.ir.printer import dim_name
from halide_core.ir.visitor import subexpressions
from halide_core.loop_nest import StageKey

_LONGEST = 80
"""Nodes of an expression that is printed in a message."""


def tell(e: ExprNode) -> str:
    """An expression as text, or an ellipsis."""
    return brief(e, _LONGEST)


def special(key: StageKey) -> str:
    """The text of a nest's specialization: ``[1]``; nothing for the general case."""
    return f"[{key.specialization}]" if key.specialization else ""


def describe(clause: Clause) -> str:
    """Who reads or writes what."""
    points = [" | ".join(map(tell, c)) for c in clause.points]
    where = ", ".join(p if len(c) == 1 else f"{{{p}}}" for p, c in zip(points, clause.points, strict=True))
    f, stage = clause.reader.func, clause.reader.stage
    return f"{f.name}.s{stage}{special(clause.reader)} reads {clause.callee.name}[{where}]"


def limited(clause: Clause, d: int, condition: ExprNode) -> tuple[str | ExprNode, ...]:
    """The message where a coordinate has a bound only under a condition, which does not hold."""
    f, stage = clause.reader.func, clause.reader.stage
    at = " | ".join(map(tell, clause.points[d]))
    where = f'stage {stage} of "{f.name}" reads "{clause.callee.name}" at {at} in "{dim_name(clause.callee, d)}"'
    told: list[str | ExprNode] = [f"{where}, which is bounded only where {tell(condition)}"]
    for e in subexpressions([condition]):
        if isinstance(e, ParamRef):
            told += [f'; "{e.param.name}" is ', e]
    return tuple(told)


def unbounded(clause: Clause, d: int, e: ExprNode) -> BoundsError:
    """The error for a coordinate that has no bound."""
    f, stage = clause.reader.func, clause.reader.stage
    name = dim_name(clause.callee, d)
    what = "writes" if clause.rule is Rule.WRITE else "reads"
    return BoundsError(
        f'Stage {stage} of "{f.name}" {what} "{clause.callee.name}" at {tell(e)} in dimension "{name}", '
        f"which has no bound. Give it one, for example hl.clamp(…, 0, n - 1).",
        f.definitions[stage].location,
    )
