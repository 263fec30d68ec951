"""Where the two packages differ on purpose: each case with its reason. ``make peer-test`` fails where one has gone.

In: the name of a case. Out: why it may differ. What is not here yet is in the table too, as ``Kind.TO_COME``, so that
it is counted apart, and so that what has come must leave the table.
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """Why a difference is accepted."""

    BETTER = "this package is exact where Halide's is not, or refuses what would be wrong"
    UNDEFINED = "Halide leaves it undefined; here it is defined"
    CONVENTION = "the same in another form"
    TO_COME = "not here yet"


_BY_REASON: list[tuple[Kind, str, list[str]]] = [
    (
        Kind.BETTER,
        "A Python float meets a float64 as a float64, not rounded to float32 on the way.",
        ["a_f64 + 0.1", "hl.clamp(a_f64, 0.1, 0.9)"],
    ),
    (
        Kind.BETTER,
        "A numpy scalar has a type of its own, which takes part in promotion; it is no Python number.",
        [
            "a_u8 + np.int32(1000)", "a_u8 + np.float64(0.5)", "np.int64(3) * a_i32", "hl.Expr(np.uint8(3)).type()",
            "hl.Expr(np.float64(3)).type()",
        ],
    ),
    (
        Kind.BETTER,
        "A literal takes the other operand's type wherever that can hold it, unsigned types above int32 too.",
        ["a_u64 + 2**63", "(a_u32 + 2**31).type()", "(a_u64 + 2**40).type()"],
    ),
    (
        Kind.BETTER,
        "What is no number is refused; Halide makes a bool of it.",
        ["hl.Expr(2**63).type()", "hl.Expr(None)", "hl.Expr(1 + 2j)"],
    ),
    (
        Kind.BETTER,
        "A constant that would change its value is refused, in select and lerp as in operators.",
        ["hl.select(a_u8 > 7, a_u8, 300)", "hl.lerp(a_u8, 300, 0.5)"],
    ),
    (Kind.BETTER, "Python numbers take the type of the other values.", ["hl.mux(a_i32 % 3, [a_u8, 2, 3])"]),
    (Kind.BETTER, "Unary plus exists.", ["+a_u8"]),
    (
        Kind.BETTER,
        "An asynchronous Func stands beside one that it does not read; Halide says that it reads it, and refuses it.",
        ["funcs_computed_ahead_beside_others_at_the_root"],
    ),
    (
        Kind.BETTER,
        "minimum and maximum over an RDom are the least and the greatest value; Halide's wheel gives others.",
        ["documented_inline_reductions"],
    ),
    (
        Kind.BETTER,
        "An update of a Tuple reads all components before it writes; Halide, with strict_float, reads what it wrote.",
        ["documented_tuples_have_components"],
    ),
    (
        Kind.BETTER,
        "An RDom of one dimension is a coordinate; Halide's wheel takes it for a list, and ends with a KeyError.",
        [
            "documented_conditions_read_inputs", "documented_scans_of_tuples", "documented_scans_in_place",
            "documented_streams_are_compacted",
        ],
    ),
    (
        Kind.BETTER,
        "The place of a minimum over two coordinates is an associative operator, which a proof shows.",
        ["documented_places_of_minima_are_factored"],
    ),
    (
        Kind.BETTER,
        "Sums in vectors of two lengths slide over tiles side by side; Halide adds again in the second tile.",
        ["documented_sums_slide_over_tiles_side_by_side"],
    ),
    (
        Kind.BETTER,
        "A Buffer takes memory that is read-only, which only an output can't have; Halide refuses it for inputs, too.",
        ["read_only_memory"],
    ),
    (
        Kind.BETTER,
        "Memory that bound_storage makes too small is an error; Halide's wheel runs on.",
        ["documented_storage_has_a_bound"],
    ),
    (
        Kind.BETTER,
        "numpy.load gives the axes that numpy.asarray gives a Buffer; Halide lists the extents in its own order.",
        ["values_to_numpy_s_files"],
    ),
    (
        Kind.BETTER,
        "A promise about an output is checked in every run; Halide forgets it where realize() makes the buffer.",
        ["output_buffer_constraints"],
    ),
    (
        Kind.BETTER,
        "The fast functions are the exact ones; Halide's are off by more than 16 ulp here.",
        [
            "hl.fast_log(hl.abs(a_f32))", "hl.fast_sin(a_f32)", "hl.fast_cos(a_f32)", "hl.fast_inverse(a_f32)",
            "hl.fast_inverse_sqrt(hl.abs(a_f32))", "hl.fast_sin(a_f64)", "hl.fast_pow(a_i32, hl.f32(0.5))",
        ],
    ),
    (
        Kind.BETTER,
        "Operands of two signs widen first; Halide converts the unsigned one to signed first, and loses its value.",
        ["hl.widening_add(a_u8, b_i8)"],
    ),
    (
        Kind.BETTER,
        "Halide's code has to be linked with a conversion from float64 to float16 that not every machine has.",
        ["hl.f32(hl.cast(hl.Float(16), a_f64))"],
    ),
    (Kind.BETTER, "There is no type of 128 bits.", ["hl.widening_add(a_i64, b_i64).type()"]),
    (
        Kind.BETTER,
        "What isn't there is refused: a width of types, a dimension, an element, a loop, an output, a definition.",
        [
            "hl.Int(7).bits()", "hl.Float(80).bits()", "hl.ImageParam(hl.UInt(8), -1, 'ip').dimensions()",
            "hl.RDom([(2, 5)]).y.min()", "hl.Buffer(hl.UInt(8), [2]).dim(2).extent()",
            "hl.Buffer(hl.UInt(8), [2]).cropped([(0, 9)]).width()", "hl.Pipeline(hl.Func('f')).defined()",
            "hl.Buffer(hl.UInt(8), [2]).sliced(0, 9).dimensions()",
            "compute_at_a_stranger",
        ],
    ),
    (
        Kind.BETTER,
        "Halide's loops start earlier than they should, and read what no iteration wrote (its issue 8140).",
        ["tracker_8140_slides_in_loops_of_one_step"],
    ),
    (
        Kind.BETTER,
        "Vectors of Halide's write over what the window still needs (its issue 7819).",
        ["tracker_7819_loads_of_a_window_that_walks_backwards"],
    ),
    (
        Kind.BETTER,
        "PredicateLoads of an inner split writes nothing beyond its loop, and so is right; Halide has to refuse it.",
        ["tracker_7764_loads_of_an_inner_split"],
    ),
    (Kind.BETTER, "A bound that the caller doesn't keep is refused.", ["bound_that_does_not_hold"]),
    (
        Kind.BETTER,
        "A Var has a type, and a Param gives its value back.",
        ["hl.Var('foo').type()", "hl.Param(hl.UInt(8), 'p', 7).get()"],
    ),
    (
        Kind.UNDEFINED,
        "A shift by the type's width or more leaves the sign only.",
        ["a_u8 << 9", "a_u8 << 300"],
    ),
    (
        Kind.UNDEFINED,
        "A number converted to bool is whether it isn't 0, as in C, Python and numpy; Halide keeps its last bit.",
        ["hl.cast(hl.Bool(), a_u8)", "hl.cast(hl.Bool(), a_f32)"],
    ),
    (
        Kind.UNDEFINED,
        "Floats follow IEEE 754 when they are divided by 0, constants too.",
        ["hl.is_nan(hl.f32(0) / hl.f32(0))", "hl.is_inf(a_f32 / hl.f32(x - x))"],
    ),
    (
        Kind.UNDEFINED,
        "The least int16 divided by -1 wraps; Halide's process ends.",
        ["hl.div_round_to_zero(a_i16, b_i16 | 1)", "hl.mod_round_to_zero(a_i16, b_i16 | 1)"],
    ),
    (
        Kind.CONVENTION,
        "The three roundings of a float lerp are in another order: 4 ulp at one point of 48.",
        ["hl.lerp(hl.abs(a_f32), hl.abs(b_f32), a_u8)"],
    ),
    (
        Kind.CONVENTION,
        "Reduction variables are called r.x, without a number or a dollar sign.",
        [
            "hl.RDom([(0, 5), (1, 3)]).y.name()", "hl.RDom([(0, 5)], 'q').x.name()",
            "hl.RDom([(0, 5), (1, 3), (0, 2), (0, 2)]).w.name()",
        ],
    ),
    (
        Kind.BETTER,
        "A Tuple takes its values as arguments too.",
        ["len(hl.Tuple(a_u8, b_u8))", "hl.Tuple(a_u8, b_u8)[1]"],
    ),
    (
        Kind.CONVENTION,
        "One seed gives the same random numbers everywhere; in Halide each definition has others.",
        ["random_numbers"],
    ),
    (Kind.BETTER, "The message of require() takes texts; Halide's binding takes Exprs only.", ["require_holds"]),
    (
        Kind.BETTER,
        "float16 and bfloat16 have no common type; in Halide it is that of the second operand.",
        ["(hl.cast(hl.Float(16), a_f32) + hl.cast(hl.BFloat(16), b_f32)).type()"],
    ),
]  # fmt: skip

DIFFERENCES: dict[str, tuple[Kind, str]] = {
    name: (kind, reason) for kind, reason, names in _BY_REASON for name in names
}

ON_SOME_MACHINES = frozenset({"hl.f32(hl.cast(hl.Float(16), a_f64))"})
"""Differences that only some machines show."""
