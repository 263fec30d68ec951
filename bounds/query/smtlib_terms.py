"""Expressions as terms of SMT-LIB 2, with the semantics of ``halide_core.reference.scalar_ops``. A writer; no solver.

In: an expression. Out: its text. Names, helper functions and uninterpreted functions are collected on the way, to be
declared at the head of a script.

    uint8(x) + 200    ->   (|wrap uint8| (+ |x| 200))          x/n   ->   (|div by| |x| |n|)

Index arithmetic is that of all integers. Arithmetic of every other integer type wraps, and so does int64 arithmetic on
values from memory. Division and remainder are Euclidean, and by zero they give zero. Memory is an uninterpreted
function of coordinates. What has no place in integer arithmetic (floats, bit tricks, mathematical functions) is an
uninterpreted function of its operands: ``facts`` says between which constants its values lie.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import EVERYTHING, Range, fits, magnitude, of_integers, union
from halide_core.analysis.value_ends import Ends, ValueEnds, between
from halide_core.analysis.value_range import ValueRanges
from halide_core.errors import InternalError
from halide_core.ir import Access, Binary, BinaryOp, BufferField, ExprNode, Field, Hole, IntImm, Intrinsic, ParamRef
from halide_core.ir.types import INT32, INT64, Type
from halide_core.ir.visitor import parts, subexpressions

_HELPERS = {
    "min": "(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))",
    "max": "(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))",
    "abs": "(define-fun |abs of| ((a Int)) Int (ite (< a 0) (- a) a))",
    "div": "(define-fun |div by| ((a Int) (b Int)) Int (ite (= b 0) 0 (div a b)))",
    "mod": "(define-fun |mod by| ((a Int) (b Int)) Int (ite (= b 0) 0 (mod a b)))",
}
_COMPARISONS = {BinaryOp.EQ: "=", BinaryOp.NE: "distinct", BinaryOp.LT: "<", BinaryOp.LE: "<="}
_TRUTHS = {
    BinaryOp.AND: "and",
    BinaryOp.BIT_AND: "and",
    BinaryOp.MIN: "and",
    BinaryOp.MUL: "and",
    BinaryOp.OR: "or",
    BinaryOp.BIT_OR: "or",
    BinaryOp.MAX: "or",
    BinaryOp.EQ: "=",
    BinaryOp.NE: "xor",
    BinaryOp.BIT_XOR: "xor",
    BinaryOp.LE: "=>",
}
_SUMS = {BinaryOp.ADD: "+", BinaryOp.SUB: "-", BinaryOp.MUL: "*"}



class Symbols:
    """One symbol for each thing that has a name; things of one name get different symbols.

    A name is never one that SMT-LIB or a helper has: those of loops and arguments have a dot in them, holes a question
    mark, and memory and parameters get something added.
    """

    def __init__(self) -> None:
        self._known: dict[object, str] = {}
        self._taken: dict[str, None] = {}

    def of(self, thing: object, wanted: str) -> str:
        """The quoted symbol of a thing, named ``wanted`` if it is the first of that name."""
        known = self._known.get(thing)
        if known is None:
            clean = "".join(c if c.isascii() and c.isprintable() and c not in "|\\" else "_" for c in wanted)
            known, number = f"|{clean}|", 1
            while known in self._taken:
                number += 1
                known = f"|{clean} #{number}|"
            self._taken[known] = None
            self._known[thing] = known
        return known


def sort_of(type: Type) -> str:
    """The SMT-LIB sort of a type's values."""
    if type.is_bool():
        return "Bool"
    return "Int" if type.is_integer() else f"|value {type}|"


def number(value: int) -> str:
    """An integer literal."""
    return str(value) if value >= 0 else f"(- {-value})"


class Writer:
    """Writes the terms of one script.

    ``hole`` writes a hole: how it is declared is the script's matter, and so is how variables are.
    """

    def __init__(self, symbols: Symbols, hole: Callable[[Hole], str]) -> None:
        self._symbols = symbols
        self._hole = hole
        self._ranges: dict[ExprNode, Range] = {}
        self._values = ValueRanges()
        self._ends = ValueEnds(self._values)
        self._reads: dict[ExprNode, bool] = {}
        self._facts: dict[ExprNode, ExprNode] = {}
        self._shared = 0
        self.sorts: dict[str, None] = {}
        self.helpers: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        """Declarations of memory, parameters, fields and uninterpreted operators."""
        self.inputs: dict[ExprNode, None] = {}
        """The parameters and fields that occur."""
        self.nonlinear = False

    def term(self, e: ExprNode) -> str:
        """An expression; a part that occurs several times is written once, in a ``let``."""
        uses: dict[ExprNode, int] = {}
        order = list(subexpressions([e]))
        for node in order:
            for part in parts(node):
                uses[part] = uses.get(part, 0) + 1
        texts: dict[ExprNode, str] = {}
        lets: list[tuple[str, str]] = []
        for node in order:
            text = self._node(node, [texts[p] for p in parts(node)])
            if uses.get(node, 0) > 1 and parts(node):
                self._shared += 1
                name = f"|t!{self._shared}|"
                lets.append((name, text))
                text = name
            texts[node] = text
        result = texts[e]
        for name, text in reversed(lets):
            result = f"(let (({name} {text})) {result})"
        return result

    def facts(self, e: ExprNode) -> list[ExprNode]:
        """Range facts about the values that occur in an expression: those of memory lie in the range of their type, and
        those of a Func in the range of what its definitions give; so do those of operators that are uninterpreted."""
        found = []
        for node in subexpressions([e]):
            known = self._facts.get(node)
            if known is None:
                known = self._facts[node] = self._fact(node)
            if known is not ir.TRUE:
                found.append(known)
        return found

    def _fact(self, e: ExprNode) -> ExprNode:
        if not e.type.is_integer() or e.type.is_bool() or not (isinstance(e, Access) or self._is_opaque(e)):
            return ir.TRUE
        low, high = self._values.of(e)
        least, most = (ir.const(int(end), e.type) for end in (low, high))
        known = ir.conjunction(ir.less_equal(least, e), ir.less_equal(e, most))
        if isinstance(e, Access) and isinstance(e.callee, Function):
            return reduce(ir.conjunction, between(e, self.value_ends(e.callee, e.component)), known)
        return known

    def value_ends(self, f: Function, component: int) -> Ends:
        """Between which expressions of Params the values of a Func lie."""
        return self._ends.of_function(f, component)

    def value_range(self, f: Function, component: int) -> tuple[int, int] | None:
        """Between which constants the values of a Func lie, where that is less than its type."""
        type = f.types[component]
        if not type.is_integer() or type.is_bool():
            return None
        low, high = self._values.of_function(f, component)
        return None if (low, high) == type.range else (int(low), int(high))

    # -- names

    def variable(self, v: ir.Variable) -> str:
        """The symbol of a variable."""
        return self._symbols.of(v, v.name)

    def _declared(self, thing: object, wanted: str, operands: list[Type], result: Type) -> str:
        name = self._symbols.of(thing, wanted)
        sorts = [sort_of(t) for t in (*operands, result)]
        for sort in sorts:
            if sort not in ("Int", "Bool"):
                self.sorts.setdefault(sort)
        self.functions.setdefault(name, f"(declare-fun {name} ({' '.join(sorts[:-1])}) {sorts[-1]})")
        return name

    def _helper(self, name: str) -> str:
        self.helpers.setdefault(name, _HELPERS[name])
        return _HELPERS[name].split(" (", 1)[0].removeprefix("(define-fun ")

    # -- nodes

    def _node(self, e: ExprNode, operands: list[str]) -> str:
        match e:
            case IntImm(type=type, value=value):
                return ("true" if value else "false") if type.is_bool() else number(value)
            case ir.Variable():
                return self.variable(e)
            case Hole():
                return self._hole(e)
            case ParamRef(param=param):
                self.inputs.setdefault(e)
                return self._declared(param, f"param {param.name}", [], e.type)
            case BufferField(buffer=buffer, field=field, dim=dim):
                self.inputs.setdefault(e)
                return self._declared(e, f"{buffer.name}.{field.value}.{dim}", [], e.type)
            case Access(callee=callee, component=component, args=args):
                part = f".{component}" if len(callee.types) > 1 else ""
                name = self._declared((callee, component), f"{callee.name}{part}[]", [a.type for a in args], e.type)
                return _applied(name, operands)
            case ir.Print():
                return operands[0]
            case ir.Not():
                return f"(not {operands[0]})"
            case ir.Select():
                return _applied("ite", operands)
            case ir.Cast(type=type, a=a) if type.is_integer() and a.type.is_integer():
                return self._cast(type, a, operands[0])
            case ir.Call(function=Intrinsic.ABS, args=(a,)) if a.type.is_integer():
                return self._fitted(e, _applied(self._helper("abs"), operands), self._exact(e))
            case ir.Promise():  # as if it were kept: a clamp
                least = _applied(self._helper("min"), [operands[0], operands[2]])
                return _applied(self._helper("max"), [least, operands[1]])
            case Binary(a=a) if a.type.is_bool() and e.op in _TRUTHS:
                return _applied(_TRUTHS[e.op], operands)
            case Binary(a=a) if a.type.is_integer() and not a.type.is_bool() and not self._is_opaque(e):
                return self._integer(e, operands)
            case ir.Load() | ir.RVarRef() | ir.Ramp() | ir.Broadcast():
                raise InternalError(f"A bounds query can't hold {e!r}.")
        return self._opaque(e, operands)

    def _cast(self, type: Type, a: ExprNode, operand: str) -> str:
        if a.type.is_bool():
            return operand if type.is_bool() else f"(ite {operand} 1 0)"
        if type.is_bool():
            return f"(distinct {operand} 0)"
        return self._wrapped(type, operand, self._range(a))

    def _integer(self, e: Binary, operands: list[str]) -> str:
        if e.op in _COMPARISONS:
            return _applied(_COMPARISONS[e.op], operands)
        match e:
            case Binary(op=BinaryOp.SHL, b=IntImm(value=k)):
                text = f"(* {operands[0]} {1 << k})"
            case Binary(op=BinaryOp.SHR, b=IntImm(value=k)):
                text = f"(div {operands[0]} {1 << k})"
            case Binary(op=BinaryOp.BIT_AND, b=IntImm(value=k)):
                text = f"(mod {operands[0]} {k + 1})"
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX):
                text = _applied(self._helper(e.op.value), operands)
            case Binary(op=BinaryOp.DIV | BinaryOp.MOD):
                text = self._quotient(e, operands)
            case _:
                text = _applied(_SUMS[e.op], operands)
                if e.op is BinaryOp.MUL and not isinstance(e.a, IntImm) and not isinstance(e.b, IntImm):
                    self.nonlinear = True
        return self._fitted(e, text, self._exact(e))

    def _quotient(self, e: Binary, operands: list[str]) -> str:
        name = "div" if e.op is BinaryOp.DIV else "mod"
        if isinstance(e.b, IntImm):
            return _applied(name, operands) if e.b.value else "0"
        self.nonlinear = True
        return _applied(self._helper(name), operands)

    def _opaque(self, e: ExprNode, operands: list[str]) -> str:
        match e:
            case ir.FloatImm():
                wanted = f"{e.type} {e.value!r}"
                return self._declared(e, wanted, [], e.type)
            case Binary(op=op, a=a):
                wanted = f"{a.type} {op.value}"
            case ir.Cast(type=type, a=a):
                wanted = f"{type} of {a.type}"
            case ir.Call(function=function):
                wanted = f"{e.type} {function.value}"
            case _:
                raise InternalError(f"A bounds query can't hold {e!r}.")
        types = [p.type for p in parts(e)]
        return _applied(self._declared((wanted, *types), wanted, types, e.type), operands)

    # -- ranges

    def _is_opaque(self, e: ExprNode) -> bool:
        """True where an expression is an uninterpreted function of its operands."""
        match e:
            case Binary(op=BinaryOp.SHL | BinaryOp.SHR, b=IntImm(value=k)):
                return not 0 <= k < e.type.bits()
            case Binary(op=BinaryOp.BIT_AND, b=IntImm(value=k)):
                return k < 0 or k & (k + 1) != 0
            case Binary(op=op, a=a):
                if a.type.is_bool():
                    return op not in _TRUTHS
                known = op in _COMPARISONS or op in _SUMS
                return not a.type.is_integer() or not (known or op.value in _HELPERS or op in _QUOTIENTS)
            case ir.Cast(type=type, a=a):
                return not (type.is_integer() and a.type.is_integer())
            case ir.Call(function=function):
                return function is not Intrinsic.ABS or not e.type.is_integer()
        return False

    def _range(self, e: ExprNode) -> Range:
        """The constants between which a value lies: of ``ValueRanges``, but infinite for index arithmetic."""
        known = self._ranges.get(e)
        if known is None:
            if e.type is not INT64 or isinstance(e, Access) or self._is_opaque(e):
                known = self._values.of(e)
            else:
                known = self._exact(e)
                if self._touches_memory(e) and not fits(known, INT64):
                    known = INT64.range
            self._ranges[e] = known
        return known

    def _exact(self, e: ExprNode) -> Range:
        """The range of an operator's result before it wraps."""
        match e:
            case IntImm(value=value):
                return (value, value)
            case BufferField(field=field):
                return (0, INT32.range[1]) if field is Field.EXTENT else INT32.range
            case ir.Cast(a=a) | ir.Call(args=(a,)):
                known = self._range(a)
                if isinstance(e, ir.Call):
                    return magnitude(known)
                return known if fits(known, e.type) else e.type.range
            case ir.Promise(value=value, low=least, high=most):
                p, q, r = self._range(value), self._range(least), self._range(most)
                return (max(min(p[0], r[0]), q[0]), max(min(p[1], r[1]), q[1]))
            case ir.Select(a=a, b=b):
                return union(self._range(a), self._range(b))
            case Binary(op=op, a=a, b=b):
                return of_integers(op, self._range(a), self._range(b))
        return EVERYTHING if e.type is INT64 else e.type.range

    def _touches_memory(self, e: ExprNode) -> bool:
        """True where a value comes from memory: then its int64 arithmetic is the user's, which wraps."""
        known = self._reads.get(e)
        if known is None:
            known = isinstance(e, Access) or any(self._touches_memory(p) for p in parts(e))
            self._reads[e] = known
        return known

    def _fitted(self, e: ExprNode, text: str, exact: Range) -> str:
        if e.type is INT64 and not self._touches_memory(e):
            return text
        return self._wrapped(e.type, text, exact)

    def _wrapped(self, type: Type, text: str, exact: Range) -> str:
        if fits(exact, type):
            return text
        low, high = type.range
        size = high - low + 1
        around = f"(+ (mod (- a {number(low)}) {size}) {number(low)})" if low else f"(mod a {size})"
        name = f"|wrap {type}|"
        self.helpers.setdefault(
            name,
            f"(define-fun {name} ((a Int)) Int (ite (and (<= {number(low)} a) (<= a {number(high)})) a {around}))",
        )
        return f"({name} {text})"


_QUOTIENTS = (BinaryOp.DIV, BinaryOp.MOD)


def _applied(name: str, operands: list[str]) -> str:
    return f"({' '.join((name, *operands))})" if operands else name
