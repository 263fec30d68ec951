"""The function around the expressions: arguments and their checks, the query, memory, loops, parallel tasks."""

# mypy: disable-error-code="call-arg"
# (mypy does not see the fields of nodes whose decorator, ir._node, is a variable)

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.errors import InternalError
from halide_core.ir import BufferField, ExprNode, Field
from halide_core.ir.types import BOOL, INT64, Float, Int, UInt
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.codegen.header import Declared, emit_header
from halide_core.runtime.codegen.linkage import Linkage
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.compile.toolchain import find_compiler
from tests.support import emitted
from tests.support.aot import cpp
from tests.support.emitted import image, input_buffer, last_error, loop, output_buffer, run, scalar_argument

U16, I32 = UInt(16), Int(32)
x, y, z = map(ir.index_variable, ("f.s0.x", "f.s0.y$1", "f.s0.z[1]"))
NULL_ARGUMENT, TYPE, DIMENSIONS, EXTENT, STRIDE, BOUNDS, MEMORY, ASSERTION, ALIAS, DEVICE = range(1, 11)
OVERFLOW = 11


def load(name: str, index: ExprNode, type: Any = U16) -> ExprNode:
    return ir.Load(type, name, index)


def store(name: str, index: ExprNode, value: ExprNode) -> ir.Stmt:
    return ir.Store(name, index, value)


def block(*stmts: ir.Stmt) -> ir.Block:
    return ir.Block(stmts)


def let(var: ir.Variable, value: ExprNode) -> ir.Stmt:
    return ir.Let(var, value, None)


def allocate(name: str, size: ExprNode, limit: int | None = None, type: Any = U16) -> ir.Stmt:
    return ir.AllocateFlat(name, type, size, limit)


def field(source: ir.Callee, which: Field, dim: int) -> ExprNode:
    return BufferField(INT64, source, which, dim)


def parameter(argument: Argument) -> ExprNode:
    return ir.ParamRef(argument.type, argument.source)


def check(condition: ExprNode, *message: str | ExprNode) -> ir.Stmt:
    return ir.Assert(condition, ir.Failure.ASSERTION, message)


def test_what_computes_has_its_pointers_as_parameters() -> None:
    text = emit_c(blur())
    head = next(line for line in text.splitlines() if "blur_part_0(" in line and line.startswith("static"))
    assert "noinline" in head and "const uint16_t *restrict in_data" in head and "uint16_t *restrict out_data" in head
    whole = text[text.index("int blur(halide_buffer_t") :]
    assert "for (" not in whole and "halide_core_par_for" not in whole


def blur() -> Lowered:
    """out(x, y) = in(x, y) + in(x + 1, y) + w: with a query, lets, and rows in parallel."""
    source, result = image("in", U16, 2), image("out", U16, 2)
    w = scalar_argument("w", U16)
    out = [(field(result, Field.MIN, d), field(result, Field.EXTENT, d)) for d in (0, 1)]
    needed = (ir.Interval(out[0][0], ir.add(out[0][1], ir.ONE)), ir.Interval(*out[1]))
    query = ir.AnswerQuery(((source, needed), (result, tuple(ir.Interval(*o) for o in out))))

    def at(of: ir.Callee, dx: int) -> ExprNode:
        across = ir.sub(ir.add(x, ir.i64(dx)), field(of, Field.MIN, 0))
        down = ir.mul(ir.sub(y, field(of, Field.MIN, 1)), field(of, Field.STRIDE, 1))
        return ir.add(down, ir.mul(across, field(of, Field.STRIDE, 0)))

    row = ir.index_variable("in.row")
    value = ir.add(ir.add(load("in", at(source, 0)), load("in", at(source, 1))), parameter(w))
    inner = loop(x, *out[0], let(row, at(result, 0)), store("out", row, value))
    body = block(query, loop(y, *out[1], inner, parallel=True))
    return Lowered("blur", (input_buffer(source), w, output_buffer(result)), body)


def simple(*stmts: ir.Stmt, name: str = "simple", type: Any = U16, extra: tuple[Argument, ...] = ()) -> Lowered:
    """A function of an output ``out``."""
    return Lowered(name, (*extra, output_buffer(image("out", type))), block(*stmts))


@pytest.mark.parametrize("flags", [emitted.NATIVE, emitted.SANITIZED], ids=["native", "sanitized"])
def test_blur_gives_what_numpy_gives(flags: tuple[str, ...]) -> None:
    source = np.arange(35, dtype=np.uint16).reshape(5, 7) * 2000
    out = np.zeros((5, 6), np.uint16)
    assert run(blur(), source, 5, out, flags=flags) == 0
    assert np.array_equal(out, source[:, :6] + source[:, 1:] + np.uint16(5))


def test_buffers_may_be_crops_flipped_and_empty() -> None:
    memory = np.arange(200, dtype=np.uint16).reshape(10, 20)
    source, out = memory[7:2:-1, 15:1:-2], np.zeros((5, 8), np.uint16)[:, :6]
    first, second = emitted.buffer(source, (-3, 10)), emitted.buffer(out, (-3, 10))
    assert run(blur(), first, 0, second) == 0
    assert np.array_equal(out, source[:, :6] + source[:, 1:])
    assert run(blur(), source, 0, np.zeros((0, 6), np.uint16)) == 0
    assert run(blur(), source, 0, source[:0]) == 0


def test_query_writes_what_is_needed_into_null_buffers() -> None:
    source, out = np.zeros((2, 2), np.uint16), np.zeros((4, 6), np.uint16)
    asked, window = emitted.buffer(source, host=False), emitted.buffer(out, (10, -2), host=False)
    asked.dim[0].extent = -77  # nobody has filled this in
    assert run(blur(), asked, 0, window) == 0
    assert [(d.min, d.extent, d.stride) for d in asked.dim[:2]] == [(10, 7, 1), (-2, 4, 7)]
    assert [(d.min, d.extent, d.stride) for d in window.dim[:2]] == [(10, 6, 1), (-2, 4, 6)]
    given = emitted.buffer(source)
    assert run(blur(), given, 0, window) == 0
    assert (given.dim[0].extent, out.max()) == (2, 0)


def test_query_refuses_what_int32_cannot_hold() -> None:
    asked = emitted.buffer(np.zeros((2, 2), np.uint16), host=False)
    window = emitted.buffer(np.zeros((2, 2), np.uint16))
    window.dim[0].min, window.dim[0].extent = 2**31 - 2, 2
    assert run(blur(), asked, 0, window) == OVERFLOW
    assert last_error().startswith('Pipeline "blur": input buffer "in" would need min 2147483646, extent 3')


def test_wrong_arguments_are_refused_by_name() -> None:
    good, out = np.zeros((3, 7), np.uint16), np.zeros((3, 6), np.uint16)
    function = emitted.load(blur())

    def call(first: Any, last: Any) -> tuple[int, str]:
        buffers = [emitted.buffer(b) if isinstance(b, np.ndarray) else b for b in (first, last)]
        pointers = [None if b is None else ctypes.byref(b) for b in buffers]
        return function(pointers[0], 0, pointers[1]), last_error()

    of_in, of_out = 'Pipeline "blur": input buffer "in"', 'Pipeline "blur": output buffer "out"'
    assert call(None, out) == (NULL_ARGUMENT, f"{of_in} is NULL.")
    assert call(good, None) == (NULL_ARGUMENT, f"{of_out} is NULL.")
    assert call(good.astype(np.int8), out) == (TYPE, f"{of_in} has type int8, but uint16 is needed.")
    assert call(good, out.astype(np.bool_)) == (TYPE, f"{of_out} has type bool, but uint16 is needed.")
    assert call(good, out.astype(np.float32)) == (TYPE, f"{of_out} has type float32, but uint16 is needed.")
    assert call(good[0], out) == (DIMENSIONS, f"{of_in} has 1 dimensions, but 2 are needed.")
    negative = emitted.buffer(good)
    negative.dim[1].extent = -1
    message = f"{of_in} has extent -1 in dimension 1, but an extent can't be negative."
    assert call(negative, out) == (EXTENT, message)
    strange, dimless, dirty = (emitted.buffer(good) for _ in range(3))
    strange.code, strange.lanes = 77, 2
    assert call(strange, out) == (TYPE, f"{of_in} has type an unknown type in vectors, but uint16 is needed.")
    dimless.dim = None
    assert call(dimless, out)[0] == NULL_ARGUMENT
    dirty.flags = 2
    assert call(dirty, out)[0] == 10
    assert call(good, out)[0] == 0


def test_outputs_that_overlap_another_buffer_are_refused() -> None:
    memory = np.zeros((4, 20), np.uint16)
    message = 'Pipeline "blur": output buffer "out" overlaps input buffer "in" in memory.'
    for source, out in (
        (memory[:, :7], memory[:, :6]),
        (memory[0:2, :7], memory[1:3, 6:12]),
        (memory[:, :7], memory[:, 6:12]),
        (memory[:, 10:17], memory[:, 5:11]),
        (memory[::-1][:2, :7], memory[2:, :6]),
    ):
        assert run(blur(), source, 0, out) == ALIAS
        assert last_error() == message
    assert run(blur(), memory[0:2, :7], 0, memory[2:4, :6]) == 0
    assert run(blur(), memory[1::-1, :7], 0, memory[2:4, :6]) == 0
    assert run(blur(), memory[:, :7], 0, memory[:, 10:16]) == 0  # rows in turn
    touching = memory.reshape(-1)
    assert run(blur(), touching[:7].reshape(1, 7), 0, touching[7:13].reshape(1, 6)) == 0


def test_two_outputs_may_not_overlap_and_components_must_be_alike() -> None:
    both = Function("f", ("x",), (U16, U16))
    arguments = tuple(Argument.of(ArgumentKind.OutputBuffer, f"f.{k}", U16, 1, both, component=k) for k in (0, 1))
    body = loop(x, ir.ZERO, field(both, Field.EXTENT, 0), *(store(f"f.{k}", x, ir.const(k + 1, U16)) for k in (0, 1)))
    lowered = Lowered("pair", arguments, body)
    a, b = np.zeros(4, np.uint16), np.zeros(8, np.uint16)
    assert run(lowered, a, b[:4]) == 0
    assert (a.tolist(), b.tolist()) == ([1] * 4, [2] * 4 + [0] * 4)
    assert run(lowered, b[:5], b[4:]) in (ALIAS, BOUNDS)
    assert run(lowered, b[:4], b[3:7]) == ALIAS
    assert last_error() == 'Pipeline "pair": output buffer "f.0" overlaps output buffer "f.1" in memory.'
    assert run(lowered, a, b) == BOUNDS
    assert run(lowered, a, b[::2]) == STRIDE
    message = 'Pipeline "pair": output buffer "f.1" has stride 2 in dimension 0, but output buffer "f.0" has 1.'
    assert last_error() == message


def test_null_host_without_a_query_is_refused() -> None:
    lowered = simple(store("out", ir.ZERO, ir.const(1, U16)))
    assert run(lowered, emitted.buffer(np.zeros(1, np.uint16), host=False)) == NULL_ARGUMENT
    assert last_error() == 'Pipeline "simple": output buffer "out" has no memory (host is NULL).'


def test_memory_on_a_device_is_refused() -> None:
    lowered = simple(store("out", ir.ZERO, ir.const(1, U16)))
    out = np.zeros(1, np.uint16)
    alone = emitted.buffer(out, host=False)
    alone.device = 1
    assert run(lowered, alone) == DEVICE
    assert last_error() == (
        'Pipeline "simple": output buffer "out" has memory on a device alone (host is NULL); copy it to the host first.'
    )
    newest = emitted.buffer(out)
    newest.device, newest.flags = 1, 2  # halide_buffer_flag_device_dirty
    assert run(lowered, newest) == DEVICE
    newest.flags = 1  # halide_buffer_flag_host_dirty
    assert run(lowered, newest) == 0
    assert out.tolist() == [1]


def test_memory_between_elements_is_refused() -> None:
    """C asks of a pointer what its type does, and vectorized code counts on it."""
    lowered = simple(store("out", ir.ZERO, ir.const(1, U16)))
    out = emitted.buffer(np.zeros(2, np.uint16))
    out.host += 1
    assert run(lowered, out) == STRIDE
    assert last_error() == 'Pipeline "simple": output buffer "out" is not aligned to 2 bytes.'


def test_scalar_arguments_of_every_type() -> None:
    types = [*(Int(b) for b in (8, 16, 32, 64)), *(UInt(b) for b in (8, 16, 32, 64)), BOOL, Float(32), Float(64)]
    given = [scalar_argument(f"p.{t}", t) for t in types]
    values = [-1, -2, -3, -4, 255, 65535, 2**32 - 1, 2**63, True, 1.5, 0.1]
    stores = [store("out", ir.i64(k), ir.cast(Float(64), parameter(a))) for k, a in enumerate(given)]
    kinds: list[Any] = [ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8, ctypes.c_uint16]
    kinds += [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_bool, ctypes.c_float, ctypes.c_double]
    out = np.zeros(len(types))
    passed = [kind(value) for kind, value in zip(kinds, values, strict=True)]
    assert run(simple(*stores, type=Float(64), extra=tuple(given)), *passed, out) == 0
    assert out.tolist() == [float(v) for v in values]


def test_assertion_messages_show_values() -> None:
    count, share, flag = (scalar_argument(n, t) for n, t in (("n", I32), ("s", Float(32)), ("b", BOOL)))
    big = scalar_argument("u", UInt(64))
    n = parameter(count)
    message = ('100% of "n" is ', n, ", s ", parameter(share), ", b ", parameter(flag), ", u ", parameter(big), "?\\\n")
    lowered = simple(check(ir.less(n, ir.const(5, I32)), *message), extra=(count, share, flag, big), name="checked")
    out = np.zeros(1, np.uint16)
    given = (ctypes.c_float(0.1), ctypes.c_bool(True), ctypes.c_uint64(2**64 - 1), out)
    assert run(lowered, 4, *given) == 0
    assert run(lowered, -7, *given) == 0
    assert run(lowered, 5, *given) == 8
    assert last_error() == 'Pipeline "checked": 100% of "n" is 5, s 0.100000001, b true, u 18446744073709551615?\\\n'


def test_conditions_choose_a_branch() -> None:
    even = ir.equal(ir.mod(x, ir.i64(2)), ir.ZERO)
    odd = ir.If(ir.less(x, ir.i64(4)), store("out", x, ir.const(2, U16)), None)
    branch = ir.If(even, store("out", x, ir.const(1, U16)), odd)
    out = np.zeros(8, np.uint16)
    assert run(simple(loop(x, ir.ZERO, ir.i64(8), branch)), out) == 0
    assert out.tolist() == [1, 2, 1, 2, 1, 0, 1, 0]


def test_loops_run_from_min_for_length() -> None:
    n = scalar_argument("n", INT64)
    start = ir.sub(ir.i64(2), parameter(n))
    body = loop(x, start, ir.mul(parameter(n), ir.i64(2)), store("out", ir.add(x, ir.i64(4)), ir.const(1, U16)))
    for length, wanted in ((0, 0), (2, 4), (-3, 0)):
        out = np.zeros(8, np.uint16)
        assert run(simple(body, extra=(n,)), ctypes.c_int64(length), out) == 0
        assert out.sum() == wanted


# ---- memory ------------------------------------------------------------------------------------------------------

COUNTING = """
#include <stdint.h>
#include <stdlib.h>
int live = 0, made = 0;
__attribute__((__malloc__)) void *counted_malloc(int64_t n);
void *counted_malloc(int64_t n) { if (n < 0 || n > (1 << 28)) return 0; live++; made++; return malloc((size_t)n + 1); }
void counted_free(void *p) { live -= p != 0; free(p); }
"""


def run_counted(folder: Path, lowered: Lowered, *arguments: Any) -> tuple[int, int, int]:
    """The error code, how many allocations there were, and how many of them were not freed."""
    stub = folder / "counting.h"
    stub.write_text(COUNTING)
    flags = ("-O1", "-include", str(stub), "-Dhalide_core_malloc=counted_malloc", "-Dhalide_core_free=counted_free")
    function = emitted.load(lowered, flags)
    given = [emitted.buffer(a) if isinstance(a, np.ndarray) else a for a in arguments]
    code = function(*[ctypes.byref(a) if isinstance(a, emitted.Buffer) else a for a in given])
    library = ctypes.CDLL(str(function_path(function)))
    return code, ctypes.c_int.in_dll(library, "made").value, ctypes.c_int.in_dll(library, "live").value


def function_path(function: Any) -> str:
    """The library that a function was loaded from."""

    class Info(ctypes.Structure):
        _fields_ = (("name", ctypes.c_char_p), ("a", ctypes.c_void_p), ("b", ctypes.c_void_p), ("c", ctypes.c_void_p))

    info = Info()
    assert ctypes.CDLL(None).dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(info))
    name: bytes = info.name
    return name.decode()


def test_small_constant_allocations_are_on_the_stack() -> None:
    inside = block(store("f", x, ir.const(7, U16)), store("g", ir.ONE, ir.TRUE))
    lowered = simple(
        allocate("f", ir.i64(3), 3),
        allocate("g", ir.i64(3), 3, BOOL),
        loop(x, ir.ZERO, ir.i64(3), inside),
        store("out", ir.ZERO, ir.add(load("f", ir.ZERO), ir.cast(U16, load("g", ir.ONE, BOOL)))),
    )
    assert "uint16_t f[32] __attribute__((aligned(64)));" in emit_c(lowered)
    assert "uint8_t g[64]" in emit_c(lowered)
    assert "halide_core_malloc" not in emit_c(lowered)
    out = np.zeros(1, np.uint16)
    assert run(lowered, out) == 0
    assert out[0] == 8


def failing(n: Argument, *, parallel: bool) -> Lowered:
    """Allocates at three depths; an assertion inside fails for x == n."""
    test = check(ir.binary(ir.BinaryOp.NE, x, parameter(n)), "x is ", x)
    inner = block(
        allocate("h", ir.i64(4)), store("h", ir.ZERO, ir.const(1, U16)), test, store("out", x, load("h", ir.ZERO))
    )
    rows = loop(x, ir.ZERO, ir.i64(6), allocate("g", ir.add(x, ir.i64(1 << 15)), 1 << 20), inner, parallel=parallel)
    return simple(allocate("f", parameter(n)), rows, store("f", ir.ZERO, load("out", ir.ZERO)), extra=(n,))


@pytest.mark.parametrize("parallel", [False, True])
def test_heap_memory_is_freed_at_the_end_and_after_failures(tmp_path: Path, parallel: bool) -> None:
    n = scalar_argument("n", INT64)
    out = np.zeros(6, np.uint16)
    emitted.runtime().halide_core_set_num_threads(1)
    try:
        code, made, live = run_counted(tmp_path, failing(n, parallel=parallel), ctypes.c_int64(9), out)
        assert (code, made, live, out.tolist()) == (0, 13, 0, [1] * 6)
        code, made, live = run_counted(tmp_path, failing(n, parallel=parallel), ctypes.c_int64(2), out)
        assert (code, made - 13, live) == (8, 7, 0)
        assert last_error() == 'Pipeline "simple": x is 2'
    finally:
        emitted.runtime().halide_core_set_num_threads(0)


@pytest.mark.parametrize("size", [1 << 40, -1, 1 << 62, (1 << 63) - 1])
def test_allocations_that_fail_are_reported_and_leave_nothing(tmp_path: Path, size: int) -> None:
    n = scalar_argument("n", INT64)
    lowered = simple(
        allocate("f", ir.i64(4)),
        allocate("g.0", ir.mul(ir.mul(parameter(n), ir.i64(4)), ir.i64(4)), None, UInt(32)),
        store("g.0", ir.ZERO, ir.const(1, UInt(32))),
        store("f", ir.ZERO, ir.cast(U16, load("g.0", ir.ZERO, UInt(32)))),
        extra=(n,),
    )
    code, made, live = run_counted(tmp_path, lowered, ctypes.c_int64(size), np.zeros(1, np.uint16))
    assert (code, made, live) == (MEMORY, 1, 0)
    assert last_error() == 'Pipeline "simple": there is no memory for buffer "g.0".'


@pytest.mark.parametrize("size", [1 << 21, (1 << 31) - 1])
def test_strides_that_overflow_are_not_allocated(size: int) -> None:
    n, plane, cube = scalar_argument("n", INT64), ir.index_variable("f.plane"), ir.index_variable("f.cube")
    lowered = simple(
        let(plane, ir.mul(parameter(n), parameter(n))),
        let(cube, ir.mul(plane, parameter(n))),
        allocate("f", ir.mul(cube, parameter(n))),
        store("f", ir.sub(cube, ir.ONE), ir.const(1, U16)),
        extra=(n,),
    )
    assert run(lowered, ctypes.c_int64(size), np.zeros(1, np.uint16), flags=emitted.SANITIZED) == MEMORY
    assert run(lowered, ctypes.c_int64(3), np.zeros(1, np.uint16), flags=emitted.SANITIZED) == 0


# ---- parallel tasks ----------------------------------------------------------------------------------------------


def nested() -> Lowered:
    """Two parallel loops inside each other that read scalars, vectors, bools, stack and heap from outside."""
    n, source = scalar_argument("n", I32), image("in", I32)
    four = ir.i64(4)
    vector, flag = ir.Variable(Int(32, 4), "v"), ir.Variable(BOOL.with_lanes(4), "m")
    one, base = ir.Variable(BOOL, "yes"), ir.index_variable("base")
    lanes = ir.Ramp(Int(64, 4), ir.mul(ir.add(ir.mul(y, four), x), four), ir.ONE)
    ramp = ir.Ramp(Int(64, 4), ir.ZERO, ir.ONE)
    chosen = ir.Select(vector.type, flag, vector, ir.const(0, vector.type))
    splat = ir.Broadcast(vector.type, ir.add(load("heap", x, I32), load("stack", ir.mod(y, ir.i64(2)), I32)))
    extra = ir.Broadcast(vector.type, ir.Select(I32, one, ir.cast(I32, base), parameter(n)))
    inner = loop(x, ir.ZERO, four, store("out", lanes, ir.add(ir.add(chosen, splat), extra)), parallel=True)
    outer = loop(y, ir.ZERO, ir.i64(64), let(base, ir.mul(y, ir.i64(1000))), inner, parallel=True)
    fill = loop(z, ir.ZERO, four, store("heap", z, ir.mul(ir.cast(I32, z), ir.const(10, I32))))
    body = block(
        let(vector, load("in", ramp, vector.type)),
        let(flag, ir.less(vector, ir.const(3, vector.type))),
        let(one, ir.less(parameter(n), ir.const(5, I32))),
        allocate("heap", four, None, I32),
        allocate("stack", ir.i64(2), 2, I32),
        store("stack", ir.ZERO, ir.const(1, I32)),
        store("stack", ir.ONE, ir.const(2, I32)),
        fill,
        outer,
    )
    return Lowered("nested", (input_buffer(source), n, output_buffer(image("out", I32))), body)


@pytest.mark.parametrize("flags", [emitted.NATIVE, emitted.SANITIZED], ids=["native", "sanitized"])
@pytest.mark.parametrize("n", [4, 5])
def test_nested_parallel_loops_see_what_is_outside(n: int, flags: tuple[str, ...]) -> None:
    source, out = np.array([1, 2, 3, 4], np.int32), np.zeros(64 * 16, np.int32)
    assert run(nested(), source, n, out, flags=flags) == 0
    rows, columns, lanes = np.meshgrid(np.arange(64), np.arange(4), np.arange(4), indexing="ij")
    wanted = np.where(source[lanes] < 3, source[lanes], 0) + 10 * columns + 1 + rows % 2
    wanted = wanted + (1000 * rows if n < 5 else n)
    assert np.array_equal(out, wanted.reshape(-1))


def test_closures_hold_exactly_what_is_used_and_keep_qualifiers() -> None:
    text = emit_c(blur())
    struct = text[text.index("struct blur_par_0 {") :].split("}", 1)[0]
    assert "const uint16_t *restrict in_data;" in struct
    assert "    uint16_t *restrict out_data;" in struct
    assert "uint16_t w;" in struct
    assert "in_stride_1;" in struct
    assert "f_s0_y" not in struct
    assert "static int blur_par_0(void *closure, int64_t f_s0_y_1) {" in text


def test_failures_inside_nested_tasks_reach_the_caller() -> None:
    test = check(ir.less(ir.add(x, y), ir.i64(7)), "sum ", ir.add(x, y))
    inner = loop(x, ir.ZERO, ir.i64(4), test, store("out", x, ir.const(1, U16)), parallel=True)
    assert run(simple(loop(y, ir.ZERO, ir.i64(5), inner, parallel=True)), np.zeros(4, np.uint16)) == 8
    assert last_error() == 'Pipeline "simple": sum 7'


def test_parallel_task_without_captures() -> None:
    body = loop(x, ir.ZERO, ir.i64(3), check(ir.less(x, ir.i64(2)), "no"), parallel=True)
    assert run(simple(body), np.zeros(1, np.uint16)) == 8


# ---- the text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ir.LoopKind.UNROLLED, ir.LoopKind.VECTORIZED])
def test_loops_that_lowering_should_have_removed_are_refused(kind: ir.LoopKind) -> None:
    name = ir.LoopName("f", 0, 0, "x")
    body = ir.For(name, x, ir.Interval(ir.ZERO, ir.ONE), kind, True, block())
    with pytest.raises(InternalError, match=f"A {kind.value} loop reached the C emitter"):
        emit_c(simple(body))


def test_statements_that_lowering_should_have_removed_are_refused() -> None:
    source = image("in", U16)
    stmts: list[ir.Stmt] = [
        ir.Label(source, None, block()),
        ir.Provide(source, 0, (x,), (x,)),
        ir.Allocate(source, ()),
    ]
    for stmt in stmts:
        with pytest.raises(InternalError, match="reached the C emitter"):
            emit_c(simple(stmt))


def test_unknown_names_are_refused() -> None:
    for value in (load("nothing", ir.ZERO), ir.cast(U16, ir.index_variable("nowhere"))):
        with pytest.raises(InternalError, match="outside its scope"):
            emit_c(simple(store("out", ir.ZERO, value)))


def test_hostile_names_stay_apart() -> None:
    names = ["int", "out_data", "t0", "f", "f_", "error", "main", "while", "min_i32", "*/ x", "out", "INT64_MAX"]
    given = [scalar_argument(name, I32) for name in names]
    stores = []
    for k, a in enumerate(given):
        var = ir.index_variable(a.name)
        stores.append(let(var, ir.cast(INT64, parameter(a))))
        value = ir.minimum(parameter(a), ir.const(100, I32))
        stores.append(store("out", ir.i64(k), ir.add(ir.mul(value, value), ir.cast(I32, ir.mul(var, ir.ZERO)))))
    out = np.zeros(len(names), np.int32)
    lowered = simple(*stores, type=I32, extra=tuple(given), name="int32_t_")
    assert run(lowered, *range(len(names)), out) == 0
    assert out.tolist() == [k * k for k in range(len(names))]


def test_no_arguments_at_all() -> None:
    assert run(Lowered("nothing", (), block(check(ir.TRUE, "")))) == 0


SCRIPT = "from tests.runtime.codegen import test_unit as t; print(t.emit_c(t.blur()) + t.emit_c(t.nested()))"


def test_text_is_the_same_every_time_and_in_every_process() -> None:
    here = emit_c(blur()) + emit_c(nested())
    assert here == emit_c(blur()) + emit_c(nested())
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(emitted.ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment
        )
        assert done.stdout == here + "\n"


def test_header_declares_the_function_for_c_and_cpp(tmp_path: Path) -> None:
    lowered = blur()
    header = emit_header([Declared("blur", Linkage("blur"), lowered.arguments)])
    assert "int blur(halide_buffer_t *in, uint16_t w, halide_buffer_t *out);" in header
    (tmp_path / "blur.h").write_text(header)
    body = '#include "blur.h"\n#include "blur.h"\nint main(void) { return blur(0, 1, 0); }\n'
    for compiler, suffix in ((find_compiler().command, "c"), (cpp(), "cpp")):
        source = tmp_path / f"main.{suffix}"
        source.write_text(body)
        warnings = ["-Wall", "-Wextra", "-Werror", "-c", "-o", str(tmp_path / "main.o")]
        command = [*compiler, *warnings, f"-I{emitted.INCLUDE_FOLDER}", str(source)]
        subprocess.run(command, check=True)


def test_stores_of_a_point_happen_at_once() -> None:
    a, b = image("a", U16), image("b", U16)
    n = field(a, Field.EXTENT, 0)
    turn = ir.Stores((ir.Store("a", x, load("b", x)), ir.Store("b", x, load("a", x))))
    lowered = Lowered("turn", (output_buffer(a), output_buffer(b)), block(loop(x, ir.ZERO, n, turn)))
    first, second = np.arange(5, dtype=np.uint16), np.arange(90, 95, dtype=np.uint16)
    assert run(lowered, first, second) == 0
    assert (first.tolist(), second.tolist()) == ([90, 91, 92, 93, 94], [0, 1, 2, 3, 4])


def test_stores_at_different_places_read_before_they_write() -> None:
    a, b = image("a", U16), image("b", U16)
    apart = ir.Stores((ir.Store("a", x, load("b", x)), ir.Store("b", ir.add(x, ir.ONE), load("a", x))))
    lowered = Lowered("apart", (output_buffer(a), output_buffer(b)), loop(x, ir.ZERO, ir.i64(3), apart))
    first, second = np.arange(4, dtype=np.uint16), np.arange(90, 94, dtype=np.uint16)
    assert run(lowered, first, second) == 0
    assert (first.tolist(), second.tolist()) == ([90, 0, 1, 3], [90, 0, 1, 2])
