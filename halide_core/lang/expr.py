"""The user's expressions: operators on Vars, RVars, Params, Func calls and numbers, with Halide's typing rules.

In: Python operators. Out: typed IR nodes, wrapped so that ``==`` can mean comparison.

    Expr(u8) + 1      ->  u8:  the literal takes the other operand's type
    Expr(u8) + 300    ->  TypeMismatchError: 300 is not a value of uint8
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from halide_core import ir
from halide_core.checks import integer, of_kind, shown
from halide_core.errors import DefinitionError, NotIterableError, TruthValueError, TypeMismatchError
from halide_core.ir import BinaryOp
from halide_core.ir.names import OUTERMOST, automatic_name
from halide_core.ir.types import BOOL, INT32, Float, Int, Type, make_limits_with
from halide_core.lang.arguments.literals import literal, literal_as
from halide_core.lang.mathematics import latex_expression
from halide_core.own_name import stands_for_halide

_FLOAT32 = Float(32)
_MOST_FACTORS = 1 << 12
"""Factors of an integer power, which is as large as that where it is walked as a tree; beyond, it is a float."""
_NO_NUMBER = "An expression has no value while the pipeline is being defined, so it is no Python {}: {}."


class Operand:
    """Whatever can stand in an expression. Subclasses say which IR node they are."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == builds an expression, so an operand is no dict key
    __array_ufunc__ = None  # np.float64(3) * e asks e, instead of making an array of objects

    def _node(self) -> ir.ExprNode:
        raise NotImplementedError  # each kind of operand says

    def _nodes(self) -> tuple[ir.ExprNode, ...]:
        """One node for each component: several where this is a Tuple Func at a point."""
        return (self._node(),)

    def _is_pointer(self) -> bool:
        """True where this is a Param of type Handle: no number, until it is reinterpreted as one."""
        return False

    def type(self) -> Type:
        """The value's type."""
        return self._node().type

    def __add__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.ADD, self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.ADD, other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.SUB, self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.SUB, other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.MUL, self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.MUL, other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.DIV, self, other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.DIV, other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return floor_division(self, other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return floor_division(other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.MOD, self, other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.MOD, other, self)

    def __pow__(self, other: ExprLike) -> Expr:
        return power(self, other)

    def __rpow__(self, other: ExprLike) -> Expr:
        return power(other, self)

    def __and__(self, other: ExprLike) -> Expr:
        return bitwise(BinaryOp.BIT_AND, self, other)

    def __rand__(self, other: ExprLike) -> Expr:
        return bitwise(BinaryOp.BIT_AND, other, self)

    def __or__(self, other: ExprLike) -> Expr:
        return bitwise(BinaryOp.BIT_OR, self, other)

    def __ror__(self, other: ExprLike) -> Expr:
        return bitwise(BinaryOp.BIT_OR, other, self)

    def __xor__(self, other: ExprLike) -> Expr:
        return bitwise(BinaryOp.BIT_XOR, self, other)

    def __rxor__(self, other: ExprLike) -> Expr:
        return bitwise(BinaryOp.BIT_XOR, other, self)

    def __lshift__(self, other: ExprLike) -> Expr:
        return shift(BinaryOp.SHL, self, other)

    def __rlshift__(self, other: ExprLike) -> Expr:
        return shift(BinaryOp.SHL, other, self)

    def __rshift__(self, other: ExprLike) -> Expr:
        return shift(BinaryOp.SHR, self, other)

    def __rrshift__(self, other: ExprLike) -> Expr:
        return shift(BinaryOp.SHR, other, self)

    def __lt__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.LT, self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.LE, self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.LT, other, self)

    def __ge__(self, other: ExprLike) -> Expr:
        return arithmetic(BinaryOp.LE, other, self)

    def __eq__(self, other: ExprLike) -> Expr:  # type: ignore[override]  # comparison builds an expression
        return arithmetic(BinaryOp.EQ, self, other)

    def __ne__(self, other: ExprLike) -> Expr:  # type: ignore[override]  # comparison builds an expression
        return arithmetic(BinaryOp.NE, self, other)

    def __neg__(self) -> Expr:
        refuse_pointers("-", self)
        node = self._node()
        return Expr.of(ir.sub(ir.const(0 if not node.type.is_float() else -0.0, node.type), node))

    def __pos__(self) -> Expr:
        return Expr.of(self._node())

    def __invert__(self) -> Expr:
        refuse_pointers("~", self)
        node = self._node()
        if node.type.is_bool():
            return Expr.of(ir.Not(BOOL, node))
        if not node.type.is_integer():
            raise TypeMismatchError(f'"~" needs a bool or an integer, not {node.type}.')
        return Expr.of(ir.binary(BinaryOp.BIT_XOR, node, ir.const(-1, node.type)))

    def logical_not(self) -> Expr:
        """``~self`` on a truth value."""
        node = self._node()
        if not node.type.is_bool():
            raise TypeMismatchError(f"logical_not() needs a bool, not {node.type}.")
        return Expr.of(ir.Not(BOOL, node))

    def __bool__(self) -> bool:
        raise TruthValueError(
            "An Expr cannot be converted to a bool: it has no truth value while the pipeline is being defined. "
            "Write & for 'and', | for 'or', ~ for 'not', hl.select(c, a, b) for 'if', "
            "and (a < b) & (b < c) for a chained comparison."
        )

    def _repr_latex_(self) -> str | None:
        """Mathematics, for notebooks."""
        return latex_expression(self._node())

    def __iter__(self) -> None:
        raise NotIterableError(
            f"{self!r} is one value, which is not known while the pipeline is being defined: it can't be iterated over."
        )

    def __int__(self) -> int:
        raise TypeMismatchError(_NO_NUMBER.format("int", "hl.i32(…) converts"))

    def __float__(self) -> float:
        raise TypeMismatchError(_NO_NUMBER.format("float", "hl.f32(…) converts, and hl.sin is math.sin"))

    if not TYPE_CHECKING:  # else range(x) would pass the type checker

        def __index__(self) -> int:
            raise TypeMismatchError(
                "An expression has no value while the pipeline is being defined, so it is no Python index: "
                "hl.Buffer(array)[x, y] reads array[y, x], and an RDom takes the place of range()."
            )


class Expr(Operand):
    """A typed expression, built from a number (an int is int32, or int64 where it doesn't fit) or by operators.

    ``Expr()`` is undefined: what stands for a limit that is not set. It can't be used, only asked.
    """

    __slots__ = ("_wrapped",)
    _wrapped: ir.ExprNode | None

    def __init__(self, *value: ExprLike) -> None:
        if len(value) > 1:
            raise DefinitionError(f"An Expr is made of one value, not of {len(value)}.")
        self._wrapped = as_node(value[0]) if value else None

    @classmethod
    def of(cls, node: ir.ExprNode) -> Expr:
        """Wraps an IR node."""
        self = cls.__new__(cls)
        self._wrapped = node
        return self

    def _node(self) -> ir.ExprNode:
        if self._wrapped is None:
            raise DefinitionError("An undefined Expr is used: ask defined() first.")
        return self._wrapped

    def defined(self) -> bool:
        """True where there is an expression: ``Expr()`` is not defined."""
        return self._wrapped is not None

    def _repr_latex_(self) -> str | None:
        return None if self._wrapped is None else latex_expression(self._wrapped)

    def __repr__(self) -> str:
        return "(undefined)" if self._wrapped is None else repr(self._wrapped)


make_limits_with(lambda value, type: Expr.of(ir.const(value, type)))

Number: TypeAlias = "int | float | bool | np.generic"
ExprLike: TypeAlias = "Operand | int | float | bool | np.generic"


def as_node(value: object) -> ir.ExprNode:
    """The IR node of an operand or a number."""
    return value._node() if isinstance(value, Operand) else literal(value)


def promoted(a: Type, b: Type) -> Type:
    """The common type of two operands (PEER.md, "Mixed types")."""
    if a is b:
        return a
    if a.is_float() or b.is_float():
        if a.is_narrow_float() and b.is_narrow_float():
            raise TypeMismatchError(f"{a} and {b} have no common type: convert one of them, or both with hl.f32(…).")
        if a.is_float() and b.is_float():
            return a if a.bits() >= b.bits() else b
        return a if a.is_float() else b
    if a.is_handle() or b.is_handle():
        raise TypeMismatchError(f"{a} and {b} have no common type.")
    bits = max(a.bits(), b.bits())
    return a.with_bits(bits) if a.is_uint() and b.is_uint() else Int(bits)


def is_plain(value: object) -> bool:
    """True where this is a Python number, which takes the type of what it meets; a numpy scalar has its own."""
    return isinstance(value, bool | int | float) and not isinstance(value, np.generic)


def _is_pointer(value: object) -> bool:
    return isinstance(value, Operand) and value._is_pointer()


def refuse_pointers(what: str, *values: object) -> None:
    """Refuses arithmetic on pointers."""
    pointer = next((v for v in values if _is_pointer(v)), None)
    if pointer is not None:
        raise TypeMismatchError(
            f'"{what}" can\'t be applied to {pointer!r}: there is no arithmetic on pointers. '
            f"hl.reinterpret(hl.UInt(64), …) is the address as a number."
        )


def matched(a: object, b: object) -> tuple[ir.ExprNode, ir.ExprNode]:
    """Two operands brought to one type: a Python number takes the other's."""
    plain_a, plain_b = is_plain(a), is_plain(b)
    if plain_a and not plain_b:
        y = as_node(b)
        x = literal_as(a, y.type)
    elif plain_b and not plain_a:
        x = as_node(a)
        y = literal_as(b, x.type)
    else:
        x, y = as_node(a), as_node(b)
    common = promoted(x.type, y.type)
    return ir.cast(common, x), ir.cast(common, y)


def arithmetic(op: BinaryOp, a: ExprLike, b: ExprLike) -> Expr:
    """``a op b`` after matching types. Pointers can be compared with each other."""
    if op not in ir.COMPARISONS or _is_pointer(a) != _is_pointer(b):
        refuse_pointers(op.value, a, b)
    x, y = matched(a, b)
    return Expr.of(ir.binary(op, x, y))


def floor_division(a: ExprLike, b: ExprLike) -> Expr:
    """``a // b``: Euclidean on integers, the floor of the quotient on floats."""
    quotient = arithmetic(BinaryOp.DIV, a, b)._node()
    return Expr.of(ir.Call(quotient.type, ir.Intrinsic.FLOOR, (quotient,)) if quotient.type.is_float() else quotient)


def bitwise(op: BinaryOp, a: ExprLike, b: ExprLike) -> Expr:
    """``&``, ``|``, ``^``: logic on bools, bits on integers; of two widths, but not of two signs."""
    refuse_pointers(op.value, a, b)
    x, y = matched(a, b)
    signs = [as_node(v).type for v in (a, b) if not is_plain(v)]
    if len(signs) == 2 and signs[0].is_int() != signs[1].is_int() and x.type.is_integer():
        raise TypeMismatchError(
            f'"{op.value}" needs two signed or two unsigned integers, not {signs[0]} and {signs[1]}: '
            f"convert one of them, for example with hl.{'iu'[signs[0].is_uint()]}{signs[1].bits()}(…)."
        )
    if not x.type.is_integer():
        raise TypeMismatchError(f'"{op.value}" needs bools or integers, not {x.type}.')
    if x.type.is_bool():
        logic = {BinaryOp.BIT_AND: BinaryOp.AND, BinaryOp.BIT_OR: BinaryOp.OR, BinaryOp.BIT_XOR: BinaryOp.NE}
        op = logic[op]
    return Expr.of(ir.binary(op, x, y))


def shift(op: BinaryOp, a: ExprLike, b: ExprLike) -> Expr:
    """``a << b`` and ``a >> b``, as signed as ``a`` and as wide as the wider of the two; a Python int as a count widens
    nothing. A negative count shifts the other way."""
    refuse_pointers(op.value, a, b)
    x = as_node(a)
    if isinstance(b, int) and not isinstance(b, bool):
        type = x.type.with_code(INT32.code()) if x.type.is_integer() else INT32
        y = ir.const(min(max(b, type.range[0]), type.range[1]), type)  # one that wraps could be any other
    else:
        y = as_node(b)
    if not x.type.is_integer() or not y.type.is_integer() or x.type.is_bool():
        raise TypeMismatchError(f'"{op.value}" needs integers, not {x.type} and {y.type}.')
    if y.type.bits() > x.type.bits():
        x = ir.cast(x.type.with_bits(y.type.bits()), x)
    # The count is signed and as wide as the value; a count that is too large for that is too large to matter.
    count = x.type.with_code(INT32.code())
    if y.type.is_uint() and y.type.bits() == count.bits():
        y = ir.minimum(y, ir.const(count.range[1], y.type))
    return Expr.of(ir.binary(op, x, ir.cast(count, y)))


def power(a: ExprLike, b: ExprLike) -> Expr:
    """``a ** b``: repeated multiplication for a constant exponent (``whole_exponent``), else the float function, in the
    base's type where that is a float. The function, as it is nearer, also where a float would be multiplied often."""
    refuse_pointers("**", a, b)
    x, y = as_node(a), whole_exponent(b)
    is_function = x.type.is_float() and not x.type.is_bfloat()
    if y is not None and abs(y.value) <= (64 if is_function else _MOST_FACTORS):
        powered = _repeated(x, abs(y.value))
        return Expr.of(powered if y.value >= 0 else ir.div(ir.const(1, x.type), powered))
    type = x.type if is_function else _FLOAT32
    return Expr.of(ir.Call(type, ir.Intrinsic.POW, (ir.cast(type, x), ir.cast(type, as_node(b)))))


def whole_exponent(value: ExprLike) -> ir.IntImm | None:
    """A constant by which a base is multiplied: a number of Python or numpy, or of a signed type. As in Halide an Expr
    of an unsigned type is none."""
    node = as_node(value)
    if not isinstance(node, ir.IntImm) or not (node.type.is_int() or isinstance(value, np.integer)):
        return None
    return node


def _repeated(base: ir.ExprNode, times: int) -> ir.ExprNode:
    """A product in Halide's order, from the first bit of the exponent on, so that floats are rounded alike."""
    if times == 0:
        return ir.const(1, base.type)
    result = base
    for bit in f"{times:b}"[1:]:
        result = ir.mul(result, result)
        if bit == "1":
            result = ir.mul(result, base)
    return result


def as_bool(value: ExprLike) -> Expr:
    """A condition: bool as it is, an integer compared with zero."""
    node = as_node(value)
    if node.type.is_bool():
        return Expr.of(node)
    if node.type.is_integer():
        return Expr.of(ir.binary(BinaryOp.NE, node, ir.const(0, node.type)))
    raise TypeMismatchError(f"A condition must be a bool, not {node.type}.")


_PLACEHOLDER = "_"
_IMPLICIT = tuple(f"_{i}" for i in range(10))


class Var(Operand):
    """A pure variable, or a name for a loop of a schedule. Two Vars of one name are the same variable."""

    __slots__ = ("_name",)

    def __init__(self, name: str | None = None) -> None:
        if name is not None and (not isinstance(name, str) or not name):
            raise DefinitionError(f"The name of a Var must be a non-empty string, not {shown(name)}.")
        self._name = name if name is not None else automatic_name()

    def name(self) -> str:
        """The variable's name."""
        return self._name

    def same_as(self, other: Var) -> bool:
        """True where both are the same variable."""
        return self._name == of_kind(other, Var, "same_as() of a Var takes a Var")._name

    @staticmethod
    def implicit(index: int) -> Var:
        """The implicit variable ``_0``, ``_1``, …: what the placeholder ``_`` stands for."""
        if not 0 <= integer(index, "The number of an implicit variable is an integer") < len(_IMPLICIT):
            raise DefinitionError(f"There are {len(_IMPLICIT)} implicit variables: no variable {shown(index)}.")
        return Var(_IMPLICIT[index])

    @staticmethod
    def outermost() -> Var:
        """The place around all loops of a Func: ``g.compute_at(f, Var.outermost())`` computes g just before f's loops,
        wherever f is computed."""
        return Var(OUTERMOST)

    def is_implicit(self) -> bool:
        """True where this is one of ``_0`` to ``_9``."""
        return self._name in _IMPLICIT

    def implicit_index(self) -> int:
        """The number of an implicit variable; -1 for any other."""
        return _IMPLICIT.index(self._name) if self.is_implicit() else -1

    def is_placeholder(self) -> bool:
        """True where this is ``_``, which stands for as many implicit variables as a Func has dimensions left."""
        return self._name == _PLACEHOLDER

    def _node(self) -> ir.ExprNode:
        return ir.pure_variable(self._name)

    def __hash__(self) -> int:  # type: ignore[override]  # a Var is its name, so it can be a key
        return hash(self._name)

    def __repr__(self) -> str:
        return f"<halide.Var {self._name!r}>" if stands_for_halide() else f"Var({self._name!r})"

    def __str__(self) -> str:
        return self._name
