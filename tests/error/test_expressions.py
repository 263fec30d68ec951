"""Expressions that mean nothing: constants that change value, types that don't go together, Python's words on an Expr.

Each case is a call on one line, the class of its error, what the message names, and a text of the line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.blame import refused

x, y = hl.Var("x"), hl.Var("y")
U8, I8, I16, U16, I32, I64 = hl.u8(x), hl.i8(x), hl.i16(x), hl.u16(x), hl.i32(x), hl.i64(x)
F32, F64, TRUTH = hl.f32(x), hl.f64(x), x > 0
r, q = hl.RDom([(0, 3)]), hl.RDom([(0, 2)], "q")
word: Any = "3"
Case = tuple[Callable[[], Any], type[hl.HalideError], tuple[str, ...], str]

CONSTANTS: list[Case] = [
    (lambda: U8 + 256, hl.TypeMismatchError, ("256", "uint8", "hl.i32("), "U8 + 256"),
    (lambda: U8 - -1, hl.TypeMismatchError, ("-1", "uint8"), "U8 - -1"),
    (lambda: 300 * U8, hl.TypeMismatchError, ("300", "uint8"), "300 * U8"),
    (lambda: I8 < 128, hl.TypeMismatchError, ("128", "int8"), "I8 < 128"),
    (lambda: U16 == 65536, hl.TypeMismatchError, ("65536", "uint16"), "U16 == 65536"),
    (lambda: I16 / -32769, hl.TypeMismatchError, ("-32769", "int16"), "I16 / -32769"),
    (lambda: TRUTH & 2, hl.TypeMismatchError, ("2", "bool"), "TRUTH & 2"),
    (lambda: I64 + 2**63, hl.TypeMismatchError, (str(2**63), "int64"), "I64 + 2**63"),
    (lambda: hl.Expr(2**64), hl.TypeMismatchError, (str(2**64), "int64"), "hl.Expr(2**64)"),
    (lambda: hl.clamp(U8, 0, 256), hl.TypeMismatchError, ("clamp", "256", "uint8"), "hl.clamp(U8, 0, 256)"),
    (lambda: hl.clamp(U8, -1, 5), hl.TypeMismatchError, ("clamp", "-1", "uint8"), "hl.clamp(U8, -1, 5)"),
    (lambda: hl.clamp(I32, 0, 2.5), hl.TypeMismatchError, ("clamp", "int32", "float32"), "hl.clamp(I32, 0, 2.5)"),
    (lambda: hl.clamp(U8, 0, I16), hl.TypeMismatchError, ("clamp", "uint8", "int16"), "hl.clamp(U8, 0, I16)"),
    (lambda: hl.select(TRUTH, U8, 300), hl.TypeMismatchError, ("300", "uint8"), "hl.select(TRUTH, U8, 300)"),
    (lambda: hl.select(TRUTH, U8, 0.5), hl.TypeMismatchError, ("0.5", "uint8"), "hl.select(TRUTH, U8, 0.5)"),
    (lambda: hl.lerp(U8, 300, 0.5), hl.TypeMismatchError, ("lerp", "300", "uint8"), "hl.lerp(U8, 300, 0.5)"),
    (lambda: hl.lerp(U8, U8, 1.5), hl.TypeMismatchError, ("weight", "1.5"), "hl.lerp(U8, U8, 1.5)"),
]

TYPES: list[Case] = [
    (lambda: U8 + word, hl.TypeMismatchError, ("str",), "U8 + word"),
    (lambda: hl.Expr(None), hl.TypeMismatchError, ("NoneType",), "hl.Expr(None)"),  # type: ignore[arg-type]
    (lambda: hl.Expr(1j), hl.TypeMismatchError, ("complex",), "hl.Expr(1j)"),  # type: ignore[arg-type]
    (lambda: U8 + np.complex64(1), hl.TypeMismatchError, ("complex64",), "np.complex64(1)"),
    (lambda: F32 & 1, hl.TypeMismatchError, ('"&"', "float32"), "F32 & 1"),
    (lambda: F32 << 1, hl.TypeMismatchError, ('"<<"', "float32"), "F32 << 1"),
    (lambda: TRUTH >> 1, hl.TypeMismatchError, ('">>"', "bool"), "TRUTH >> 1"),
    (lambda: ~F64, hl.TypeMismatchError, ('"~"', "float64"), "~F64"),
    (lambda: U8 | I8, hl.TypeMismatchError, ('"|"', "uint8", "int8", "hl.u8("), "U8 | I8"),
    (lambda: I16 ^ U16, hl.TypeMismatchError, ('"^"', "int16", "uint16"), "I16 ^ U16"),
    (lambda: hl.select(U8, 1, 2), hl.TypeMismatchError, ("select", "bool", "uint8"), "hl.select(U8, 1, 2)"),
    (lambda: hl.select(TRUTH, U8, I16), hl.TypeMismatchError, ("uint8", "int16"), "hl.select(TRUTH, U8, I16)"),
    (lambda: hl.select(TRUTH, 1), hl.DefinitionError, ("odd number", "2"), "hl.select(TRUTH, 1)"),
    (lambda: hl.mux(x, [U8, I16]), hl.TypeMismatchError, ("mux", "uint8", "int16"), "hl.mux(x, [U8, I16])"),
    (lambda: hl.mux(x, []), hl.DefinitionError, ("mux",), "hl.mux(x, [])"),
    (lambda: hl.min(x), hl.DefinitionError, ("min", "2"), "hl.min(x)"),
    (lambda: hl.lerp(U8, U16, 0.5), hl.TypeMismatchError, ("lerp", "uint8", "uint16"), "hl.lerp(U8, U16, 0.5)"),
    (lambda: hl.lerp(U8, U8, I8), hl.TypeMismatchError, ("weight", "int8"), "hl.lerp(U8, U8, I8)"),
    (lambda: hl.is_nan(U8), hl.TypeMismatchError, ("is_nan", "uint8"), "hl.is_nan(U8)"),
    (lambda: hl.logical_not(I32), hl.TypeMismatchError, ("logical_not", "int32"), "hl.logical_not(I32)"),
    (lambda: hl.popcount(F32), hl.TypeMismatchError, ("popcount", "float32"), "hl.popcount(F32)"),
    (lambda: hl.widening_mul(I64, I64), hl.TypeMismatchError, ("widening_mul", "128"), "hl.widening_mul(I64, I64)"),
    (lambda: hl.reinterpret(hl.Int(8), I32), hl.TypeMismatchError, ("int32", "int8"), "hl.reinterpret(hl.Int(8), I32)"),
    (lambda: hl.Expr() + 1, hl.DefinitionError, ("undefined", "defined()"), "hl.Expr() + 1"),
]

PYTHON: list[Case] = [
    (lambda: TRUTH and U8, hl.DefinitionError, ("&", "'and'"), "TRUTH and U8"),
    (lambda: TRUTH or U8, hl.DefinitionError, ("|", "'or'"), "TRUTH or U8"),
    (lambda: not TRUTH, hl.DefinitionError, ("~", "'not'"), "not TRUTH"),
    (lambda: 1 if TRUTH else 2, hl.DefinitionError, ("hl.select", "'if'"), "1 if TRUTH else 2"),
    (lambda: 0 < U8 < 9, hl.DefinitionError, ("chained",), "0 < U8 < 9"),
    (lambda: [i for i in (U8,) if i == 3], hl.DefinitionError, ("hl.select",), "if i == 3"),
    (lambda: max(U8, I16), hl.DefinitionError, ("hl.select",), "max(U8, I16)"),
]

DOMAINS: list[Case] = [
    (lambda: hl.RDom(5), hl.DefinitionError, ("RDom", "list"), "hl.RDom(5)"),  # type: ignore[arg-type]  # on purpose
    (lambda: hl.RDom([(0, 1.5)]), hl.DefinitionError, ('"r.x"', "integer"), "hl.RDom([(0, 1.5)])"),
    (lambda: hl.RDom([(0, x)]), hl.DefinitionError, ('"r.x"', '"x"', "starts"), "hl.RDom([(0, x)])"),
    (lambda: hl.RDom([(0, 2**40)]), hl.DefinitionError, ('"r.x"', "int32"), "hl.RDom([(0, 2**40)])"),
    (lambda: hl.RDom([(0, 2), (0, 2)]) + 1, hl.DefinitionError, ("2 dimensions", "r.x"), "(0, 2)]) + 1"),
    (lambda: r.y, hl.DefinitionError, (".y", "1 dimensions"), "r.y"),
    (lambda: hl.RVar("loop") + 1, hl.DefinitionError, ('"loop"', "RDom"), 'hl.RVar("loop") + 1'),
    (lambda: hl.Range(3), hl.DefinitionError, ("min", "extent"), "hl.Range(3)"),
    (lambda: hl.sum(x), hl.DefinitionError, ("sum", "RDom"), "hl.sum(x)"),
    (lambda: hl.sum(r.x + q.x), hl.DefinitionError, ('"r.x"', '"q.x"', "hl.sum(r, value)"), "hl.sum(r.x + q.x)"),
    (lambda: hl.product(*()), hl.DefinitionError, ("product",), "hl.product(*())"),
    (lambda: hl.maximum(r, r.x, "name", 3), hl.DefinitionError, ("maximum",), 'hl.maximum(r, r.x, "name", 3)'),
]


@pytest.mark.parametrize("case", CONSTANTS, ids=lambda case: case[3])
def test_constant_that_changes_is_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)


@pytest.mark.parametrize("case", TYPES, ids=lambda case: case[3])
def test_types_that_do_not_go_together_are_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)


@pytest.mark.parametrize("case", PYTHON, ids=lambda case: case[3])
def test_python_s_own_logic_is_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)


@pytest.mark.parametrize("case", DOMAINS, ids=lambda case: case[3])
def test_reduction_domain_that_means_nothing_is_refused(case: Case) -> None:
    call, error, named, at = case
    refused(error, call, *named, at=at)
