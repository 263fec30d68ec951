"""An explanation as an object: text, LaTeX and HTML of one story, or of the answer to one question.

In: text, and the bounds that it is about. Out: what people and notebooks read.

    print(f.explain(input="in"));   f.explain(input="in").latex();   f.explain()    in a notebook: a table
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.bounds.explain.provenance import AskedBound, GivenEnd, Need, Reason, Reasons
from halide_core.debug import deep_recursion
from halide_core.errors import UNKNOWN_LOCATION, HalideError
from halide_core.ir import Interval
from halide_core.ir.brief import brief, brief_interval, is_readable
from halide_core.loop_nest import Level


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """A name and the closed form of its bounds."""

    name: str
    closed: Interval


@dataclass(frozen=True, slots=True, eq=False)
class PipelineExplanation:
    """Implements ``halide_core.run.backend.Explanation``. ``first`` holds formulas that are no bounds: those of a
    loop."""

    title: str
    text: str
    reasons: Reasons
    bounds: tuple[AskedBound, ...]
    first: tuple[Formula, ...] = ()

    def __str__(self) -> str:
        return self.text

    def latex(self) -> str:
        """The closed form of every bound that the explanation is about. Raises: HalideError without sympy."""
        with deep_recursion():
            rows = [
                rf"\text{{{_words(f.name)}}} &= {_latex_interval(f.closed)}" for f in (*self.first, *self._formulas())
            ]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _formulas(self) -> list[Formula]:
        return [Formula(str(r.bound), r.closed) for r in map(self.reasons.of, self.bounds)]

    def _repr_latex_(self) -> str | None:
        """For notebooks, which show the text where sympy is missing."""
        try:
            return f"$\\displaystyle {self.latex()}$"
        except HalideError:
            return None

    def _repr_html_(self) -> str:
        """A table: the bounds, their closed forms, and what asked for them; the text is folded away below it."""
        with deep_recursion():
            rows = [_row(f.name, f.closed, []) for f in self.first]
            asked = map(self.reasons.of, self.bounds)
            rows += [_row(str(r.bound), r.closed, [need_text(n) for n in r.needs]) for r in asked]
        head = "<tr><th>bound</th><th>from</th><th>to</th><th>because</th></tr>"
        table = f"<table><caption>{escape(self.title)}</caption>{head}{''.join(rows)}</table>"
        return f"{table}<details><summary>all of it</summary><pre>{escape(self.text)}</pre></details>"


def _ends(closed: Interval) -> tuple[ir.ExprNode, ir.ExprNode]:
    return closed.min, simplify(ir.sub(ir.add(closed.min, closed.len), ir.ONE))


def _latex_interval(closed: Interval) -> str:
    first, last = _ends(closed)
    return rf"\left[{latex(first)},\; {latex(last)}\right]"


def latex(e: ir.ExprNode) -> str:
    """An expression as LaTeX. Raises: HalideError without sympy."""
    try:
        from halide_core.bounds.explain.latex import latex_of  # noqa: PLC0415  # sympy takes long to import
    except ImportError as missing:
        raise HalideError(
            'LaTeX is rendered by sympy, which is not installed: pip install "halide-core[bounds]".'
        ) from missing
    return latex_of(e) if is_readable(e) else r"\ldots"


def _words(name: str) -> str:
    """Text in LaTeX's text mode."""
    return name.translate(_ESCAPES)


_ESCAPES = str.maketrans("", "", "\\^~") | {ord(c): f"\\{c}" for c in "_$%&#{}"}


def _row(name: str, closed: Interval, needs: list[str]) -> str:
    ends = [_cell(e) for e in _ends(closed)]
    because = "<br>".join(map(escape, needs))
    return f"<tr><td>{escape(name)}</td><td>{ends[0]}</td><td>{ends[1]}</td><td>{because}</td></tr>"


def _cell(e: ir.ExprNode) -> str:
    """An expression as a formula, or as text where sympy is missing."""
    try:
        return f"${latex(e)}$"
    except HalideError:
        return f"<code>{escape(brief(e))}</code>"


# ---------------------------------------------------------------------------------------------------------
# Text.


def where(level: Level) -> str:
    """``at the root``, ``inside by.s0.x``."""
    return "at the root" if level is None else f"inside {level}"


def need_text(need: Need) -> str:
    """``least: bx.s0 reads in[bx.s0.x - 1, bx.s0.y]   [value]``, with the range that it has by itself where the bound
    is that of several."""
    end = "" if need.end is GivenEnd.NEITHER else f"{need.end.value}: "
    alone = ""
    if need.end is not GivenEnd.BOTH and need.low is not None and need.high is not None:
        alone = f", from {brief(need.low)} to {brief(need.high)}"
    by = "" if need.engine is None else f", by {need.engine.value}"
    return f"{end}{need.told}{alone}   [{need.rule.value}{by}]"


def _need_lines(need: Need) -> list[str]:
    lines = [f"    {need_text(need)}"]
    if need.location is not None and need.location != UNKNOWN_LOCATION:
        lines.append(f"        at {need.location}")
    if need.depends:
        lines.append(f"        depends on {', '.join(map(str, need.depends))}")
    return lines


def reason_text(reason: Reason) -> str:
    """A bound, its answer and its closed form, and what asked for it."""
    lines = [f"{reason.bound} = {brief_interval(reason.interval)}  {where(reason.level)}"]
    if reason.closed != reason.interval:
        lines.append(f"    that is {brief_interval(reason.closed)}")
    lines += [line for n in reason.needs for line in _need_lines(n)]
    return "\n".join(lines)


def chain_text(reasons: Sequence[Reason]) -> str:
    """Reasons one after the other; each needs those below it."""
    return "\n".join(map(reason_text, reasons))
