"""Listed expressions: what Halide's users rely on and random ones seldom hit.

In: nothing. Out: ``LISTED``, sources over the operands (``operands``), ``hl``, ``np`` and the pure variable ``x``.
Several have no variable: their type, their text or their error is what matters.
"""

from __future__ import annotations

_INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
_NARROW = ("i8", "u8", "i16", "u16", "i32", "u32")
_TYPES = (*_INTEGERS, "f32", "f64", "bool")


def _mixed_types() -> list[str]:
    pairs = [(p, q) for i, p in enumerate(_TYPES) for q in _TYPES[i:]]
    return [f"(a_{p} + b_{q}).type()" for p, q in pairs] + [f"hl.min(a_{p}, b_{q}).type()" for p, q in pairs[::3]]


def _binary() -> list[str]:
    found = [f"a_{t} {op} b_{t}" for t in ("i8", "u8", "i16", "u16") for op in "+-*/%"]
    found += [f"a_{t} // b_{t}" for t in ("i32", "u32", "i64", "u64", "f32")]
    found += [f"a_{t} % b_{t}" for t in ("i32", "u32", "i64", "u64", "f32", "f64")]
    found += [f"a_{t} {op} (b_u8 % 8)" for t in _INTEGERS for op in ("<<", ">>")]
    found += [f"a_{t} {op} hl.i8(-2)" for t in ("u8", "i16", "i32") for op in ("<<", ">>")]
    return found


_LITERALS = [
    "a_u8 + 255", "a_u8 + 300", "a_u8 - 1", "a_u8 + -1", "a_i8 + 127", "a_i8 + 128", "a_i8 * -129", "300 + a_u8",
    "a_u8 + 0.5", "0.5 * a_u8", "a_i64 + 0.5", "a_f64 + 0.1", "a_f32 + 0.1", "a_f32 + 16777217", "a_u8 + True",
    "a_bool + 1", "a_bool + 2", "a_u16 == 70000", "a_i16 < 70000", "a_u8 + np.uint8(200)", "a_u8 + np.int32(1000)",
    "a_u8 + np.float64(0.5)", "a_f32 + np.float32(0.25)", "np.int64(3) * a_i32", "a_u64 + 2**63", "a_i64 + 2**40",
    "a_i32 + 2**31", "a_u8 & 300", "(a_u32 + 2**31).type()",
    "(a_u64 + 2**40).type()", "(a_u8 + 2**40).type()", "(a_u8 << b_i32).type()", "(a_u8 << b_u16).type()",
    "(a_i16 >> b_u8).type()", "(a_i8 << b_u8).type()", "(3 << b_u8).type()", "(a_u8 << hl.i32(3)).type()",
    "a_u8 << 9", "a_u8 << 300", "hl.Expr(1).type()", "hl.Expr(2**40).type()",
    "hl.Expr(2**31).type()", "hl.Expr(2**63).type()", "hl.Expr(1.5).type()", "hl.Expr(True).type()",
    "hl.Expr(np.uint8(3)).type()", "hl.Expr(np.float64(3)).type()", "hl.Expr(None)", "hl.Expr([1])",
    "hl.Expr(1 + 2j)", "a_u8 + 'a'", "a_u8 + None", "hl.i32(a_u8) + 300", "x + 1", "x * 2.5", "(x + 1).type()",
    "-x", "-a_u8", "-a_bool", "~a_u8", "~a_bool", "~a_f32", "+a_u8", "a_f32 & 1", "a_bool & 1", "a_bool & a_u8",
    "a_u8 ** 2", "a_i32 ** 3", "2 ** hl.clamp(a_f32, -9, 9)", "a_f32 ** 0.5", "a_i8 ** (b_u8 % 3)", "a_u8 ** 0",
    "a_i32 ** -1",
    "(a_u8 ** 2).type()", "(a_i16 ** 2.0).type()", "hl.pow(a_i32, 2).type()", "hl.pow(a_f32, b_f32).type()",
    "hl.pow(a_f64, 3).type()", "hl.pow(hl.abs(a_f32), hl.clamp(b_f32, -3, 3))", "hl.pow(a_i32, b_i32).type()",
    "bool(a_bool)", "a_u8 and b_u8", "not a_bool", "1 < a_u8 < 3", "len(a_u8)", "list(a_u8)", "a_u8[0]",
    "hash(a_u8) != 0", "hl.Expr().defined()", "a_u8.defined()", "hl.Expr(3).type().bits()", "a_u8.logical_not()",
    "a_bool.logical_not()", "hl.logical_not(a_bool)", "hl.logical_not(a_u8)",
    "x.logical_not()", "hl.Expr(7) / 2", "hl.Expr(-7) / 2", "hl.Expr(-7) / -2", "hl.Expr(-7) % 3", "hl.Expr(7) % -3",
    "hl.Expr(7) / 0", "hl.Expr(7) % 0", "a_i32 / 0", "a_i32 % 0", "a_u8 / 0", "hl.Expr(7) // 2", "hl.Expr(7.5) // 2",
    "hl.Expr(-7.5) % 2.0", "7 / a_i32", "7 // b_i32", "7 % b_i32", "7.0 / a_f32", "7 - a_u8", "300 - a_u8",
    "3 << hl.i32(a_u8 % 4)", "300 >> hl.i32(a_u8 % 4)", "7 & a_u8", "7 | a_u8", "7 ^ a_u8", "a_i32 >> 1", "a_i8 >> 7",
    "a_i16 & b_u8", "a_i32 | b_i8", "a_u32 ^ b_u32", "True & a_bool", "a_bool ^ b_bool", "a_bool | True",
]  # fmt: skip

_CASTS = [
    *(f"hl.{t}(a_i32)" for t in _INTEGERS), *(f"hl.{t}_sat(a_i16)" for t in _INTEGERS),
    *(f"hl.{t}_sat(a_f32)" for t in ("i8", "i16", "u8", "u16")), *(f"hl.{t}(a_bool)" for t in ("u8", "i32", "f32")),
    "hl.u8(300)", "hl.u8(-1)", "hl.i8(200)", "hl.u8(3.7)", "hl.f32(a_i64)", "hl.f64(a_u64)", "hl.f32(a_f64)",
    "hl.i32(a_f32)", "hl.i16(a_f64)", "hl.cast(hl.UInt(8), a_i16)", "hl.cast(hl.Bool(), a_u8)",
    "hl.cast(hl.Bool(), a_f32)", "hl.cast(hl.Float(64), a_u8)", "hl.cast(hl.Int(32), 3.9)", "hl.cast(hl.Int(32), -3.9)",
    "hl.cast(hl.Int(32), True)", "hl.saturating_cast(hl.UInt(8), a_i16)", "hl.saturating_cast(hl.Int(8), a_u64)",
    "hl.saturating_cast(hl.UInt(16), a_f32)", "hl.saturating_cast(hl.Int(32), a_i64)",
    "hl.saturating_cast(hl.Float(32), a_f64)", "hl.saturating_cast(hl.UInt(64), a_i64)",
    "hl.reinterpret(hl.UInt(32), a_i32)", "hl.reinterpret(hl.Int(8), a_u8)", "hl.reinterpret(hl.UInt(8), a_i32)",
    "hl.reinterpret(hl.UInt(32), a_f32)", "hl.reinterpret(hl.Float(32), a_u32)", "hl.reinterpret(hl.Int(64), a_u64)",
]  # fmt: skip

_CHOICES = [
    "hl.select(a_bool, a_u8, b_u8)", "hl.select(a_u8 > 7, a_u8, 0)", "hl.select(a_u8 > 7, 1, 2)",
    "hl.select(a_u8 > 7, 1.5, 2)", "hl.select(a_u8 > 7, a_u8, b_i16)", "hl.select(a_u8 > 7, a_u8, 0.5)",
    "hl.select(a_u8 > 7, a_u8, 300)", "hl.select(a_u8, 1, 2)", "hl.select(a_bool, 1)", "hl.select(a_bool)",
    "hl.select(a_u8 < 5, 1, a_u8 < 50, 2, 3)", "hl.select(a_u8 < 5, a_u8, a_u8 < 50, 2, b_u8)",
    "hl.select(a_u8 < 5, 1, a_u8 < 50, 2)", "hl.select(a_bool, a_f32, b_f64)", "hl.select(True, a_u8, b_u8)",
    "hl.select(a_bool, a_bool, b_bool)", "hl.select(a_u8 < 5, 1, a_u8 < 50, 2.5, 3)",
    "hl.select(a_u8 < 5, a_u16, a_u8 < 50, a_u8, 3)", "hl.select(a_f32, 1, 2)",
    "hl.clamp(a_i16, 0, 255)", "hl.clamp(a_u8, 10, 300)", "hl.clamp(a_u8, -1, 100)", "hl.clamp(a_f32, 0, 1)",
    "hl.clamp(a_f32, -1.0, 1.0)", "hl.clamp(a_u8, b_u8, 200)", "hl.clamp(a_u8, b_i16, 200)",
    "hl.clamp(a_i32, a_u8, 200)",
    "hl.clamp(a_u8, 0.5, 1.5)", "hl.clamp(7, 0, 5)", "hl.clamp(a_i32, hl.i32(2), hl.i32(50))", "hl.clamp(x, 0, 5)",
    "hl.clamp(a_f64, 0.1, 0.9)", "hl.clamp(a_i32, hl.f32(2), hl.f32(50))", "hl.clamp(a_u8, a_u16, b_u16)",
    "hl.min(a_u8, b_u8)", "hl.min(a_u8, 3)", "hl.min(3, a_u8)", "hl.max(a_u8, 300)", "hl.max(a_u8, b_u8, 7)",
    "hl.min(a_u8, b_i16, a_i32)", "hl.min(a_u8)", "hl.max()", "hl.min(1, 2)", "hl.max(a_f32, 1)", "hl.max(1.5, a_u8)",
    "hl.min(a_bool, b_bool)", "hl.max(a_i64, b_u32)", "hl.min(1, 2, 3).type()", "hl.max(a_f32, b_f64).type()",
    "hl.mux(a_i32 % 3, [1, 2, 3])", "hl.mux(a_i32 % 3, [a_u8, b_u8])", "hl.mux(a_i32 % 3, [a_u8, 2, 3])",
    "hl.mux(a_i32, [a_u8, b_i16])", "hl.mux(a_u8 % 2, [1.5, 2.5])", "hl.mux(a_i32, [])", "hl.mux(a_i32, [7])",
    "hl.lerp(hl.u8(0), hl.u8(255), 0.5)", "hl.lerp(a_u8, b_u8, 0.5)", "hl.lerp(a_u8, b_u8, a_u8)",
    "hl.lerp(a_u8, b_u8, a_u16)", "hl.lerp(a_u16, b_u16, a_u8)", "hl.lerp(a_f32, b_f32, 0.25)",
    "hl.lerp(hl.abs(a_f32), hl.abs(b_f32), a_u8)", "hl.lerp(a_i8, b_i8, a_u8)", "hl.lerp(a_u8, b_u16, 0.5)",
    "hl.lerp(a_u8, 255, 0.5)",
    "hl.lerp(0, a_u8, 0.25)", "hl.lerp(a_u8, b_u8, 1.5)", "hl.lerp(a_u8, b_u8, a_i8)", "hl.lerp(a_u32, b_u32, a_u32)",
    "hl.lerp(a_f64, b_f64, 0.5)", "hl.lerp(a_u8, 300, 0.5)", "hl.lerp(a_f32, b_f32, a_f32)",
    "hl.likely(a_bool)", "hl.likely_if_innermost(a_u8)", "hl.select(hl.likely(a_u8 < 5), 1, 2)",
    "hl.likely(a_u8).type()",
    "hl.unsafe_promise_clamped(a_u8, 0, 255)", "hl.unsafe_promise_clamped(a_i32, -1000, 1000).type()",
    "hl.undef(hl.UInt(8)).type()", "hl.require(a_bool, a_u8, 'text')",
]  # fmt: skip

_ONE_FLOAT = ("sqrt", "exp", "log", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "erf")
_MATH = [
    *(f"hl.{f}(hl.abs(a_{t}))" for f in _ONE_FLOAT for t in ("f32", "f64")),
    *(f"hl.{f}(a_{t} / 128)" for f in ("asin", "acos", "atanh") for t in ("f32", "f64")),
    *(f"hl.acosh(hl.abs(a_{t}) + 1)" for t in ("f32", "f64")),
    *(f"hl.{f}(a_{t})" for f in ("floor", "ceil", "round", "trunc", "fract", "abs") for t in ("f32", "f64")),
    *(f"hl.abs(a_{t})" for t in _TYPES), *(f"hl.abs(a_{t}).type()" for t in ("i8", "i16", "u8", "f32")),
    *(f"hl.absd(a_{t}, b_{t})" for t in (*_INTEGERS, "f32")), "hl.absd(a_u8, b_i16).type()", "hl.absd(a_u8, 3)",
    "hl.absd(a_bool, b_bool)",
    *(f"hl.{f}(a_f32)" for f in ("is_nan", "is_inf", "is_finite")), "hl.is_nan(a_u8)", "hl.is_inf(a_i32)",
    "hl.is_nan(hl.f32(0) / hl.f32(0))", "hl.is_inf(a_f32 / hl.f32(x - x))", "hl.is_finite(a_f64 / 3)",
    "hl.sqrt(a_u8)", "hl.sqrt(a_u8).type()", "hl.sqrt(4)", "hl.sin(a_i32).type()", "hl.exp(1).type()", "hl.floor(a_u8)",
    "hl.floor(3)", "hl.round(a_i32).type()", "hl.round(a_f32 * 0.5 + 0.5)", "hl.trunc(a_u8).type()", "hl.ceil(2.5)",
    "hl.atan2(a_f32, b_f32)", "hl.atan2(a_f64, b_f64)", "hl.atan2(a_u8, b_u8).type()", "hl.atan2(a_f32, b_f64).type()",
    "hl.atan2(1, a_f32)", "hl.hypot(a_f32, b_f32)", "hl.hypot(a_f64, b_f64)", "hl.hypot(a_u8, b_u8).type()",
    "hl.fast_exp(a_f32 * 0.01)", "hl.fast_log(hl.abs(a_f32))", "hl.fast_pow(hl.abs(a_f32), hl.f32(0.5))",
    "hl.fast_sin(a_f32)", "hl.fast_cos(a_f32)", "hl.fast_inverse(a_f32)", "hl.fast_inverse_sqrt(hl.abs(a_f32))",
    "hl.fast_exp(a_f64)", "hl.fast_inverse(a_u8)", "hl.fast_exp(a_f32).type()", "hl.fast_log(a_f64)",
    "hl.fast_sin(a_f64)", "hl.fast_pow(a_i32, hl.f32(0.5))", "hl.fast_pow(a_f32, 2)",
    "hl.fast_inverse_sqrt(a_f32).type()", "hl.fast_sin(a_f32).type()", "hl.fast_cos(a_f64).type()",
    "hl.fast_log(a_f32).type()", "hl.fast_pow(a_f32, b_f32).type()", "hl.fast_inverse(a_f32).type()",
    "hl.strict_float(a_f32 + b_f32)", "hl.strict_float(a_u8)", "hl.strict_float(a_f32 * b_f32 + a_f32)",
    "hl.exp(a_f32 * 0.5)", "hl.log(a_f32)", "hl.sqrt(a_f32)", "hl.pow(2.0, hl.clamp(a_f32, -9, 9))",
    "hl.exp(hl.f32(100.0) + a_f32)",
    "hl.sin(hl.f32(1000.0) * a_f32)", "hl.cos(hl.f64(1000.0) * a_f64)", "hl.tan(a_f32)", "hl.log(hl.f32(x))",
]  # fmt: skip

_FIXED_POINT = [
    *(f"hl.{f}(a_{t}, b_{t})" for f in ("widening_add", "widening_mul", "widening_sub") for t in _NARROW),
    *(f"hl.{f}(a_{t}, b_{t})" for f in ("halving_add", "rounding_halving_add", "halving_sub") for t in _INTEGERS),
    *(f"hl.{f}(a_{t}, b_{t})" for f in ("saturating_add", "saturating_sub") for t in _INTEGERS),
    *(f"hl.{f}(a_{t}, b_u8 % 7)" for f in ("rounding_shift_left", "rounding_shift_right") for t in _INTEGERS),
    *(f"hl.rounding_shift_{d}(a_{t}, hl.i8(b_u8 % 7) - 3)" for d in ("left", "right") for t in ("i16", "u8")),
    *(f"hl.{f}(a_{t}, b_{t}, {n})" for f in ("mul_shift_right", "rounding_mul_shift_right")
      for t, n in (("i8", 7), ("u8", 8), ("i16", 15), ("u16", 16), ("i32", 10), ("u32", 33), ("i64", 5), ("u64", 3))),
    *(f"hl.widening_shift_{d}(a_{t}, b_u8 % 4)" for d in ("left", "right") for t in ("u8", "i16", "i32")),
    *(f"hl.{f}(a_{t})" for f in ("popcount", "count_leading_zeros") for t in _INTEGERS),
    *(f"hl.count_trailing_zeros(a_{t} | 16)" for t in _INTEGERS), "hl.popcount(a_f32)", "hl.popcount(a_u16).type()",
    "hl.count_leading_zeros(a_bool).type()", "hl.count_trailing_zeros(a_u8)",
    *(f"hl.{f}_round_to_zero(a_{t}, b_{t} | 1)" for f in ("div", "mod")
      for t in ("i8", "u8", "i16", "i32", "u32", "i64")),
    "hl.div_round_to_zero(a_i32, 3)", "hl.mod_round_to_zero(a_i32, 3)", "hl.div_round_to_zero(a_f32, b_f32)",
    "hl.div_round_to_zero(a_i16, b_i32).type()",
    "hl.widening_add(a_u8, b_i8)", "hl.widening_add(a_u8, b_i16)", "hl.widening_mul(a_i8, b_u8).type()",
    "hl.widening_mul(a_i16, b_u16)", "hl.widening_sub(a_u8, b_u8).type()", "hl.widening_add(a_i64, b_i64).type()",
    "hl.widening_add(a_f32, b_f32).type()", "hl.widening_mul(a_f32, b_f32)", "hl.widening_add(a_u8, 3)",
    "hl.widen_right_add(a_u16, b_u8)", "hl.widen_right_mul(a_i16, b_u8)", "hl.widen_right_sub(a_i32, b_i16)",
    "hl.widen_right_add(a_u8, b_u8)", "hl.widen_right_mul(a_u16, b_u8).type()",
    "hl.saturating_add(a_u8, b_i8)", "hl.saturating_add(a_u8, 200)", "hl.saturating_add(a_f32, b_f32)",
    "hl.saturating_sub(a_u8, b_u16).type()", "hl.halving_add(a_u8, b_u16).type()", "hl.halving_add(a_f32, b_f32)",
    "hl.rounding_shift_right(a_f32, b_u8)", "hl.mul_shift_right(a_i16, b_u16, 4).type()",
    "hl.mul_shift_right(a_i16, b_i16, b_u8 % 8)", "hl.mul_shift_right(a_i16, b_i16, hl.u16(15))",
    "hl.widening_shift_left(a_u8, b_i16 % 20)", "hl.widening_shift_right(a_i8, hl.i32(b_u8 % 40) - 20)",
    "hl.mul_shift_right(a_u8, b_u8, b_u16 % 20)", "hl.rounding_mul_shift_right(a_i8, b_i8, hl.u16(3))",
    "hl.halving_add(a_u8, 3)", "hl.rounding_halving_add(a_i16, b_u8).type()",
    "hl.extract_bits(hl.UInt(8), a_u32, 8)", "hl.extract_bits(hl.UInt(16), a_u64, 0)",
    "hl.extract_bits(hl.Int(8), a_i16, 4)", "hl.extract_bits(hl.UInt(8), hl.f32(a_i16), 15)",
    "hl.extract_bits(hl.UInt(16), hl.f64(a_i32), b_u8 % 50)",
    "hl.extract_bits(hl.UInt(8), a_u32, b_u8 % 24)", "hl.extract_bits(hl.UInt(32), a_u8, 0)",
    "hl.extract_bits(hl.Float(32), a_u64, 0).type()",
    "hl.concat_bits([a_u8, b_u8])", "hl.concat_bits([a_u16, b_u16])", "hl.concat_bits([a_u8, b_u8, a_u8, b_u8])",
    "hl.concat_bits([a_u8, b_u16])", "hl.concat_bits([a_u8, b_u8, a_u8])", "hl.concat_bits([])",
    "hl.concat_bits([a_i8, b_i8])", "hl.concat_bits([a_u8])",
    "hl.random_float().type()", "hl.random_int().type()", "hl.random_uint().type()", "hl.random_uint(3).type()",
]  # fmt: skip

_TYPE_QUESTIONS = [
    *(f"[hl.{t}.bits(), hl.{t}.bytes(), hl.{t}.lanes(), hl.{t}.is_int(), hl.{t}.is_uint(), hl.{t}.is_float(), "
      f"hl.{t}.is_bool(), hl.{t}.is_scalar(), hl.{t}.is_vector(), hl.{t}.is_handle(), str(hl.{t})]"
      for t in ("UInt(8)", "Int(16)", "Bool()", "Float(32)", "Float(64)", "Int(32, 4)")),
    "hl.UInt(8).max()", "hl.Int(16).min()", "hl.Float(32).max()", "hl.UInt(64).max()", "hl.Int(64).min()",
    "hl.Bool().max()", "hl.Float(64).min()", "hl.UInt(8).with_bits(16)", "hl.UInt(8).with_lanes(4)",
    "hl.UInt(8).with_code(hl.TypeCode.Int)", "hl.Int(32, 4).element_of()", "hl.UInt(8).code()", "hl.Float(32).code()",
    "hl.Int(16).can_represent(hl.UInt(8))", "hl.UInt(8).can_represent(hl.Int(8))",
    "hl.Float(32).can_represent(hl.Int(32))",
    "hl.Float(32).can_represent(hl.Int(16))", "hl.Float(64).can_represent(hl.Float(32))",
    "hl.UInt(8).is_max(255)", "hl.UInt(8).is_min(0)", "hl.Int(8).is_max(5)", "hl.Int(8).is_min(-128)",
    "hl.UInt(8) == hl.UInt(8)", "hl.UInt(8) != hl.Int(8)", "hl.Int(32, 4) == hl.Int(32)", "hl.Bool() == hl.UInt(1)",
    "hl.UInt(8).is_bfloat()", "hl.UInt(8).same_handle_type(hl.UInt(8))", "hl.Handle().is_handle()",
    "[hl.Handle().bits(), hl.Handle().bytes(), hl.Handle(2).lanes(), str(hl.Handle()), hl.Handle().is_int()]",
    "hl.Handle().same_handle_type(hl.Handle())", "str(hl.user_context_value().type())",
    "hl.Handle().code()", "isinstance(hl.install_dir(), str)",
    "hl.Handle().min()", "hl.UInt(8).same_handle_type(hl.Handle())",
    "hl.Param(hl.UInt(8), 'p').type().same_handle_type(hl.Int(8))",
    "hl.Float(16).bits()", "hl.BFloat(16).bits()", "hl.Int(7).bits()", "hl.Float(80).bits()",
    "hl.UInt(8).bits", "hl.cast(hl.UInt(8), x).type()",
]  # fmt: skip

_VARIABLES = [
    "hl.Var('foo').name()", "hl.Var('foo').same_as(hl.Var('foo'))", "hl.Var('foo').same_as(hl.Var('bar'))",
    "hl.Var('foo').is_implicit()", "hl.Var.implicit(3).name()", "hl.Var.implicit(3).is_implicit()",
    "hl.Var.implicit(3).implicit_index()", "hl.Var('foo').implicit_index()", "hl.Var('_').is_placeholder()",
    "hl.Var('foo').is_placeholder()", "hl.Var.outermost().name()", "hl._.name()", "hl._0.name()", "hl._9.name()",
    "hl._1.implicit_index()", "hl._.is_placeholder()", "hl._0.is_placeholder()", "hl._0.is_implicit()",
    "hl.Var('foo').type()", "(hl.Var('foo') + 1).type()", "hl.Var('')", "hl.Var(3)", "hl.Var('a b').name()",
    "hl.RDom([(0, 5)]).dimensions()", "hl.RDom([(0, 5), (1, 3)]).y.name()", "hl.RDom([(0, 5)], 'q').x.name()",
    "len(hl.RDom([(0, 5), (1, 3)]))", "hl.RDom([(0, 5)]).defined()", "hl.RDom([(2, 5)]).x.min()",
    "hl.RDom([(2, 5)]).x.extent()", "hl.RDom([(2, 5)])[0].min()", "hl.RDom([(2, 5)])[1].min()",
    "hl.RDom([(2, 5)]).y.min()", "hl.RDom([(2, 5), (1, 3)]) + 1", "hl.RDom([]).dimensions()", "hl.RDom(5)",
    "hl.RDom([(0, 1.5)])", "hl.RDom([(0, x)])", "hl.RDom([(0, 5), (1, 3), (0, 2), (0, 2)]).w.name()",
    "hl.RDom([(0, 5)]).same_as(hl.RDom([(0, 5)]))", "hl.RDom([(0, 5)]).domain().name()", "hl.RVar('r').name()",
    "hl.Range(1, 5).min", "hl.Range(1, 5).extent", "hl.Range(1)", "hl.Buffer(hl.UInt(8), [2]).dim(2).extent()",
    "hl.Pipeline().defined()", "hl.RDom([hl.Range(0, 5)]).x.extent()",
    "hl.RDom([(0, 5)]).logical_not()", "hl.RDom([(0, 2), (0, 3), (1, 4)]).z.min()", "hl.RVar('r').logical_not()",
    "hl.Func('named').name()", "len(hl.vars('x y'))", "hl.vars('x y')[1].name()",
    "len(hl.funcs('several_a several_b'))",
    "hl.funcs('several_c several_d')[1].name()", "len(hl.vars(''))", "hl.vars(3)",
    "hl.Func('f').defined()", "hl.Func('f').dimensions()",
    "hl.Func(hl.UInt(8), 2, 'f').type()",
    "hl.Func('f')[x] + 1", "hl.Func(3)", "hl.Param(hl.UInt(8), 'p').name()", "hl.Param(hl.UInt(8), 'p').type()",
    "hl.Param(hl.UInt(8), 'p', 7).get()", "hl.Param(hl.UInt(8), 'p', 300)", "hl.Param(hl.UInt(8), 'p', 1.5)",
    "hl.Param(hl.Float(32), 'p', 1)", "(hl.Param(hl.UInt(8), 'p') + 1).type()",
    "hl.Param(hl.UInt(8), 'p') + 300", "hl.Param(hl.UInt(8), 'p').logical_not()",
    "hl.Param(hl.Bool(), 'p').logical_not().type()",
    "hl.Param(hl.UInt(8), 'p').min_value().defined()", "hl.Param(hl.UInt(8), 'p').max_value().defined()",
    "hl.ImageParam(hl.UInt(8), 2, 'ip').name()", "hl.ImageParam(hl.UInt(8), 2, 'ip').dimensions()",
    "hl.ImageParam(hl.UInt(8), 2, 'ip').type()", "hl.ImageParam(hl.UInt(8), 2, 'ip').defined()",
    "hl.ImageParam(hl.UInt(8), 2, 'ip').width().type()", "hl.ImageParam(hl.UInt(8), 2, 'ip').dim(2)",
    "hl.ImageParam(hl.UInt(8), 2, 'ip')[x]", "hl.ImageParam(hl.UInt(8), 2, 'ip')[x, 1].type()",
    "hl.ImageParam(hl.UInt(8), 2, 'ip')[x, 1.5]", "hl.ImageParam(hl.UInt(8), -1, 'ip').dimensions()",
    "hl.evaluate(hl.Expr(3) * 4)", "hl.evaluate(hl.sqrt(hl.f32(16.0)))", "hl.evaluate(hl.u8(250) + 10)",
    "hl.evaluate(x)", "hl.evaluate(hl.Expr(1) < 2)", "len(hl.Tuple(a_u8, b_u8))",
    "hl.Tuple(a_u8, b_u8)[1]", "hl.Buffer(hl.UInt(8), [2]).cropped([(0, 9)]).width()",
    "hl.Pipeline(hl.Func('f')).defined()", "hl.Buffer(hl.UInt(8), [2]).sliced(0, 9).dimensions()",
    "[hl.ArgumentKind.InputScalar, hl.ArgumentKind.InputBuffer, hl.ArgumentKind.OutputBuffer]",
    "[hl.TypeCode.Int, hl.TypeCode.UInt, hl.TypeCode.Float, hl.TypeCode.Handle]",
    "[hl.TailStrategy.Auto, hl.TailStrategy.RoundUp, hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards]",
    "[hl.StmtOutputFormat.Text, hl.StmtOutputFormat.HTML]", "[hl.NameMangling.Default, hl.NameMangling.C]",
    "[hl.OutputFileType.c_header, hl.OutputFileType.object]", "issubclass(hl.HalideError, Exception)",
]  # fmt: skip

_H, _B = "hl.cast(hl.Float(16), {})", "hl.cast(hl.BFloat(16), {})"
_NARROW_FLOATS = [
    *(f"hl.f32({c.format('a_' + t)})" for c in (_H, _B) for t in _TYPES),
    *(f"hl.f32({c.format('a_f32')} {o} {c.format('b_f32')})" for c in (_H, _B) for o in "+-*/"),
    *(f"hl.{f}({c.format('hl.abs(a_f32)')}).type()" for c in (_H, _B)
      for f in ("abs", "sqrt", "sin", "exp", "floor", "round", "fract", "is_nan", "is_inf")),
    *(f"hl.f32(hl.{f}({_H.format('hl.abs(a_f32)')}))" for f in ("sqrt", "floor", "round", "trunc", "abs")),
    *(f"hl.{t}({c.format('a_f32')})" for c in (_H, _B) for t in ("i32", "i8_sat", "f64")),
    *(f"{c.format('a_f32')} < {c.format('b_f32')}" for c in (_H, _B)),
    *(f"({c.format('a_f32')} + {w}).type()" for c in (_H, _B) for w in ("1", "1.5", "a_u8", "a_i32", "a_f32", "a_f64")),
    f"{_H.format('a_f32')} + 5000 < 70", f"{_H.format('a_f32')} + 70000", f"{_H.format('a_f32')} + 2049",
    f"{_B.format('a_f32')} + 257", f"hl.reinterpret(hl.UInt(16), {_H.format('a_f32')})",
    f"hl.reinterpret(hl.UInt(16), {_B.format('a_f32')})", "hl.f32(hl.reinterpret(hl.Float(16), a_u16))",
    f"({_H.format('a_f32')} + {_B.format('b_f32')}).type()",
    f"hl.atan2({_H.format('a_f32')}, b_f32).type()", f"hl.pow({_H.format('a_f32')}, b_f32).type()",
    f"hl.clamp({_H.format('a_f32')}, 0.0, 1.0).type()", f"hl.min({_H.format('a_f32')}, 1.5).type()",
    f"hl.f32(hl.select(a_bool, {_H.format('a_f32')}, {_H.format('b_f32')}))",
    f"hl.f32(hl.lerp({_H.format('a_u8')}, {_H.format('b_u8')}, 0.5))",
    "str(hl.Float(16))", "str(hl.BFloat(16))", "hl.BFloat(16).is_bfloat()", "hl.Float(16).is_bfloat()",
    "hl.BFloat(16).is_float()", "hl.Float(32).can_represent(hl.Float(16))", "hl.Float(16).can_represent(hl.Int(8))",
    "hl.Float(16).can_represent(hl.BFloat(16))", "hl.BFloat(16, 4).lanes()",
]  # fmt: skip

LISTED: list[str] = [
    *_NARROW_FLOATS,
    *_mixed_types(), *_binary(), *_LITERALS, *_CASTS, *_CHOICES, *_MATH, *_FIXED_POINT, *_TYPE_QUESTIONS, *_VARIABLES
]  # fmt: skip
