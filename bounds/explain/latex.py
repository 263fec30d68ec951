"""Bounds as LaTeX, rendered by sympy. Only this module imports sympy for that, and it is loaded on first use.

In: an expression. Out: LaTeX, the same in every process.

    min(by.extent.0, 32) - 1   ->   \\min\\left(32, \\mathrm{by.extent}_{0}\\right) - 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm
from halide_core.ir.printer import format_expr, hole_name
from halide_core.ir.visitor import parts, subexpressions

_RELATIONS: dict[BinaryOp, Callable[..., Any]] = {
    BinaryOp.EQ: sympy.Eq,
    BinaryOp.NE: sympy.Ne,
    BinaryOp.LT: sympy.Lt,
    BinaryOp.LE: sympy.Le,
}


def latex_of(e: ExprNode) -> str:
    """One expression."""
    names: dict[sympy.Symbol, str] = {}
    built: dict[ExprNode, Any] = {}
    for node in subexpressions([e]):
        built[node] = _build(node, [built[p] for p in parts(node)], names)
    text: str = sympy.latex(built[e], symbol_names=names, fold_func_brackets=False)
    return text


def _build(e: ExprNode, operands: list[Any], names: dict[sympy.Symbol, str]) -> Any:
    match e:
        case IntImm(type=type, value=value):
            return sympy.Integer(value) if not type.is_bool() else (sympy.true if value else sympy.false)
        case ir.FloatImm():
            return sympy.Float(e.value)
        case ir.Variable() | ir.RVarRef() | ir.ParamRef() | ir.BufferField() | ir.Hole():
            symbol = sympy.Symbol(format_expr(e), integer=True)
            names[symbol] = _leaf(e)
            return symbol
        case ir.Access(callee=callee):
            return _function(callee.name)(*operands)
        case ir.Select(condition=condition):
            test, yes, no = operands
            return sympy.Piecewise((yes, _truth(condition, test)), (no, True), evaluate=False)
        case ir.Not(a=a):
            return sympy.Not(_truth(a, operands[0]))
        case ir.Cast(type=type, a=a):
            widens = type.is_integer() and a.type.is_integer() and not a.type.is_bool() and type.can_represent(a.type)
            return operands[0] if widens else _function(str(type))(*operands)
        case Binary():
            return _binary(e, operands)
        case ir.Call(function=function):
            return _function(function.value)(*operands)
    raise InternalError(f"A bound can't hold {e!r}.")


def _binary(e: Binary, operands: list[Any]) -> Any:
    a, b = operands
    if e.op in _RELATIONS and not e.a.type.is_bool():
        return _RELATIONS[e.op](a, b, evaluate=False)
    match e.op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MUL:
            return a * b
        case BinaryOp.MIN:
            return sympy.Min(a, b, evaluate=False)
        case BinaryOp.MAX:
            return sympy.Max(a, b, evaluate=False)
        case BinaryOp.DIV if _positive(e.b) and e.type.is_integer():
            return sympy.floor(sympy.Mul(a, sympy.Pow(b, -1, evaluate=False), evaluate=False), evaluate=False)
        case BinaryOp.MOD if _positive(e.b) and e.type.is_integer():
            return sympy.Mod(a, b, evaluate=False)
        case BinaryOp.AND:
            return sympy.And(_truth(e.a, a), _truth(e.b, b), evaluate=False)
        case BinaryOp.OR:
            return sympy.Or(_truth(e.a, a), _truth(e.b, b), evaluate=False)
    return _function(_WORDS.get(e.op, e.op.name.lower()))(a, b)


_WORDS = {BinaryOp.DIV: "div", BinaryOp.MOD: "mod"}


def _positive(e: ExprNode) -> bool:
    return isinstance(e, IntImm) and e.value > 0


def _truth(e: ExprNode, built: Any) -> Any:
    """A condition as sympy wants it: a bool that it knows only as a value is compared."""
    return built if isinstance(built, sympy.logic.boolalg.Boolean) else sympy.Ne(built, 0, evaluate=False)


def _function(name: str) -> Any:
    return sympy.Function(_roman(name))


def _roman(name: str) -> str:
    """A name in upright letters."""
    return f"\\mathrm{{{name.translate(_ESCAPES)}}}"


_ESCAPES = str.maketrans(
    {c: f"\\{c}" for c in "_$%&#{}"} | {"\\": r"\backslash{}", "^": r"\hat{}", "~": r"\sim{}", "?": ""}
)


def _leaf(e: ExprNode) -> str:
    match e:
        case ir.BufferField(buffer=buffer, field=field, dim=dim):
            return f"{_roman(f'{buffer.name}.{field.value}')}_{{{dim}}}"
        case ir.Hole(end=end):
            return f"{_roman(hole_name(e))}_{{\\{'min' if end is ir.End.MIN else 'mathrm{len}'}}}"
    return _roman(format_expr(e))
