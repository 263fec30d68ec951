"""Definitions as people read them: as text, and as mathematics for notebooks.

In: a Func's function, or an expression. Out: text of several lines, or LaTeX.

    f[x] = x*x; f[r] += 1   ->   f[x] = x*x
                                 f[r.x] = f[r.x] + 1   for r.x in (0, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from halide_core import ir
from halide_core.algorithm.model import Definition, Function
from halide_core.ir import BinaryOp
from halide_core.ir.printer import format_expr, format_interval
from halide_core.ir.visitor import parts, subexpressions

_MOST_NODES = 400
"""Nodes of a formula, counted where they are written: beyond it nobody reads them, and shared parts could make it
exponentially long."""


def definitions(function: Function) -> str:
    """The stages of a Func, a line each; a value that is too long to be read is left out."""
    if not function.definitions:
        return f"{function.name}: not defined"
    if function.extern is not None:
        passed = ", ".join(format_expr(p) if isinstance(p, ir.ExprNode) else p.name for p in function.extern.params)
        first = f"{function.name}[{', '.join(function.args)}]: extern stage {function.extern.name}({passed})"
        return "\n".join([first, *_lines(function, function.definitions[1:])])
    return "\n".join(_lines(function, function.definitions))


def _written(e: ir.ExprNode) -> str:
    return format_expr(e) if _is_short(e) else f"<{e.type}: a long expression>"


def _is_short(*exprs: ir.ExprNode) -> bool:
    """True where written out the expressions have few nodes."""
    sizes: dict[ir.ExprNode, int] = {}
    for e in subexpressions(exprs):  # operands come before what they are part of
        sizes[e] = 1 + sum(sizes[p] for p in parts(e))
    return sum(sizes[e] for e in exprs) <= _MOST_NODES


def _lines(function: Function, definitions: Sequence[Definition]) -> Iterator[str]:
    for d in definitions:
        values = ", ".join(map(_written, d.values))
        right = f"({values})" if len(d.values) > 1 else values
        yield f"{function.name}[{', '.join(map(_written, d.args))}] = {right}{_domain(d)}"


def _domain(d: Definition) -> str:
    if d.domain is None:
        return ""
    named = zip(d.domain.names, d.domain.bounds, strict=True)
    loops = ", ".join(f"{name} in {format_interval(interval)}" for name, interval in named)
    tests = [_written(p) for p in (d.domain.predicate, d.predicate) if p is not ir.TRUE]
    where = f" where {' and '.join(dict.fromkeys(tests))}" if tests else ""
    return f"   for {loops}{where}"


def latex_definitions(function: Function) -> str | None:
    """The stages of a Func as LaTeX; None where there are none, or where they are too long to be read."""
    if not function.definitions or not _is_short(*(e for d in function.definitions for e in (*d.args, *d.values))):
        return None
    rows = []
    for d in function.definitions:
        left = f"{_name(function.name)}({', '.join(map(_latex, d.args))})"
        rows.append(f"{left} &= {', '.join(map(_latex, d.values))}")
    body = r" \\ ".join(rows)
    return rf"$$\begin{{aligned}} {body} \end{{aligned}}$$"


def latex_expression(e: ir.ExprNode) -> str | None:
    """An expression as LaTeX; None where it is too long to be read."""
    return f"${_latex(e)}$" if _is_short(e) else None


_SIGNS = {
    BinaryOp.OR: (1, r"\lor"),
    BinaryOp.AND: (2, r"\land"),
    BinaryOp.EQ: (3, "="),
    BinaryOp.NE: (3, r"\ne"),
    BinaryOp.LT: (3, "<"),
    BinaryOp.LE: (3, r"\le"),
    BinaryOp.BIT_OR: (4, r"\mathbin{|}"),
    BinaryOp.BIT_XOR: (5, r"\oplus"),
    BinaryOp.BIT_AND: (6, r"\mathbin{\&}"),
    BinaryOp.SHL: (7, r"\ll"),
    BinaryOp.SHR: (7, r"\gg"),
    BinaryOp.ADD: (8, "+"),
    BinaryOp.SUB: (8, "-"),
    BinaryOp.MUL: (9, r"\cdot"),
    BinaryOp.MOD: (9, r"\bmod"),
}
_ATOM = 12


def _latex(e: ir.ExprNode) -> str:
    return _formed(e)[1]


def _at(e: ir.ExprNode, level: int) -> str:
    own, text = _formed(e)
    return text if own >= level else rf"\left({text}\right)"


def _formed(e: ir.ExprNode) -> tuple[int, str]:
    """The precedence of the text, and the text."""
    form = _FORMS.get(type(e))
    return form(e) if form is not None else (_ATOM, rf"\texttt{{{_escaped(format_expr(e))}}}")


def _binary(e: ir.Binary) -> tuple[int, str]:
    if e.op in (BinaryOp.MIN, BinaryOp.MAX):
        return _ATOM, rf"\{e.op.value}\left({_latex(e.a)}, {_latex(e.b)}\right)"
    if e.op is BinaryOp.DIV:
        fraction = rf"\frac{{{_latex(e.a)}}}{{{_latex(e.b)}}}"
        return _ATOM, fraction if e.type.is_float() else rf"\left\lfloor {fraction} \right\rfloor"
    level, sign = _SIGNS[e.op]
    return level, f"{_at(e.a, level)} {sign} {_at(e.b, level + 1)}"


def _integer(e: ir.IntImm) -> tuple[int, str]:
    return _ATOM if e.value >= 0 else 8, rf"\text{{{format_expr(e)}}}" if e.type.is_bool() else str(e.value)


def _select(e: ir.Select) -> tuple[int, str]:
    cases = rf"{_latex(e.a)} & {_latex(e.condition)} \\ {_latex(e.b)} & \text{{otherwise}}"
    return _ATOM, rf"\begin{{cases}} {cases} \end{{cases}}"


def _call(name: str, args: tuple[ir.ExprNode, ...]) -> str:
    return rf"{_name(name)}\left({', '.join(map(_latex, args))}\right)"


def _access(e: ir.Access) -> tuple[int, str]:
    component = f"_{{{e.component}}}" if len(e.callee.types) > 1 else ""
    return _ATOM, rf"{_name(e.callee.name)}{component}\left({', '.join(map(_latex, e.args))}\right)"


def _name(name: str) -> str:
    """A name upright where it is longer than a letter, as mathematics has it."""
    return name if len(name) == 1 and name.isalpha() else rf"\mathrm{{{_escaped(name)}}}"


def _escaped(text: str) -> str:
    for sign in r"\{}":
        text = text.replace(sign, " ")
    for sign in "_$%&#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("^", r"\^{}").replace("~", r"\~{}")


_FORMS: dict[type, Callable[[Any], tuple[int, str]]] = {
    ir.IntImm: _integer,
    ir.FloatImm: lambda e: (_ATOM if e.value >= 0 else 8, repr(e.value)),
    ir.Variable: lambda e: (_ATOM, _name(e.name)),
    ir.RVarRef: lambda e: (_ATOM, _name(e.domain.names[e.index])),
    ir.ParamRef: lambda e: (_ATOM, _name(e.param.name)),
    ir.Binary: _binary,
    ir.Not: lambda e: (11, rf"\lnot {_at(e.a, 11)}"),
    ir.Select: _select,
    ir.Cast: lambda e: (_ATOM, _call(str(e.type), (e.a,))),
    ir.Call: lambda e: (_ATOM, _call(e.function.value, e.args)),
    ir.Access: _access,
}
