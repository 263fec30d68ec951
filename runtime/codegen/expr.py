"""Expressions as C, with exactly the meaning that the IR gives them and without undefined behaviour.

In: the expressions of one statement. Out: C text for each, and declarations of temporaries for what they share, so
that a DAG is printed once for each node; very deep expressions are cut by temporaries too.

    (a + b)*(a + b): uint16   ->   const uint16_t t0 = (uint16_t)(a + b);    (uint16_t)((uint32_t)t0 * t0)

Integers wrap in their own type. The one exception is int64 arithmetic that computes an *index* (a place in memory or a
bound of a loop): start-up checks keep it in range, so it is C's own signed arithmetic, unless it depends on int64 data.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, ExprNode, Intrinsic
from halide_core.ir.types import INT64, Type, UInt
from halide_core.runtime.codegen.address import address, subscript
from halide_core.runtime.codegen.messages import printed
from halide_core.runtime.codegen.names import Names, integer, literal, scalar, stored
from halide_core.runtime.codegen.text import ATOM, OTHER, PRODUCT, SUM, TERNARY, UNARY, Text
from halide_core.runtime.codegen.uses import (
    SHIFTS,
    Use,
    divides_by_constant,
    has_no_sign,
    is_leaf,
    limited,
    operands,
    shift_amount,
    small_constant,
    uses_below,
)
from halide_core.runtime.codegen.vector.elementary import elementary
from halide_core.runtime.codegen.vector.exact_quotients import quotient, reciprocal
from halide_core.runtime.codegen.vector.first_lanes import MASK, mask_of
from halide_core.runtime.codegen.vector.float16 import convert_narrow, reinterpret_narrow
from halide_core.runtime.codegen.vector.fma import fused_product
from halide_core.runtime.codegen.vector.gathers.pairs import gather_two, neighbours, two
from halide_core.runtime.codegen.vector.gcc_signed_zero import difference, is_negation
from halide_core.runtime.codegen.vector.gcc_truths import has_lookups, hidden, is_number, is_quotient
from halide_core.runtime.codegen.vector.integer_idioms import (
    complement,
    is_complement,
    is_narrow,
    mean,
    narrow_product,
    saturate,
    shift_bytes,
    shifts_bytes,
)
from halide_core.runtime.codegen.vector.prelude import Prelude, is_few_bytes, mask_type
from halide_core.runtime.codegen.vector.strided_loads import InBlock, blocks, load_of_block
from halide_core.runtime.codegen.vector.wide_quotients import is_wide, wide_quotient

ANY_WIDTH = 1
"""The mask of a text that is a scalar bool, to be broadcast to lanes of whatever width is needed."""
_MAX_DEPTH = 10
_MAX_LENGTH = 240

_SYMBOLS = {
    BinaryOp.ADD: ("+", SUM),
    BinaryOp.SUB: ("-", SUM),
    BinaryOp.MUL: ("*", PRODUCT),
    BinaryOp.DIV: ("/", PRODUCT),
}
_BITWISE = frozenset({BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR})
_ARITHMETIC = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})
# What an operator on bools comes to: on scalars, and on masks.
_LOGIC = {
    BinaryOp.AND: ("{a} & {b}", "{a} & {b}"),
    BinaryOp.BIT_AND: ("{a} & {b}", "{a} & {b}"),
    BinaryOp.MUL: ("{a} & {b}", "{a} & {b}"),
    BinaryOp.MIN: ("{a} & {b}", "{a} & {b}"),
    BinaryOp.DIV: ("{a} & {b}", "{a} & {b}"),
    BinaryOp.OR: ("{a} | {b}", "{a} | {b}"),
    BinaryOp.BIT_OR: ("{a} | {b}", "{a} | {b}"),
    BinaryOp.MAX: ("{a} | {b}", "{a} | {b}"),
    BinaryOp.NE: ("{a} != {b}", "{a} ^ {b}"),
    BinaryOp.BIT_XOR: ("{a} != {b}", "{a} ^ {b}"),
    BinaryOp.ADD: ("{a} != {b}", "{a} ^ {b}"),
    BinaryOp.SUB: ("{a} != {b}", "{a} ^ {b}"),
    BinaryOp.EQ: ("{a} == {b}", "~({a} ^ {b})"),
    BinaryOp.LT: ("(!{a}) & {b}", "~{a} & {b}"),
    BinaryOp.LE: ("(!{a}) | {b}", "~{a} | {b}"),
}


class Leaves(Protocol):
    """Where the values come from that expressions only name."""

    def variable(self, var: ir.Variable) -> Text:
        """A loop or let variable."""
        ...

    def bind(self, var: ir.Variable, c_type: str) -> str:
        """The identifier of a variable from here on."""
        ...

    def parameter(self, param: ir.Scalar) -> str:
        """A scalar argument."""
        ...

    def field(self, field: ir.BufferField) -> str:
        """A dimension of an argument buffer."""
        ...

    def buffer(self, name: str) -> str:
        """The pointer to a buffer's elements."""
        ...

    def register(self, buffer: str, index: ExprNode) -> str | None:
        """The local variable that an element, or lanes of them, are kept in; None where they are in memory."""
        ...

    def padded(self, buffer: str) -> bool:
        """True where a few bytes behind the last element may be read."""
        ...


class SharedValues:
    """Expressions of several groups, such as stores one after the other: what two groups share is evaluated once.

    Between groups memory may change: ``forget`` says which.
    """

    def __init__(
        self, emitter: ExprEmitter, names: Names, groups: Sequence[Sequence[Use]], first: Container[ExprNode]
    ) -> None:
        self._emitter, self._names, self._first = emitter, names, first
        self._order, self._counts = uses_below([root for roots in groups for root in roots])
        self._texts: dict[Use, Text] = {}
        self._pairs: dict[ir.Load, str] = {}
        self._blocks = blocks(e for e, _ in self._order if isinstance(e, ir.Load) and not emitter.is_kept(e))
        self._reads: dict[Use, frozenset[str]] = {}
        self._readers: dict[str, list[Use]] = {}
        self._several = len(groups) > 1

    def emit(self, roots: Sequence[Use], declare: Callable[[str], None]) -> list[Text]:
        """The texts of the next group; ``declare`` receives the declarations of temporaries, to stand before them."""
        order = uses_below(roots)[0] if self._several else self._order
        beside = neighbours(e for e, _ in order if isinstance(e, ir.Load))
        for use in order:
            if use not in self._texts:
                self._texts[use] = self._text(use, beside, declare)
        return [self._texts[root] for root in roots]

    def _text(self, use: Use, beside: Mapping[ExprNode, tuple[ir.Load, int]], declare: Callable[[str], None]) -> Text:
        e, inside = use[0], operands(use)
        args = [self._texts[part] for part in inside]
        if isinstance(e, ir.Load) and e in self._blocks:
            text = self._emitter.of_block(e, self._blocks[e], args)
        else:
            text = self._emitter.one(use, args, beside.get(e), self._pairs, declare)
        if self._several:
            self._note(use, inside)
        shared = (self._counts[use] > 1 or e in self._first) and not is_leaf(e)
        if not (shared or text.depth >= _MAX_DEPTH or len(text.text) > _MAX_LENGTH):
            return text
        name = self._names.numbered("t")
        declaration = f"{self._emitter.c_type(e.type, text.mask)} {name} = {text.text};"
        loaded = self._emitter.loaded(e, name) if shared else ""
        declare(f"{declaration} {loaded}" if loaded else f"const {declaration}")
        return Text(name, ATOM, 0, text.mask, text.data)

    def _note(self, use: Use, inside: Sequence[Use]) -> None:
        """Keeps which memory a value was made of."""
        reads = frozenset[str]().union(*(self._reads[part] for part in inside))
        self._reads[use] = reads = reads | {use[0].buffer} if isinstance(use[0], ir.Load) else reads
        for buffer in reads:
            self._readers.setdefault(buffer, []).append(use)

    def forget(self, buffer: str) -> None:
        """Has what read a buffer evaluated anew: it was written."""
        for use in self._readers.pop(buffer, ()):
            self._texts.pop(use, None)
            if isinstance(use[0], ir.Load):
                self._pairs.pop(use[0], None)


class ExprEmitter:
    """Turns expressions into C."""

    def __init__(self, leaves: Leaves, names: Names, prelude: Prelude, *, lookups: frozenset[str] | None) -> None:
        """``lookups``: None where no values become places in memory, else the memory of which conditions decide."""
        self._leaves = leaves
        self._names = names
        self._prelude = prelude
        self._lookups, self._in_loop = lookups, False
        self.mask = ""
        """The mask of the lanes that do anything, where not all do."""
        self.traced = False
        """True where what was emitted tells of an event."""

    def emit(self, roots: Sequence[Use], declare: Callable[[str], None]) -> list[Text]:
        """The text of each root; ``declare`` receives the declarations of temporaries, to stand before them."""
        return self.together([roots]).emit(roots, declare)

    @contextmanager
    def masked(self, count: Text, declare: Callable[[str], None]) -> Iterator[None]:
        """Has the first lanes alone loaded and stored, so many of them."""
        self.mask = self._names.numbered("mask")
        declare(f"const {MASK} {self.mask} = {mask_of(count.at(PRODUCT))};")
        yield
        self.mask = ""

    @contextmanager
    def loop(self, loop: ir.For) -> Iterator[None]:
        """Emits a loop: an outermost one that looks nothing up hides no number from gcc."""
        outside = self._lookups, self._in_loop
        if not self._in_loop:
            self._in_loop = True
            self._lookups = self._lookups if self._lookups is not None and has_lookups(loop) else None
        yield
        self._lookups, self._in_loop = outside

    def together(self, groups: Sequence[Sequence[Use]], first: Container[ExprNode] = ()) -> SharedValues:
        """The values that are evaluated in groups, one after the other between two braces; those of ``first`` whether
        they are chosen or not."""
        return SharedValues(self, self._names, groups, first)

    def one(
        self, use: Use, args: list[Text], two: tuple[ir.Load, int] | None, pairs: dict[ir.Load, str],
        declare: Callable[[str], None],
    ) -> Text:  # fmt: skip
        """The text of one node; ``two`` says of which pair of loads it is one."""
        if two is not None:
            return self._one_of_two(*two, args, pairs, declare)
        if isinstance(use[0], ir.Print):
            self.traced |= isinstance(use[0], ir.Event)
            for line in printed(use[0], args):
                declare(line)
        return self._render(use, args)

    def loaded(self, e: ExprNode, name: str) -> str:
        """The statement that keeps lanes from being loaded by each of their users; none where there is no need."""
        if not isinstance(e, ir.Load) or e.type.is_bool() or self.is_kept(e):
            return ""
        dense = isinstance(e.index, ir.Ramp) and e.index.stride is ir.ONE
        return self._prelude.loaded(name, e.type) if dense else ""

    def is_kept(self, load: ir.Load) -> bool:
        """True where a local variable has what is loaded."""
        return self._leaves.register(load.buffer, load.index) is not None

    def of_block(self, load: ir.Load, block: InBlock, args: list[Text]) -> Text:
        """Lanes of a block that others load too."""
        base = args[0].at(PRODUCT) + (f" - {block.ahead}" if block.ahead else "")
        call = f"{load_of_block(self._prelude, load.type, block)}({self._leaves.buffer(load.buffer)} + {base})"
        return Text(call, ATOM, data=True)

    def c_type(self, type: Type, mask: int) -> str:
        """The C type of a value."""
        if type.is_bool() and type.is_vector():
            return "bool" if mask == ANY_WIDTH else self._prelude.type(mask_type(mask, type.lanes()))
        return self._prelude.type(type)

    def settled(self, text: Text, type: Type) -> Text:
        """The text of a value that is to be kept: a mask of no particular width gets one."""
        return self._mask(text, 8, type.lanes()) if text.mask == ANY_WIDTH else text

    def as_stored(self, text: Text, type: Type) -> str:
        """A value in the form that memory holds."""
        if type.is_bool() and type.is_vector():
            mask = self._mask(text, 8, type.lanes())
            return f"({self._prelude.type(UInt(8, type.lanes()))})-{mask.at(UNARY)}"
        return text.text

    def _mask(self, text: Text, bits: int, lanes: int) -> Text:
        """A mask with lanes of the given width."""
        if text.mask == bits:
            return text
        to = mask_type(bits, lanes)
        if text.mask == ANY_WIDTH:
            return Text(f"{self._prelude.splat(to)}(-(int){text.at(UNARY)})", ATOM, text.depth, bits)
        name = self._prelude.convert(to, mask_type(text.mask, lanes))
        return Text(f"{name}({text.text})", ATOM, text.depth, bits)

    # ---- one node ------------------------------------------------------------------------------------------------

    def _render(self, use: Use, args: list[Text]) -> Text:
        e, index = use
        method = _METHODS.get(type(e))
        if method is None:
            raise InternalError(f"A {type(e).__name__} reached the C emitter: {e!r}")
        made: Text = method(self, e, args, index)
        wide = e.type.element_of() is INT64
        data = wide and (made.data or (not isinstance(e, ir.Cast) and any(a.data for a in args)))
        return made._replace(depth=1 + max((a.depth for a in args), default=-1), data=data)

    def _immediate(self, e: ir.IntImm | ir.FloatImm, args: list[Text], index: bool) -> Text:
        text = literal(e)
        return Text(text, UNARY if text.startswith("-") else ATOM)

    def _variable(self, e: ir.Variable, args: list[Text], index: bool) -> Text:
        return self._leaves.variable(e)

    def _parameter(self, e: ir.ParamRef, args: list[Text], index: bool) -> Text:
        return Text(self._leaves.parameter(e.param), ATOM, data=True)

    def _field(self, e: ir.BufferField, args: list[Text], index: bool) -> Text:
        name = self._leaves.field(e)
        return Text(name, ATOM) if e.type is INT64 else Text(f"({scalar(e.type)}){name}", UNARY)

    def _binary(self, e: ir.Binary, args: list[Text], index: bool) -> Text:
        type, op = e.a.type, e.op
        if type.is_bool():
            return self._logic(e, args)
        a = args[0]
        amount = shift_amount(e)
        if amount is not None:
            return self._shift_by_constant(op, type, a, amount)
        if divides_by_constant(e):
            divisor = small_constant(e.b) or 0
            divide = wide_quotient if is_wide(type) and divisor > 1 else Prelude.divide_by_constant
            return Text(f"{divide(self._prelude, op, type)}({a.text}, {integer(divisor, type.element_of())})", ATOM)
        b = args[1]
        if op in ir.COMPARISONS:
            text = f"{a.at(SUM)} {op.value} {b.at(SUM)}"
            if type.is_scalar():
                return Text(text, OTHER)
            bits = 8 * type.bytes()
            return Text(f"({self._prelude.type(mask_type(bits, type.lanes()))})({text})", UNARY, mask=bits)
        if op in _BITWISE:
            return Text(f"{a.at(UNARY)} {op.value} {b.at(UNARY)}", OTHER)
        if op in _ARITHMETIC or (op is BinaryOp.DIV and type.is_float()):
            return self._arithmetic(e, a, b, index)
        count = e.b.type if op in SHIFTS else None
        made = Text(f"{self._prelude.binary(op, type, count)}({a.text}, {b.text})", ATOM)
        return self._hidden(type, made) if type.is_scalar() and is_quotient(e) else made

    def _arithmetic(self, e: ir.Binary, a: Text, b: Text, index: bool) -> Text:
        type, op = e.type, e.op
        symbol, level = _SYMBOLS[op]
        if index and type.is_scalar() and not (a.data or b.data):
            return _index_arithmetic(e, a, b)
        if op is BinaryOp.MUL and is_narrow(e.a) and is_narrow(e.b):
            first, last = (b, a) if small_constant(e.a) is not None else (a, b)
            return Text(f"{narrow_product(self._prelude, type)}({first.text}, {last.text})", ATOM)
        if is_complement(e):
            return Text(f"{complement(self._prelude, type)}({b.text})", ATOM)
        infix = f"{a.at(level)} {symbol} {b.at(level + 1)}"
        of_lanes, few = op is BinaryOp.MUL and type.is_vector(), is_few_bytes(type)
        power = small_constant(e.b) if of_lanes and (type.is_int() or few) else None
        if power is not None and (type.bits() >= 16 or few) and _is_power_of_two(power):
            return self._shift_by_constant(BinaryOp.SHL, type, a, power.bit_length() - 1)
        if of_lanes and (few or (type.bits() == 16 and not _is_power_of_two(small_constant(e.b)))):
            return Text(f"{self._prelude.binary(op, type)}({a.text}, {b.text})", ATOM)
        parts = reciprocal(e)
        if parts is not None:
            return Text(f"{quotient(self._prelude, type, parts)}({a.text}, {b.text})", ATOM)
        if is_negation(e):
            return Text(f"{difference(self._prelude, type)}({a.text}, {b.text})", ATOM)
        if type.is_float() or (type.is_uint() and (type.is_vector() or type.bits() >= 32)):
            return Text(infix, level)
        if type.is_vector() or type.bits() >= 32:
            return Text(f"{self._prelude.binary(op, type)}({a.text}, {b.text})", ATOM)
        if op is BinaryOp.MUL and type is UInt(16):  # in int, 65535*65535 would overflow
            infix = f"(uint32_t){a.at(UNARY)} * {b.at(UNARY)}"
        return Text(f"({stored(type)})({infix})", UNARY)

    def _shift_by_constant(self, op: BinaryOp, type: Type, a: Text, amount: int) -> Text:
        c = self._prelude.type(type)

        def constant(value: int, of: Type = type) -> str:
            imm = integer(value, of.element_of())
            return f"{self._prelude.splat(of)}({imm})" if of.is_vector() else imm

        if op is BinaryOp.MOD:
            return Text(f"{a.at(UNARY)} & {constant((1 << amount) - 1)}", OTHER)
        if shifts_bytes(type, amount):
            return Text(f"{shift_bytes(self._prelude, type, op)}({a.text}, {amount})", ATOM)
        if op is not BinaryOp.SHL:
            return Text(f"{a.at(UNARY)} >> {constant(amount) if type.is_vector() else amount}", OTHER)
        wide = type.with_code(UInt(8).code())
        wide = wide if type.is_vector() else wide.with_bits(max(32, type.bits()))
        by = constant(amount, wide) if type.is_vector() else str(amount)
        operand = a.at(UNARY) if wide is type else f"({self._prelude.type(wide)}){a.at(UNARY)}"
        shifted = f"{operand} << {by}"
        return Text(shifted, OTHER) if wide is type else Text(f"({c})({shifted})", UNARY)

    def _logic(self, e: ir.Binary, args: list[Text]) -> Text:
        lanes, (a, b) = e.type.lanes(), args
        widths = [x.mask for x in args if x.mask > ANY_WIDTH]
        known = _LOGIC.get(e.op)
        if known is None and e.op is not BinaryOp.MOD:
            raise InternalError(f'"{e.op.value}" on bools reached the C emitter: {e!r}')
        if not widths:
            mask = ANY_WIDTH if lanes > 1 else 0
            text = known[0].format(a=a.at(UNARY), b=b.at(UNARY)) if known else "false"
            return Text(text, OTHER if known else ATOM, mask=mask)
        bits = widths[0]
        if known is None:
            return Text(f"({self._prelude.type(mask_type(bits, lanes))}){{0}}", ATOM, mask=bits)
        x, y = (self._mask(v, bits, lanes).at(UNARY) for v in args)
        return Text(known[1].format(a=x, b=y), OTHER, mask=bits)

    def _not(self, e: ir.Not, args: list[Text], index: bool) -> Text:
        symbol = "~" if args[0].mask > ANY_WIDTH else "!"
        return Text(f"{symbol}{args[0].at(UNARY)}", UNARY, mask=args[0].mask)

    def _select(self, e: ir.Select, args: list[Text], index: bool) -> Text:
        type, (condition, a, b) = e.type, args
        mask = 0
        if type.is_bool() and type.is_vector():
            widths = [x.mask for x in (a, b, condition) if x.mask > ANY_WIDTH]
            mask = widths[0] if widths else ANY_WIDTH
            if widths:
                a, b = self._mask(a, mask, type.lanes()), self._mask(b, mask, type.lanes())
        if condition.mask in (0, ANY_WIDTH):
            chosen = Text(f"{condition.at(OTHER)} ? {a.at(OTHER)} : {b.at(OTHER)}", TERNARY, mask=mask)
            return self._hidden(type, chosen) if is_number(e) else chosen
        shape = mask_type(mask, type.lanes()) if mask else type
        lanes = self._mask(condition, 8 * shape.bytes(), type.lanes())
        return Text(f"{self._prelude.select(shape)}({lanes.text}, {a.text}, {b.text})", ATOM, mask=mask)

    def _hidden(self, type: Type, number: Text) -> Text:
        """An integer that gcc must not take for a condition, should it become a place."""
        if self._lookups is None:
            return number
        made = f"{hidden(self._prelude)}({number.text})"
        return Text(made, ATOM) if type is INT64 else Text(f"({scalar(type)}){made}", UNARY)

    def _cast(self, e: ir.Cast, args: list[Text], index: bool) -> Text:
        to, source, a = e.type, e.a.type, args[0]
        if limited(e) is not None:
            return Text(f"{saturate(self._prelude, to, source)}({a.text})", ATOM)
        if to.is_narrow_float() or source.is_narrow_float():
            return Text(f"{convert_narrow(self._prelude, to, source)}({a.text})", ATOM)
        made = self._vector_cast(to, source, a) if to.is_vector() else self._scalar_cast(to, source, a)
        small = source.is_bool() or (source.is_integer() and source.bits() - source.is_uint() < 63)
        return made._replace(data=not small)

    def _scalar_cast(self, to: Type, source: Type, a: Text) -> Text:
        if to.is_bool():
            return a if source.is_bool() else Text(f"{a.at(SUM)} != 0", OTHER)
        if source.is_float() and to.is_integer():
            looked_up = self._lookups is not None  # a loop that looks something up becomes no vectors
            return Text(f"{self._prelude.from_float(to, source, branches=looked_up)}({a.text})", ATOM)
        if self._lookups is not None and source.is_bool() and to.is_integer():
            return self._hidden(to, a)
        return Text(f"({scalar(to)}){a.at(UNARY)}", UNARY)

    def _vector_cast(self, to: Type, source: Type, a: Text) -> Text:
        if source.is_bool():
            if to.is_bool():
                return a
            number = f"-{self._mask(a, to.bits(), to.lanes()).at(UNARY)}"
            c = self._prelude.type(to)
            return (
                Text(f"{self._prelude.convert(to, mask_type(to.bits(), to.lanes()))}({number})", ATOM)
                if to.is_float()
                else Text(f"({c}){number}", UNARY)
            )
        if to.is_bool():
            bits = source.bits()
            m, zero = self._prelude.type(mask_type(bits, to.lanes())), f"({self._prelude.type(source)}){{0}}"
            return Text(f"({m})({a.at(SUM)} != {zero})", UNARY, mask=bits)
        if source.is_float() and to.is_integer():
            return Text(f"{self._prelude.from_float(to, source)}({a.text})", ATOM)
        if to.is_integer() and to.bits() == source.bits():
            return Text(f"({self._prelude.type(to)}){a.at(UNARY)}", UNARY)
        return Text(f"{self._prelude.convert(to, source)}({a.text})", ATOM)

    def _call(self, e: ir.Call, args: list[Text], index: bool) -> Text:
        of, inner = e.args[0].type, ", ".join(a.text for a in args)
        if e.function is Intrinsic.ABS and of.is_integer():
            if of.is_uint():
                return args[0]
            made = Text(f"{self._prelude.absolute(of)}({inner})", ATOM)
            return made if e.type.is_uint() else Text(f"({self._prelude.type(e.type)}){made.text}", UNARY)
        if e.function is Intrinsic.REINTERPRET and (of.is_narrow_float() or e.type.is_narrow_float()):
            return Text(f"{reinterpret_narrow(self._prelude, e.type, of)}({inner})", ATOM)
        if e.function is Intrinsic.REINTERPRET:
            return Text(f"{self._prelude.reinterpret(e.type, of)}({inner})", ATOM, data=e.type.element_of() is INT64)
        if e.function is Intrinsic.TRUNCATED:
            name = self._prelude.from_limited_float(e.type, of, natural=has_no_sign(e.args[0]))
            return Text(f"{name}({inner})", ATOM, data=e.type.element_of() is INT64)
        if e.function is Intrinsic.ROUNDING_HALVING_ADD:
            return Text(f"{mean(self._prelude, of)}({inner})", ATOM)
        if not of.is_float():
            raise InternalError(f'"{e.function.value}" of {of} reached the C emitter: {e!r}')
        if e.function is Intrinsic.ABS:
            suffix = "f" if of.bits() == 32 else ""
            name = self._prelude.absolute(of) if of.is_vector() else f"__builtin_fabs{suffix}"
            return Text(f"{name}({inner})", ATOM)
        if e.function is Intrinsic.IS_NAN:
            if of.is_scalar():
                return Text(f"__builtin_isnan({inner}) != 0", OTHER)
            return Text(f"{self._prelude.is_nan(of)}({inner})", ATOM, mask=of.bits())
        if e.function is Intrinsic.FMA:
            name = fused_product(self._prelude, of)
        else:
            name = elementary(self._prelude, e.function, of) or self._prelude.math(e.function, of)
        return Text(f"{name}({inner})", ATOM)

    def _promise(self, e: ir.Promise, args: list[Text], index: bool) -> Text:
        """The value: that the promise is kept was the user's word."""
        return args[0]

    def _load(self, e: ir.Load, args: list[Text], index: bool) -> Text:
        type, kept = e.type, self._leaves.register(e.buffer, e.index)
        if kept is not None:
            one = isinstance(e.index, ir.Broadcast)
            value = f"{self._prelude.splat(type)}({kept})" if one else kept
            return self._decided(e, Text(value, ATOM, data=True))
        pointer = self._leaves.buffer(e.buffer)
        in_memory = UInt(8, type.lanes()) if type.is_bool() else type
        one = isinstance(e.index, ir.Broadcast)
        if type.is_scalar() or one:
            element = f"{pointer}[{subscript(args[0])}]"
            if type.is_bool():
                return Text(f"{element} != 0", OTHER, mask=ANY_WIDTH if one else 0)
            value = f"{self._prelude.splat(type)}({element})" if one else element
            return self._decided(e, Text(value, ATOM, data=True))
        padded = self._leaves.padded(e.buffer)
        text = address(self._prelude, "load", in_memory, pointer, e.index, args, padded, self.mask)
        if type.is_bool():
            m, zero = self._prelude.type(mask_type(8, type.lanes())), f"({self._prelude.type(in_memory)}){{0}}"
            return Text(f"({m})({text}) != {zero})", UNARY, mask=8)
        return Text(f"{text})", ATOM, data=True)

    def _decided(self, e: ir.Load, loaded: Text) -> Text:
        """A value from memory, of which gcc must not find that a condition decided it."""
        hide = e.type.is_scalar() and e.type.is_integer() and e.buffer in (self._lookups or ())
        return self._hidden(e.type, loaded)._replace(data=True) if hide else loaded

    def _one_of_two(
        self, first: ir.Load, ahead: int, args: list[Text], pairs: dict[ir.Load, str], declare: Callable[[str], None]
    ) -> Text:
        """Lanes so far ahead of the first of two loads, which happen together."""
        if first not in pairs:
            pairs[first] = self._names.numbered("t")
            function, last = gather_two(self._prelude, first)
            base = args[0].at(PRODUCT) + (f" - {ahead}" if ahead else "")
            given = ", ".join((self._leaves.buffer(first.buffer), base, *(each.text for each in args[1:])))
            call = f"{function}({given}{last})"
            declare(f"const {two(self._prelude, first.type)} {pairs[first]} = {call};")
        return Text(f"{pairs[first]}.{'second' if ahead else 'first'}", ATOM, data=True)

    def _ramp(self, e: ir.Ramp, args: list[Text], index: bool) -> Text:
        if not e.type.is_integer() or e.type.is_bool():
            raise InternalError(f"A ramp of {e.type} reached the C emitter: {e!r}")
        return Text(f"{self._prelude.ramp(e.type)}({args[0].text}, {args[1].text})", ATOM)

    def _broadcast(self, e: ir.Broadcast, args: list[Text], index: bool) -> Text:
        if e.type.is_bool():
            return args[0]._replace(mask=ANY_WIDTH)
        return Text(f"{self._prelude.splat(e.type)}({args[0].text})", ATOM)

    def _slice(self, e: ir.Slice, args: list[Text], index: bool) -> Text:
        if e.type.is_scalar():
            return Text(f"{args[0].at(ATOM)}[{e.first}]", ATOM, data=True)
        return Text(f"{self._prelude.slice(e.a.type, e.type, e.first)}({args[0].text})", ATOM, data=True)


def _is_power_of_two(value: int | None) -> bool:
    return value is not None and value > 0 and value & (value - 1) == 0


def _index_arithmetic(e: ir.Binary, a: Text, b: Text) -> Text:
    """Plain signed arithmetic; a literal needs no suffix beside an operand that is int64 anyway."""
    symbol, level = _SYMBOLS[e.op]
    x, y = a.at(level), b.at(level + 1)
    if isinstance(e.b, ir.IntImm) and not isinstance(e.a, ir.IntImm) and abs(e.b.value) < 1 << 31:
        if e.b.value < 0 and level == SUM:
            symbol = "+" if symbol == "-" else "-"
            y = str(-e.b.value)
        else:
            y = str(e.b.value)
    elif isinstance(e.a, ir.IntImm) and not isinstance(e.b, ir.IntImm) and abs(e.a.value) < 1 << 31:
        x = str(e.a.value)
    return Text(f"{x} {symbol} {y}", level)


_METHODS: dict[type, Callable[..., Any]] = {
    ir.IntImm: ExprEmitter._immediate,
    ir.FloatImm: ExprEmitter._immediate,
    ir.Variable: ExprEmitter._variable,
    ir.ParamRef: ExprEmitter._parameter,
    ir.BufferField: ExprEmitter._field,
    ir.Binary: ExprEmitter._binary,
    ir.Not: ExprEmitter._not,
    ir.Select: ExprEmitter._select,
    ir.Cast: ExprEmitter._cast,
    ir.Call: ExprEmitter._call,
    ir.Promise: ExprEmitter._promise,
    ir.Print: lambda emitter, e, args, index: args[0],
    ir.Event: lambda emitter, e, args, index: args[0],
    ir.Load: ExprEmitter._load,
    ir.Ramp: ExprEmitter._ramp,
    ir.Broadcast: ExprEmitter._broadcast,
    ir.Slice: ExprEmitter._slice,
}
