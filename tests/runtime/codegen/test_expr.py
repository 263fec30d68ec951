"""Every operator on every type, as scalars and as vectors, against a model in Python's own integers and numpy."""

# mypy: disable-error-code="call-arg"
# (mypy does not see the fields of nodes whose decorator, ir._node, is a variable)

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, ExprNode, Intrinsic
from halide_core.ir.types import BOOL, INT64, Float, Int, Type, UInt, type_of_dtype
from halide_core.lowering.module import Lowered
from halide_core.runtime.codegen.names import Names, identifier, literal, string
from halide_core.runtime.codegen.unit import emit_c
from tests.support import emitted

INTS = [Int(b) for b in (8, 16, 32, 64)] + [UInt(b) for b in (8, 16, 32, 64)]
FLOATS = [Float(32), Float(64)]
Array = np.ndarray[Any, Any]
Case = tuple[str, ExprNode, Array]
"""A name, an expression of the inputs, and what it should give for each element."""


def element(name: str, type: Type, index: ir.ExprNode) -> ExprNode:
    """The element of input ``name`` at an index, or in lanes at it."""
    lanes = index.type.lanes()
    return ir.Load(type.with_lanes(lanes), name, index)


def place(i: ExprNode, offset: int, lanes: int) -> ExprNode:
    """Where lanes number ``i`` of a case stand: at ``offset + i*lanes``."""
    base = ir.add(ir.mul(i, ir.i64(lanes)), ir.i64(offset))
    return base if lanes == 1 else ir.Ramp(INT64.with_lanes(lanes), base, ir.ONE)


class Batch:
    """Many expressions over the same inputs, compiled as one function and compared with what they should give."""

    def __init__(self, inputs: dict[str, Array], lanes: int) -> None:
        self.inputs, self.lanes = inputs, lanes
        self.count = len(next(iter(inputs.values())))
        self.variable = ir.index_variable("i")
        self.cases: list[Case] = []

    def value(self, name: str) -> ExprNode:
        """An input's element, as scalar or lanes."""
        type = type_of_dtype(self.inputs[name].dtype)
        assert type is not None
        return element(name, type, place(self.variable, 0, self.lanes))

    def constant(self, value: float, type: Type) -> ExprNode:
        """A literal in all lanes."""
        return ir.const(value, type.with_lanes(self.lanes))

    def add(self, name: str, expr: ExprNode, wanted: Sequence[Any] | Array) -> None:
        """One case."""
        dtype = expr.type.dtype
        with np.errstate(all="ignore"):
            self.cases.append((name, expr, np.asarray(wanted, dtype=dtype)))

    def lowered(self) -> tuple[Lowered, dict[Type, Array]]:
        """The function, and an output for each type of result."""
        outputs: dict[Type, int] = {}
        stores = []
        for _, expr, _ in self.cases:
            type = expr.type.element_of()
            at = place(self.variable, outputs.get(type, 0), self.lanes)
            outputs[type] = outputs.get(type, 0) + self.count
            stores.append(ir.Store(f"out_{type}", at, expr))
        arguments = [
            emitted.input_buffer(emitted.image(n, type_of_dtype(a.dtype) or BOOL)) for n, a in self.inputs.items()
        ]
        arguments += [emitted.output_buffer(emitted.image(f"out_{t}", t)) for t in outputs]
        body = emitted.loop(self.variable, ir.ZERO, ir.i64(self.count // self.lanes), *stores)
        return Lowered("batch", tuple(arguments), body), {t: np.zeros(n, t.dtype) for t, n in outputs.items()}

    def results(self, flags: Sequence[str] = emitted.NATIVE) -> list[Array]:
        """The results of each case."""
        lowered, outputs = self.lowered()
        assert emitted.run(lowered, *self.inputs.values(), *outputs.values(), flags=flags) == 0, emitted.last_error()
        used = dict.fromkeys(outputs, 0)
        found = []
        for _, expr, _ in self.cases:
            type = expr.type.element_of()
            found.append(outputs[type][used[type] : used[type] + self.count])
            used[type] += self.count
        return found

    def check(self, flags: Sequence[str] = emitted.NATIVE) -> None:
        """Compares bit for bit (NaNs are all alike)."""
        for (name, _, wanted), found in zip(self.cases, self.results(flags), strict=True):
            same = wanted == found
            if wanted.dtype.kind == "f":
                same = (same & (np.signbit(wanted) == np.signbit(found))) | (np.isnan(wanted) & np.isnan(found))
            if not same.all():
                k = int(np.argmin(same))
                at = {n: a[k] for n, a in self.inputs.items()}
                raise AssertionError(f"{name} x{self.lanes} at {at}: {found[k]!r}, not {wanted[k]!r}")


# ---- the model ---------------------------------------------------------------------------------------------------


def wrap(value: int, type: Type) -> int:
    """An integer modulo 2**bits, in the type's range."""
    low, high = type.range
    return (value - low) % (high - low + 1) + low


def euclidean(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder with 0 <= r < abs(b); zeros for a division by zero."""
    if b == 0:
        return 0, 0
    remainder = a % abs(b)
    return (a - remainder) // b, remainder


def shifted(a: int, count: int, type: Type) -> int:
    """``a`` times 2**count, rounded down, wrapped."""
    return wrap(a << min(count, 200) if count >= 0 else a >> min(-count, 200), type)


MODEL: dict[BinaryOp, Callable[[int, int, Type], int]] = {
    BinaryOp.ADD: lambda a, b, t: wrap(a + b, t),
    BinaryOp.SUB: lambda a, b, t: wrap(a - b, t),
    BinaryOp.MUL: lambda a, b, t: wrap(a * b, t),
    BinaryOp.DIV: lambda a, b, t: wrap(euclidean(a, b)[0], t),
    BinaryOp.MOD: lambda a, b, t: euclidean(a, b)[1],
    BinaryOp.MIN: lambda a, b, t: min(a, b),
    BinaryOp.MAX: lambda a, b, t: max(a, b),
    BinaryOp.EQ: lambda a, b, t: a == b,
    BinaryOp.NE: lambda a, b, t: a != b,
    BinaryOp.LT: lambda a, b, t: a < b,
    BinaryOp.LE: lambda a, b, t: a <= b,
    BinaryOp.BIT_AND: lambda a, b, t: a & b,
    BinaryOp.BIT_OR: lambda a, b, t: a | b,
    BinaryOp.BIT_XOR: lambda a, b, t: a ^ b,
}


def truncated(value: float, type: Type) -> int:
    """A float as an integer: towards zero, saturated, NaN as 0."""
    if math.isnan(value):
        return 0
    low, high = type.range
    return high if value >= high else low if value <= low else int(value)


# ---- integers ----------------------------------------------------------------------------------------------------


def edges(type: Type) -> list[int]:
    """Values around the ends of the type, zero, and powers of two."""
    low, high = type.range
    half = 1 << (type.bits() // 2)
    wanted = [low, low + 1, -half, -7, -3, -2, -1, 0, 1, 2, 3, 7, half - 1, half, high // 2 + 1, high - 1, high]
    return [v for v in dict.fromkeys(wanted) if low <= v <= high]


def integer_batch(type: Type, lanes: int) -> Batch:
    """All operators on one type, on all pairs of edge values and shift counts."""
    signed = Int(type.bits())
    pairs = [(a, b) for a in edges(type) for b in edges(type)]
    bits = type.bits()
    counts = [0, 1, bits - 1, bits, bits + 1, -1, 1 - bits, -bits, -bits - 1, *signed.range]
    counts = [c for c in counts if signed.can_represent(c)]
    while len(pairs) % max(16, lanes):
        pairs.append(pairs[-1])
    shifts = [counts[(i + i // len(counts)) % len(counts)] for i in range(len(pairs))]
    left, right = [p[0] for p in pairs], [p[1] for p in pairs]
    batch = Batch(
        {
            "a": np.array(left, type.dtype),
            "b": np.array(right, type.dtype),
            "n": np.array(shifts, signed.dtype),
        },
        lanes,
    )
    a, b, n = map(batch.value, "abn")
    for op, model in MODEL.items():
        batch.add(op.name, ir.binary(op, a, b), [model(x, y, type) for x, y in pairs])
    for sign, op in ((1, BinaryOp.SHL), (-1, BinaryOp.SHR)):
        wanted = [shifted(x, sign * c, type) for x, c in zip(left, shifts, strict=True)]
        batch.add(op.name, ir.Binary(a.type, op, a, n), wanted)
        for c in (0, 1, bits - 1, bits, -1):
            by = batch.constant(c, signed)
            batch.add(f"{op.name} {c}", ir.Binary(a.type, op, a, by), [shifted(x, sign * c, type) for x in left])
    for divisor in (0, 1, 2, 3, 7, 1 << (bits // 2), type.range[1], -1, -3, -8, type.range[0]):
        if type.can_represent(divisor):
            by = batch.constant(divisor, type)
            batch.add(f"DIV {divisor}", ir.div(a, by), [wrap(euclidean(x, divisor)[0], type) for x in left])
            batch.add(f"MOD {divisor}", ir.mod(a, by), [euclidean(x, divisor)[1] for x in left])
    less = ir.less(a, b)
    both = ir.conjunction(less, ir.less_equal(a, batch.constant(3, type)))
    batch.add("SELECT", ir.Select(a.type, less, a, b), [min(p) for p in pairs])
    batch.add("AND", both, [x < y and x <= 3 for x, y in pairs])
    batch.add("NOT", ir.Not(less.type, less), [x >= y for x, y in pairs])
    magnitude = ir.Call(UInt(bits, lanes), Intrinsic.ABS, (a,))
    batch.add("ABS", magnitude, [abs(x) for x in left])
    for to in (*INTS, BOOL):
        expr = ir.cast(to.with_lanes(lanes), a)
        batch.add(f"to {to}", expr, [x != 0 if to is BOOL else wrap(x, to) for x in left])
        batch.add(f"bool to {to}", ir.cast(to.with_lanes(lanes), less), [x < y for x, y in pairs])
    for to in FLOATS:
        batch.add(f"to {to}", ir.cast(to.with_lanes(lanes), a), batch.inputs["a"].astype(to.dtype))
        batch.add(f"bool to {to}", ir.cast(to.with_lanes(lanes), less), [x < y for x, y in pairs])
    return batch


@pytest.mark.parametrize("type", INTS, ids=str)
@pytest.mark.parametrize("lanes", [1, 16])
def test_integer_operators_on_edge_values(type: Type, lanes: int) -> None:
    integer_batch(type, lanes).check()


@pytest.mark.parametrize("lanes", [1, 8])
def test_integer_operators_have_no_undefined_behaviour(lanes: int) -> None:
    for type in (Int(8), UInt(16), Int(32), Int(64)):
        integer_batch(type, lanes).check(emitted.SANITIZED)


@pytest.mark.parametrize("type", [UInt(8), Int(16), UInt(32), Int(64)], ids=str)
def test_integer_operators_on_the_baseline_instruction_set(type: Type) -> None:
    integer_batch(type, 4).check(("-O2",))


@seed(1)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*(st.integers(-(1 << 64), 1 << 64) for _ in "ab")), min_size=16, max_size=16))
def test_integer_operators_on_random_values(values: list[tuple[int, int]]) -> None:
    for type in (Int(16), Int(64), UInt(64)):
        pairs = [(wrap(a >> (b % 60), type), wrap(b, type)) for a, b in values]
        for lanes in (1, 8):
            given_ = {
                "a": np.array([p[0] for p in pairs], type.dtype),
                "b": np.array([p[1] for p in pairs], type.dtype),
            }
            batch = Batch(given_, lanes)
            for op, model in MODEL.items():
                wanted = [model(x, y, type) for x, y in pairs]
                batch.add(op.name, ir.binary(op, batch.value("a"), batch.value("b")), wanted)
            batch.check()


# ---- floats ------------------------------------------------------------------------------------------------------

NUMBERS = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, 2.5, -2.5, 3.0, -7.25, 127.5, 128.0, -128.5, -129.0, 255.9, 256.0]
NUMBERS += [32767.9, 65535.5, -32768.9, 2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0]
NUMBERS += [
    4294967296.0,
    9.2e18,
    2.0**63,
    -(2.0**63),
    1.8e19,
    2.0**64,
    1e30,
    -1e30,
    1e-40,
    math.inf,
    -math.inf,
    math.nan,
]


def float_batch(type: Type, lanes: int) -> Batch:
    """All operators on one type, on all pairs of difficult numbers."""
    special = np.array([*NUMBERS, np.nextafter(2.0**31, 0), np.nextafter(2.0**63, 0), 2147483647.5], type.dtype)
    left, right = np.repeat(special, len(special)), np.tile(special, len(special))
    left, right = left[: len(left) // 16 * 16], right[: len(right) // 16 * 16]
    batch = Batch({"a": left, "b": right}, lanes)
    a, b = map(batch.value, "ab")
    with np.errstate(all="ignore"):
        batch.add("ADD", ir.add(a, b), left + right)
        batch.add("SUB", ir.sub(a, b), left - right)
        batch.add("MUL", ir.mul(a, b), left * right)
        batch.add("DIV", ir.div(a, b), left / right)
        batch.add("MOD", ir.mod(a, b), left - right * np.floor(left / right))
        batch.add("MIN", ir.minimum(a, b), np.where(left < right, left, right))
        batch.add("MAX", ir.maximum(a, b), np.where(left > right, left, right))
        batch.add("EQ", ir.equal(a, b), left == right)
        batch.add("NE", ir.binary(BinaryOp.NE, a, b), left != right)
        batch.add("LT", ir.less(a, b), left < right)
        batch.add("LE", ir.less_equal(a, b), left <= right)
        batch.add("ADD c", ir.add(a, batch.constant(-0.0, type)), left + type.dtype.type(-0.0))
        functions = {
            Intrinsic.ABS: np.abs,
            Intrinsic.SQRT: np.sqrt,
            Intrinsic.FLOOR: np.floor,
            Intrinsic.CEIL: np.ceil,
            Intrinsic.TRUNC: np.trunc,
            Intrinsic.ROUND: np.rint,
        }
        for function, model in functions.items():
            batch.add(function.value, ir.Call(a.type, function, (a,)), model(left))
        nan = ir.Call(BOOL.with_lanes(lanes), Intrinsic.IS_NAN, (a,))
        batch.add("is_nan", nan, np.isnan(left))
        for to in INTS:
            wanted = [truncated(float(x), to) for x in left]
            batch.add(f"to {to}", ir.cast(to.with_lanes(lanes), a), wanted)
        for to in FLOATS:
            batch.add(f"to {to}", ir.cast(to.with_lanes(lanes), a), left.astype(to.dtype))
        batch.add("to bool", ir.cast(BOOL.with_lanes(lanes), a), left != 0)
    return batch


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_float_operators_on_difficult_numbers(type: Type, lanes: int) -> None:
    float_batch(type, lanes).check()


@pytest.mark.parametrize("flags", [("-O2",), ("-O0",), emitted.SANITIZED], ids=["baseline", "O0", "sanitized"])
def test_float_operators_with_other_flags(flags: Sequence[str]) -> None:
    for lanes in (1, 4):
        float_batch(Float(32), lanes).check(flags)


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("flags", [emitted.NATIVE, emitted.SANITIZED], ids=["native", "sanitized"])
def test_math_functions_give_the_same_bits_in_vectors(type: Type, flags: Sequence[str]) -> None:
    values = np.linspace(-0.95, 4, 64).astype(type.dtype)
    found = []
    for lanes in (1, 8):
        batch = Batch({"a": values, "b": values[::-1].copy()}, lanes)
        of_bits = (Intrinsic.IS_NAN, Intrinsic.REINTERPRET, Intrinsic.ROUNDING_HALVING_ADD, Intrinsic.TRUNCATED)
        other = (*of_bits, Intrinsic.FMA)
        for function in Intrinsic:
            two = function in (Intrinsic.POW, Intrinsic.ATAN2)
            names = "ab" if two else "a"
            if function not in other:
                args = tuple(map(batch.value, names))
                batch.add(function.value, ir.Call(args[0].type, function, args), values)
        found.append(batch.results(flags))
    for (name, _, _), scalar, vector in zip(batch.cases, *found, strict=True):
        assert np.array_equal(scalar, vector, equal_nan=True), name
        numpy_name = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
        numpy_name |= {"round": "rint"}
        with np.errstate(all="ignore"):
            inputs = (values, values[::-1]) if name in ("pow", "atan2") else (values,)
            wanted = getattr(np, numpy_name.get(name, name))(*inputs)
        np.testing.assert_allclose(scalar, wanted, rtol=1e-5, atol=1e-6, err_msg=name)


# ---- bools and masks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", [1, 8])
def test_bools_of_every_origin_mix(lanes: int) -> None:
    p = np.array([0, 0, 1, 1] * 4, np.bool_)
    q = np.array([0, 1, 0, 1] * 4, np.bool_)
    x = np.arange(16, dtype=np.int16) - 4
    y = np.linspace(-3, 3, 16)
    batch = Batch({"p": p, "q": q, "x": x, "y": y}, lanes)
    a, b, c, d = map(batch.value, "pqxy")
    narrow, wide = ir.less(c, batch.constant(3, Int(16))), ir.less(d, batch.constant(1, Float(64)))
    yes = ir.const(True, BOOL.with_lanes(lanes))
    number = {False: p.astype(int), True: q.astype(int)}
    wanted = {
        BinaryOp.ADD: p ^ q,
        BinaryOp.SUB: p ^ q,
        BinaryOp.MUL: p & q,
        BinaryOp.DIV: p & q,
        BinaryOp.MOD: p & False,
        BinaryOp.MIN: p & q,
        BinaryOp.MAX: p | q,
        BinaryOp.EQ: p == q,
        BinaryOp.NE: p != q,
        BinaryOp.LT: number[False] < number[True],
        BinaryOp.LE: number[False] <= number[True],
        BinaryOp.AND: p & q,
        BinaryOp.OR: p | q,
        BinaryOp.BIT_AND: p & q,
        BinaryOp.BIT_OR: p | q,
        BinaryOp.BIT_XOR: p ^ q,
    }
    for op, model in wanted.items():
        batch.add(op.name, ir.binary(op, a, b), model)
    select = ir.Select
    batch.add("mixed widths", ir.conjunction(narrow, wide), (x < 3) & (y < 1))
    batch.add("constant", ir.conjunction(yes, wide), y < 1)
    batch.add("constants", ir.conjunction(yes, yes), p | True)
    batch.add("not constant", ir.Not(yes.type, yes), p & False)
    batch.add("select bool", select(a.type, narrow, wide, a), np.where(x < 3, y < 1, p))
    batch.add("select consts", select(a.type, narrow, yes, a), np.where(x < 3, True, p))
    batch.add("by a wider mask", select(c.type, wide, c, ir.sub(c, c)), np.where(y < 1, x, 0))
    batch.add("by a narrower mask", select(d.type, narrow, d, ir.add(d, d)), np.where(x < 3, y, 2 * y))
    batch.add("by a constant", select(d.type, yes, d, ir.add(d, d)), y)
    batch.add("by a byte", select(d.type, a, d, ir.add(d, d)), np.where(p, y, 2 * y))
    batch.add("constant to int", ir.cast(Int(32, lanes), yes), p * 0 + 1)
    batch.check()
    batch.check(emitted.SANITIZED)


# ---- lanes in memory ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", [UInt(8), Int(32), Float(64), BOOL], ids=str)
def test_loads_and_stores_of_lanes_anywhere(type: Type) -> None:
    lanes = 4
    out_type, source = emitted.image("out", type), emitted.image("in", type)
    at = emitted.image("at", INT64)
    wide = INT64.with_lanes(lanes)

    def ramp(base: int, stride: int) -> ExprNode:
        return ir.Ramp(wide, ir.i64(base), ir.i64(stride))

    loads = [ramp(3, 1), ramp(0, 3), ramp(9, -2), ramp(5, 0), ir.Broadcast(wide, ir.i64(7))]
    loads.append(element("at", INT64, ramp(0, 1)))
    loads.append(ir.add(ir.mul(ramp(0, 1), ir.const(2, wide)), ir.const(1, wide)))
    body: list[ir.Stmt] = [
        ir.Store("out", ramp(k * lanes, 1), element("in", type, index)) for k, index in enumerate(loads)
    ]
    value = element("in", type, ramp(0, 1))
    body.append(ir.Store("out", ramp(40, 2), value))
    body.append(ir.Store("out", ramp(59, -1), value))
    body.append(ir.Store("out", ir.add(element("at", INT64, ramp(0, 1)), ir.const(60, wide)), value))
    arguments = (emitted.input_buffer(source), emitted.input_buffer(at), emitted.output_buffer(out_type))
    given_ = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0]) * np.arange(1, 17)
    given_ = given_.astype(type.dtype)
    places = np.array([6, 1, 12, 3], np.int64)
    out = np.zeros(80, type.dtype)
    assert emitted.run(Lowered("move", arguments, ir.Block(tuple(body))), given_, places, out) == 0
    wanted = np.zeros(80, type.dtype)
    indices = [[3, 4, 5, 6], [0, 3, 6, 9], [9, 7, 5, 3], [5] * 4, [7] * 4, list(places), [1, 3, 5, 7]]
    for k, index in enumerate(indices):
        wanted[k * lanes : (k + 1) * lanes] = given_[index]
    wanted[[40, 42, 44, 46]] = given_[:4]
    wanted[[59, 58, 57, 56]] = given_[:4]
    wanted[places + 60] = given_[:4]
    assert np.array_equal(out, wanted)


def test_ramps_as_values_wrap() -> None:
    source = np.array([250, 3, 7, 100], np.uint8)
    batch = Batch({"a": source}, 4)
    ramp = ir.Ramp(UInt(8, 4), ir.const(254, UInt(8)), ir.const(3, UInt(8)))
    batch.add("ramp", ramp, [254, 1, 4, 7])
    batch.check(emitted.SANITIZED)


def test_scattered_lanes_are_stored_in_order() -> None:
    lanes = Int(32, 4)
    index = ir.Broadcast(INT64.with_lanes(4), ir.i64(0))
    ramp = ir.Ramp(lanes, ir.const(5, Int(32)), ir.const(1, Int(32)))
    lowered = Lowered(
        "last",
        (emitted.output_buffer(emitted.image("out", Int(32))),),
        ir.Store("out", index, ramp),
    )
    out = np.zeros(1, np.int32)
    assert emitted.run(lowered, out) == 0
    assert out[0] == 8


# ---- index arithmetic, sharing, names ----------------------------------------------------------------------------


def test_index_arithmetic_is_plain_and_values_wrap() -> None:
    x = ir.index_variable("x")
    store = ir.Store("out", ir.add(x, ir.i64(-1)), ir.mul(x, x))
    text = emit_c(
        Lowered("f", (emitted.output_buffer(emitted.image("out", INT64)),), emitted.loop(x, ir.ONE, ir.i64(4), store))
    )
    assert "out_data[x - 1] = mul_i64(x, x);" in text


def test_index_arithmetic_on_int64_data_wraps() -> None:
    at = element("at", INT64, ir.ZERO)
    store = ir.Store("out", ir.mod(ir.mul(at, at), ir.i64(8)), ir.const(1, Int(8)))
    arguments = (
        emitted.input_buffer(emitted.image("at", INT64)),
        emitted.output_buffer(emitted.image("out", Int(8))),
    )
    out = np.zeros(8, np.int8)
    lowered = Lowered("f", arguments, store)
    assert emitted.run(lowered, np.array([2**62 + 3]), out, flags=emitted.SANITIZED) == 0
    assert out.tolist() == [0, 1, 0, 0, 0, 0, 0, 0]


def test_shared_subexpressions_are_printed_once() -> None:
    value = element("in", UInt(16), ir.ZERO)
    for _ in range(3000):  # as a tree, 2**3000 nodes, and deeper than Python's stack
        value = ir.add(value, value)
    for k in range(3000):
        value = ir.Binary(value.type, BinaryOp.BIT_XOR, value, ir.const(k, UInt(16)))
    arguments = (
        emitted.input_buffer(emitted.image("in", UInt(16))),
        emitted.output_buffer(emitted.image("out", UInt(16))),
    )
    lowered = Lowered("deep", arguments, ir.Store("out", ir.ZERO, value))
    assert len(emit_c(lowered)) < 250_000
    out = np.zeros(1, np.uint16)
    assert emitted.run(lowered, np.array([1], np.uint16), out) == 0
    wanted = 0
    for k in range(3000):
        wanted ^= k
    assert out[0] == wanted


def test_nodes_without_a_place_in_c_are_refused() -> None:
    access = ir.Access(INT64, emitted.image("in", INT64), (ir.ZERO,), 0, 0)
    lowered = Lowered("f", (emitted.output_buffer(emitted.image("out", INT64)),), ir.Store("out", ir.ZERO, access))
    with pytest.raises(InternalError, match="Access"):
        emit_c(lowered)


def test_literals_are_exact() -> None:
    assert literal(ir.IntImm(INT64, -(2**63))) == "(-9223372036854775807ll - 1)"
    batch = Batch({"a": np.zeros(1, np.float32)}, 1)
    for type in FLOATS:
        for value in (*NUMBERS, 0.1, math.pi, 5e-324, 1.7e308, 3.4028234663852886e38):
            batch.add(f"{value}", ir.const(value, type), [value])
    for type in INTS:
        for integer in edges(type):
            batch.add(f"{integer}", ir.const(integer, type), [integer])
    batch.check()
    nan = ir.FloatImm(Float(32), 0xFFC01234)
    payload = Batch({"a": np.zeros(1, np.float32)}, 1)
    payload.add("nan", nan, [math.nan])
    assert payload.results()[0].view(np.uint32)[0] == 0xFFC01234


def test_identifiers_are_unique_and_legal() -> None:
    names = Names()
    wanted = ["f.s0.x", "f_s0_x", "f$s0[x]", "f_s0_x_1", "int", "min_i32", "7", "", "halide_buffer_t", "x", "x"]
    given_ = [names.fresh(name) for name in wanted]
    assert given_[:3] == ["f_s0_x", "f_s0_x_1", "f_s0_x_2"]
    assert len(set(given_)) == len(given_)
    assert all(name.isidentifier() for name in given_)
    assert identifier("int") == "int_"
    assert names.of("a", "x") == names.of("a", "x") != names.of("b", "x")


def test_strings_are_escaped() -> None:
    assert string('a"b\\c\n??=é') == '"a\\"b\\\\c\\n?\\?=\\303\\251"'
