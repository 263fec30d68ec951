"""Random numbers: functions of the coordinates of the definition that they stand in, and of a seed.

In: a call, and later the variables that an iteration of its definition is told by. Out: a hash of them, in ordinary
uint32 arithmetic, so that no schedule can change it.

    f[x] = random_uint(3)                 ->   f(x) = a hash of 3 and x
    r.where(random_int() > 0); f[x] += r  ->   an RDom of this update's own, with a predicate of x and r
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from halide_core import ir
from halide_core.algorithm.constant_overflow import refuse_constant_overflow
from halide_core.checks import shown
from halide_core.debug import deep_recursion
from halide_core.errors import DefinitionError
from halide_core.ir import BinaryOp
from halide_core.ir.types import BOOL, INT32, Float, UInt
from halide_core.ir.visitor import Rewriter, subexpressions
from halide_core.lang.coordinates import as_int32, startup
from halide_core.lang.expr import Expr, ExprLike, Operand, as_node
from halide_core.lang.placeholders import Placeholder

_WORD = UInt(32)
_FLOAT = Float(32)
_STEPS = ((16, 0x6A09E667), (15, 0xBB67AE85))
"""Shifts and odd factors of the hash: the fractions of the square roots of 2 and 3."""
_calls = itertools.count(1)


class _Random(Placeholder):
    """A call whose seed is known at start-up."""

    def __init__(self, written: str, seed: ir.ExprNode) -> None:
        super().__init__(written, _WORD)
        self.seed = seed


class _RandomOfPoint(Placeholder):
    """The condition of a select whose sides are both a seed that depends on a point: so whoever looks for variables and
    for what is read finds those of the seed."""

    def __init__(self, written: str) -> None:
        super().__init__(written, BOOL)


def random_uint(seed: ExprLike | None = None) -> Expr:
    """A random uint32: a function of the coordinates of the definition that it stands in, and of the seed.

    The same seed gives the same numbers at the same coordinates, whatever the schedule, the definition and the window.
    Without a seed each call has one of its own, which is the same each time a program runs. In the predicate of an RDom
    it is one of each update that uses the domain, with the coordinates of that.

    Args:
        seed: an int32; it may depend on the point.
    """
    return Expr.of(_word("random_uint", seed))


def random_int(seed: ExprLike | None = None) -> Expr:
    """A random int32; otherwise as ``random_uint``."""
    return Expr.of(ir.cast(INT32, _word("random_int", seed)))


def random_float(seed: ExprLike | None = None) -> Expr:
    """A random float32, evenly spread over [0, 1) in steps of 2^-24; otherwise as ``random_uint``."""
    top = ir.binary(BinaryOp.SHR, _word("random_float", seed), ir.const(8, INT32))
    return Expr.of(ir.mul(ir.cast(_FLOAT, top), ir.const(2.0**-24, _FLOAT)))


def _word(name: str, seed: ExprLike | None) -> ir.ExprNode:
    if seed is None:
        number = next(_calls)
        return ir.ParamRef(_WORD, _Random(f"{name}()", _hashed(ir.const(number, _WORD), [ir.const(1, _WORD)])))
    if not isinstance(seed, Operand) or not _is_of_point(as_node(seed)):
        node = startup(seed, f"The seed of {name}()")
        return ir.ParamRef(_WORD, _Random(f"{name}({node!r})", ir.cast(_WORD, node)))
    node = as_node(seed)
    fitting = as_int32(node)
    if fitting is None:
        raise DefinitionError(f"The seed of {name}() must be an int32, not {shown(node)} of {node.type}.")
    refuse_constant_overflow([fitting])
    word = ir.cast(_WORD, fitting)
    return ir.Select(_WORD, ir.ParamRef(BOOL, _RandomOfPoint(f"{name}({node!r})")), word, word)


def _is_of_point(seed: ir.ExprNode) -> bool:
    """True where a seed mentions a variable, reads a Func or an input, or is made of a random number."""
    return any(
        isinstance(e, ir.Variable | ir.RVarRef | ir.Access)
        or (isinstance(e, ir.ParamRef) and isinstance(e.param, _Random | _RandomOfPoint))
        for e in subexpressions((seed,))
    )


def _hashed(seed: ir.ExprNode, values: Iterable[ir.ExprNode]) -> ir.ExprNode:
    """A hash of words: each is added to what the others became, and mixed."""
    e = _mixed(seed)
    for value in values:
        e = _mixed(ir.add(ir.mul(e, ir.const(5, _WORD)), ir.cast(_WORD, value)))
    return e


def _mixed(e: ir.ExprNode) -> ir.ExprNode:
    for bits, factor in _STEPS:
        moved = ir.binary(BinaryOp.SHR, e, ir.const(bits, INT32))
        e = ir.mul(ir.binary(BinaryOp.BIT_XOR, e, moved), ir.const(factor, _WORD))
    return ir.binary(BinaryOp.BIT_XOR, e, ir.binary(BinaryOp.SHR, e, ir.const(16, INT32)))


def with_random_numbers(exprs: Sequence[ir.ExprNode], coordinates: Sequence[ir.ExprNode]) -> tuple[ir.ExprNode, ...]:
    """Expressions of a definition with hashes of its coordinates in place of random numbers."""
    hashes = _Hashes(coordinates)
    with deep_recursion():
        return tuple(map(hashes.expr, exprs))


class _Hashes(Rewriter):
    def __init__(self, coordinates: Sequence[ir.ExprNode]) -> None:
        super().__init__()
        self._coordinates = coordinates

    def rewrite_ParamRef(self, e: ir.ParamRef) -> ir.ExprNode:
        """The hash of a seed that is known at start-up."""
        return _hashed(e.param.seed, self._coordinates) if isinstance(e.param, _Random) else e

    def rewrite_Select(self, e: ir.Select) -> ir.ExprNode:
        """The hash of a seed that depends on the point."""
        if isinstance(e.condition, ir.ParamRef) and isinstance(e.condition.param, _RandomOfPoint):
            return _hashed(self.expr(e.a), self._coordinates)
        return self.parts_of(e)


def is_random(placeholder: Placeholder) -> bool:
    """True for what stands for a random number."""
    return isinstance(placeholder, _Random | _RandomOfPoint)
