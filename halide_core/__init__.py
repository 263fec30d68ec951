"""halide_core: a Halide in Python. ``import halide_core as hl`` gives the names of Halide's Python bindings.

f[x, y] = x + y;  f.realize([8, 8])   ->   a Buffer of 8 by 8
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from halide_core.buffer.shape import BufferDimension
from halide_core.errors import (
    BoundsError,
    CertificateError,
    CoordinateError,
    DefinitionError,
    HalideError,
    HalideWarning,
    IgnoredDirectiveWarning,
    InternalError,
    NotAvailableError,
    NotIterableError,
    PipelineError,
    PrecisionWarning,
    PromiseError,
    ScheduleError,
    SpecializeFailError,
    ToolchainError,
    TypeMismatchError,
)
from halide_core.func import boundary_conditions as BoundaryConditions
from halide_core.func.extern import ExternFuncArgument
from halide_core.func.func import Func, Stage, evaluate, evaluate_may_gpu, lambda_func
from halide_core.func.image_param import ImageParam
from halide_core.func.scheduling.loop_level import LoopLevel
from halide_core.func.scheduling.schedule_value import Schedule
from halide_core.func.several_names import funcs, vars
from halide_core.ir.memory import MemoryType, PrefetchBoundStrategy
from halide_core.ir.types import BFloat, Bool, Float, Handle, Int, Type, TypeCode, UInt
from halide_core.lang.arguments.implicit import _, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9
from halide_core.lang.arguments.loop_variables import VarOrRVar
from halide_core.lang.arguments.ranges import Range
from halide_core.lang.at_once import gather, scatter
from halide_core.lang.buffer import Buffer
from halide_core.lang.estimates import ArgumentEstimates
from halide_core.lang.eviction_key import EvictionKey
from halide_core.lang.expr import Expr, Var
from halide_core.lang.func_ref import FuncRef, FuncTupleElementRef
from halide_core.lang.inline_reductions import argmax, argmin, maximum, minimum, product, sum
from halide_core.lang.input_buffer import Dimension
from halide_core.lang.ops.bits import (
    concat_bits,
    count_leading_zeros,
    count_trailing_zeros,
    extract_bits,
    popcount,
    reinterpret,
)
from halide_core.lang.ops.casts import (
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
from halide_core.lang.ops.fast_math import (
    acosh,
    asinh,
    atanh,
    erf,
    fast_cos,
    fast_exp,
    fast_inverse,
    fast_inverse_sqrt,
    fast_log,
    fast_pow,
    fast_sin,
    strict_float,
    unsafe_promise_clamped,
)
from halide_core.lang.ops.fixed_point import (
    div_round_to_zero,
    halving_add,
    halving_sub,
    mod_round_to_zero,
    mul_shift_right,
    rounding_halving_add,
    rounding_mul_shift_right,
    rounding_shift_left,
    rounding_shift_right,
    saturating_add,
    saturating_sub,
    widen_right_add,
    widen_right_mul,
    widen_right_sub,
    widening_add,
    widening_mul,
    widening_shift_left,
    widening_shift_right,
    widening_sub,
)
from halide_core.lang.ops.lerp import lerp
from halide_core.lang.ops.math import (
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
from halide_core.lang.ops.printing import print, print_when
from halide_core.lang.ops.random_numbers import random_float, random_int, random_uint
from halide_core.lang.output_buffer import OutputImageParam
from halide_core.lang.param import Param
from halide_core.lang.parameter import Parameter
from halide_core.lang.placeholders import memoize_tag, require, undef
from halide_core.lang.rdom import RDom, RVar
from halide_core.lang.tuple import Tuple
from halide_core.lang.user_context import user_context_value
from halide_core.run.as_halide import install_as_halide
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.run.callable import Callable
from halide_core.run.memoization import (
    memoization_cache_cleanup,
    memoization_cache_evict,
    memoization_cache_set_size,
)
from halide_core.run.output_files import (
    LinkageType,
    Module,
    NameMangling,
    OutputFileType,
    StmtOutputFormat,
    compile_standalone_runtime,
    install_dir,
    link_modules,
)
from halide_core.run.pipeline import Pipeline
from halide_core.run.profile_data import FuncProfile, Profile
from halide_core.run.profiling import profile
from halide_core.run.target import (
    Target,
    get_host_target,
    get_jit_target_from_environment,
    get_target_from_environment,
    host_supports_target_device,
    target_arch_is,
    target_bits,
    target_feature_for_device_api,
    target_has_feature,
    target_natural_vector_size,
    target_os_is,
)
from halide_core.run.target_names import DeviceAPI, TargetArch, TargetFeature, TargetOS, TargetProcessorTune
from halide_core.schedule.access_directives import Partition
from halide_core.schedule.directives import LoopAlignStrategy, TailStrategy
from halide_core.tracebacks import install as _shorten_tracebacks
from halide_core.unsupported import MODULE, missing

_shorten_tracebacks()

_ON_DEMAND = {
    "stream": "halide_core.blocks.streaming",
    **dict.fromkeys(("ArgInfo", "ArgInfoDirection", "ArgInfoKind"), "halide_core.generate.arg_info"),
    **dict.fromkeys(
        """AutoschedulerParams GeneratorContext active_generator_context _generatorcontext_enter
        _generatorcontext_exit""".split(),
        "halide_core.generate.context",
    ),
    "Generator": "halide_core.generate.generator",
    **dict.fromkeys(
        ("GeneratorParam", "InputBuffer", "InputScalar", "OutputBuffer", "OutputScalar"), "halide_core.generate.members"
    ),
    **dict.fromkeys(
        "alias create_callable_from_generator generator _create_python_generator _get_python_generator_names".split(),
        "halide_core.generate.registry",
    ),
    **dict.fromkeys(("TuningResult", "tune"), "halide_core.run.tune"),
    **dict.fromkeys(("AutoSchedulerResults", "load_plugin", "set_default_schedule"), "halide_core.run.automatic"),
    "main": "halide_core.generate.command_line",
    **dict.fromkeys(
        ("deserialize_parameters", "deserialize_pipeline", "serialize_pipeline"), "halide_core.serialize.pipeline"
    ),
}
"""Names that few programs need, loaded on first use."""

if TYPE_CHECKING:
    from halide_core.blocks.streaming import stream
    from halide_core.generate.arg_info import ArgInfo, ArgInfoDirection, ArgInfoKind
    from halide_core.generate.command_line import main
    from halide_core.generate.context import AutoschedulerParams, GeneratorContext, active_generator_context
    from halide_core.generate.generator import Generator
    from halide_core.generate.members import GeneratorParam, InputBuffer, InputScalar, OutputBuffer, OutputScalar
    from halide_core.generate.registry import alias, create_callable_from_generator, generator
    from halide_core.run.automatic import AutoSchedulerResults, load_plugin, set_default_schedule
    from halide_core.run.tune import TuningResult, tune
    from halide_core.serialize.pipeline import deserialize_parameters, deserialize_pipeline, serialize_pipeline
else:  # not for the type checker, which would let every misspelt name pass

    def __getattr__(name: str) -> object:
        if name == "imageio":  # loaded on first use: it needs a library that not all have, and that loads slowly
            try:
                return importlib.import_module("halide_core.imageio")
            except ImportError as absent:
                raise NotAvailableError("hl.imageio needs the library imageio: pip install imageio.") from absent
        if name == "dask":  # Dask is an extra
            return importlib.import_module("halide_core.dask")
        if name in _ON_DEMAND:
            return getattr(importlib.import_module(_ON_DEMAND[name]), name)
        missing("halide_core", name, MODULE)


__version__ = "0.1.0"

__all__ = [
    "ArgInfo",
    "ArgInfoDirection",
    "ArgInfoKind",
    "Argument",
    "ArgumentEstimates",
    "ArgumentKind",
    "AutoSchedulerResults",
    "AutoschedulerParams",
    "BFloat",
    "Bool",
    "BoundaryConditions",
    "BoundsError",
    "Buffer",
    "BufferDimension",
    "Callable",
    "CertificateError",
    "CoordinateError",
    "DefinitionError",
    "DeviceAPI",
    "Dimension",
    "EvictionKey",
    "Expr",
    "ExternFuncArgument",
    "Float",
    "Func",
    "FuncProfile",
    "FuncRef",
    "FuncTupleElementRef",
    "Generator",
    "GeneratorContext",
    "GeneratorParam",
    "HalideError",
    "HalideWarning",
    "Handle",
    "IgnoredDirectiveWarning",
    "ImageParam",
    "InputBuffer",
    "InputScalar",
    "Int",
    "InternalError",
    "LinkageType",
    "LoopAlignStrategy",
    "LoopLevel",
    "MemoryType",
    "Module",
    "NameMangling",
    "NotAvailableError",
    "NotIterableError",
    "OutputBuffer",
    "OutputFileType",
    "OutputImageParam",
    "OutputScalar",
    "Param",
    "Parameter",
    "Partition",
    "Pipeline",
    "PipelineError",
    "PrecisionWarning",
    "PrefetchBoundStrategy",
    "Profile",
    "PromiseError",
    "RDom",
    "RVar",
    "Range",
    "Schedule",
    "ScheduleError",
    "SpecializeFailError",
    "Stage",
    "StmtOutputFormat",
    "TailStrategy",
    "Target",
    "TargetArch",
    "TargetFeature",
    "TargetOS",
    "TargetProcessorTune",
    "ToolchainError",
    "TuningResult",
    "Tuple",
    "Type",
    "TypeCode",
    "TypeMismatchError",
    "UInt",
    "Var",
    "VarOrRVar",
    "_",
    "_0",
    "_1",
    "_2",
    "_3",
    "_4",
    "_5",
    "_6",
    "_7",
    "_8",
    "_9",
    "abs",
    "absd",
    "acos",
    "acosh",
    "active_generator_context",
    "alias",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cast",
    "ceil",
    "clamp",
    "compile_standalone_runtime",
    "concat_bits",
    "cos",
    "cosh",
    "count_leading_zeros",
    "count_trailing_zeros",
    "create_callable_from_generator",
    "deserialize_parameters",
    "deserialize_pipeline",
    "div_round_to_zero",
    "erf",
    "evaluate",
    "evaluate_may_gpu",
    "exp",
    "extract_bits",
    "f32",
    "f64",
    "fast_cos",
    "fast_exp",
    "fast_inverse",
    "fast_inverse_sqrt",
    "fast_log",
    "fast_pow",
    "fast_sin",
    "floor",
    "fract",
    "funcs",
    "gather",
    "generator",
    "get_host_target",
    "get_jit_target_from_environment",
    "get_target_from_environment",
    "halving_add",
    "halving_sub",
    "host_supports_target_device",
    "hypot",
    "i8",
    "i8_sat",
    "i16",
    "i16_sat",
    "i32",
    "i32_sat",
    "i64",
    "i64_sat",
    "install_as_halide",
    "install_dir",
    "is_finite",
    "is_inf",
    "is_nan",
    "lambda_func",
    "lerp",
    "likely",
    "likely_if_innermost",
    "link_modules",
    "load_plugin",
    "log",
    "logical_not",
    "main",
    "max",
    "maximum",
    "memoization_cache_cleanup",
    "memoization_cache_evict",
    "memoization_cache_set_size",
    "memoize_tag",
    "min",
    "minimum",
    "mod_round_to_zero",
    "mul_shift_right",
    "mux",
    "popcount",
    "pow",
    "print",
    "print_when",
    "product",
    "profile",
    "random_float",
    "random_int",
    "random_uint",
    "reinterpret",
    "require",
    "round",
    "rounding_halving_add",
    "rounding_mul_shift_right",
    "rounding_shift_left",
    "rounding_shift_right",
    "saturating_add",
    "saturating_cast",
    "saturating_sub",
    "scatter",
    "select",
    "serialize_pipeline",
    "set_default_schedule",
    "sin",
    "sinh",
    "sqrt",
    "stream",
    "strict_float",
    "sum",
    "tan",
    "tanh",
    "target_arch_is",
    "target_bits",
    "target_feature_for_device_api",
    "target_has_feature",
    "target_natural_vector_size",
    "target_os_is",
    "trunc",
    "tune",
    "u8",
    "u8_sat",
    "u16",
    "u16_sat",
    "u32",
    "u32_sat",
    "u64",
    "u64_sat",
    "undef",
    "unsafe_promise_clamped",
    "user_context_value",
    "vars",
    "widen_right_add",
    "widen_right_mul",
    "widen_right_sub",
    "widening_add",
    "widening_mul",
    "widening_shift_left",
    "widening_shift_right",
    "widening_sub",
]
