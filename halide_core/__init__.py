"""halide_core: a Halide in Python. ``import halide_core as hl`` gives the names of Halide's Python bindings.

f[x, y] = x + y;  f.realize([8, 8])   ->   a Buffer of 8 by 8
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from halide_core import boundary_conditions as BoundaryConditions
from halide_core.backend import Argument, ArgumentKind
from halide_core.buffer import Buffer
from halide_core.buffer_shape import BufferDimension
from halide_core.callable import Callable
from halide_core.casts import (
    cast,
    f32,
    f64,
    i8,
    i8_sat,
    i16,
    i16_sat,
    i32,
    i32_sat,
    i64,
    i64_sat,
    saturating_cast,
    u8,
    u8_sat,
    u16,
    u16_sat,
    u32,
    u32_sat,
    u64,
    u64_sat,
)
from halide_core.errors import (
    BoundsError,
    CertificateError,
    CoordinateError,
    DefinitionError,
    HalideError,
    InternalError,
    NotAvailableError,
    PipelineError,
    ScheduleError,
    SpecializeFailError,
    ToolchainError,
    TypeMismatchError,
)
from halide_core.expr import Expr, HalideWarning, Var
from halide_core.func import Func, FuncRef, evaluate, lambda_func
from halide_core.functions import (
    abs,
    absd,
    acos,
    asin,
    atan,
    atan2,
    ceil,
    clamp,
    cos,
    cosh,
    exp,
    floor,
    fract,
    hypot,
    is_finite,
    is_inf,
    is_nan,
    likely,
    likely_if_innermost,
    log,
    logical_not,
    max,
    min,
    mux,
    pow,
    round,
    select,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
)
from halide_core.image_param import Dimension, ImageParam
from halide_core.inline_reductions import argmax, argmin, maximum, minimum, product, sum
from halide_core.lerp import lerp
from halide_core.output_buffer import OutputImageParam
from halide_core.param import Param
from halide_core.pending import MODULE, missing
from halide_core.pipeline import Pipeline, StmtOutputFormat
from halide_core.ranges import Range
from halide_core.rdom import RDom, RVar
from halide_core.schedule import TailStrategy
from halide_core.shadowing import check_siblings
from halide_core.stage import Stage
from halide_core.types import Bool, Float, Int, Type, TypeCode, UInt

check_siblings(Path(__file__).resolve().parent.parent)

if not TYPE_CHECKING:  # else every misspelt name would pass the type checker

    def __getattr__(name: str) -> NoReturn:
        missing("halide_core", name, MODULE)


__all__ = [
    "Argument",
    "ArgumentKind",
    "Bool",
    "BoundaryConditions",
    "BoundsError",
    "Buffer",
    "BufferDimension",
    "Callable",
    "CertificateError",
    "CoordinateError",
    "DefinitionError",
    "Dimension",
    "Expr",
    "Float",
    "Func",
    "FuncRef",
    "HalideError",
    "HalideWarning",
    "ImageParam",
    "Int",
    "InternalError",
    "NotAvailableError",
    "OutputImageParam",
    "Param",
    "Pipeline",
    "PipelineError",
    "RDom",
    "RVar",
    "Range",
    "ScheduleError",
    "SpecializeFailError",
    "Stage",
    "StmtOutputFormat",
    "TailStrategy",
    "ToolchainError",
    "Type",
    "TypeCode",
    "TypeMismatchError",
    "UInt",
    "Var",
    "abs",
    "absd",
    "acos",
    "argmax",
    "argmin",
    "asin",
    "atan",
    "atan2",
    "cast",
    "ceil",
    "clamp",
    "cos",
    "cosh",
    "evaluate",
    "exp",
    "f32",
    "f64",
    "floor",
    "fract",
    "hypot",
    "i8",
    "i8_sat",
    "i16",
    "i16_sat",
    "i32",
    "i32_sat",
    "i64",
    "i64_sat",
    "is_finite",
    "is_inf",
    "is_nan",
    "lambda_func",
    "lerp",
    "likely",
    "likely_if_innermost",
    "log",
    "logical_not",
    "max",
    "maximum",
    "min",
    "minimum",
    "mux",
    "pow",
    "product",
    "round",
    "saturating_cast",
    "select",
    "sin",
    "sinh",
    "sqrt",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "u8",
    "u8_sat",
    "u16",
    "u16_sat",
    "u32",
    "u32_sat",
    "u64",
    "u64_sat",
]
