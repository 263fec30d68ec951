"""Where lanes are in memory: an index that is no ramp, as a place that all lanes share and a small rest.

In: an int64 index expression and which variables differ from lane to lane. Out: what is the same in all lanes, which
is scalar arithmetic and joins the address; what differs, which is the same for many accesses of a point; and the
latter in int32, where its range allows it: a table's entry, above all.

    table[clamp(i32(in[x]), 0, 255) + 3]    ->   3,  clamp(i32(in[x]), 0, 255)
    grid[z*stride + y*row + 1]              ->   y*row + 1,  z*stride             (where only z differs)
    image[u + v*row]                        ->   0,  u and v, each in int32       (where both differ)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from halide_core import ir
from halide_core.analysis.interval import Range
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.analysis.near import is_near
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, IntImm, Variable
from halide_core.ir.types import INT32
from halide_core.ir.visitor import free_variables, substitute
from halide_core.lowering.passes.around import reads_memory

STEPS = (2, 4, 8)
"""The numbers of lanes that may share an element and still be loaded densely."""
_PAIR_STEPS = range(1, 5)
"""The distances of pairs of lanes, in elements, at which every second lane is loaded densely, or shuffled out of such
loads."""
_NOTHING = Linear({}, 0)
_PRODUCTS = 2
"""So many products of each lane are computed where it is loaded: a row and a plane."""
_AHEAD = (0, -1, 1)
"""The coordinate of an image may be a number of int32 where the one behind it is not."""


def _without_facts(e: ExprNode) -> Range:
    return Facts().constant_range(e)


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """Knowledge of int64 expressions in a vectorized loop: whether they differ between lanes, and constants between
    which they are."""

    varies: Callable[[ExprNode], bool]
    range: Callable[[ExprNode], Range] = _without_facts


@dataclass(frozen=True, slots=True)
class GatherAddress:
    """``base + stride·lane + offset``, where only the last two differ between lanes."""

    base: ExprNode
    stride: int
    offset: ExprNode | None


def ramp_of_lanes(
    index: ExprNode, lane: Variable, start: ExprNode, varies: Callable[[ExprNode], bool]
) -> tuple[ExprNode, ExprNode] | None:
    """The first lane's value and the distance to the next one's, which no lane changes: ``(2·lane + k)·s`` is the ramp
    from ``(2·start + k)·s`` in steps of ``2·s``. None of what is no ramp."""
    base, stride = _NOTHING, _NOTHING
    form = linear_of(index)
    for atom, c in form.terms.items():
        if atom is lane:
            base, stride = base.plus(linear_of(start), c), stride.plus(Linear({}, 1), c)
        elif not varies(atom):
            base = base.plus(Linear({atom: 1}, 0), c)
        else:
            parts = _factors(atom, varies)
            inner = None if parts is None else ramp_of_lanes(parts[0], lane, start, varies)
            if parts is None or inner is None:
                return None
            first, step = (linear_of(ir.mul(part, parts[1])) for part in inner)
            base, stride = base.plus(first, c), stride.plus(step, c)
    return to_expr(base.plus(Linear({}, form.const))), to_expr(stride)


def _factors(atom: ExprNode, varies: Callable[[ExprNode], bool]) -> tuple[ExprNode, ExprNode] | None:
    """Of a product of what differs between lanes and what does not, the two."""
    match atom:
        case Binary(op=BinaryOp.MUL, a=a, b=b) if varies(a) != varies(b):
            return (a, b) if varies(a) else (b, a)
    return None


def place_of_lanes(
    index: ExprNode, lane: Variable, start: ExprNode, varies: Callable[[ExprNode], bool]
) -> GatherAddress:
    """An index in parts; ``lane`` counts from ``start``."""
    base, offset, stride = _NOTHING, _NOTHING, 0
    form = linear_of(index)
    for atom, c in form.terms.items():
        if atom is lane:
            stride = c
            base = base.plus(linear_of(start), c)
        elif varies(atom):
            same, other = _apart(atom, varies)
            base, offset = base.plus(same, c), offset.plus(other, c)
        else:
            base = base.plus(Linear({atom: 1}, 0), c)
    base = base.plus(Linear({}, form.const))
    return GatherAddress(to_expr(base), stride, to_expr(offset) if offset.terms else None)


def _apart(atom: ExprNode, varies: Callable[[ExprNode], bool]) -> tuple[Linear, Linear]:
    """An atom that differs between lanes as a part that does not and one that does: ``(z + 1)·s = s + z·s``."""
    parts = _factors(atom, varies)
    if parts is None:
        return _NOTHING, Linear({atom: 1}, 0)
    sum_, factor = parts
    form = linear_of(sum_)
    same = Linear({t: c for t, c in form.terms.items() if not varies(t)}, form.const)
    other = Linear({t: c for t, c in form.terms.items() if varies(t)}, 0)
    return linear_of(ir.mul(to_expr(same), factor)), Linear({ir.mul(to_expr(other), factor): 1}, 0)


def step_of_lanes(place: GatherAddress, lane: Variable) -> int | None:
    """The k, a power of two, of a place that is ``(lane + rest)/k``: neighbouring lanes share an element or step to the
    next one, so that they are k dense loads."""
    match place:
        case GatherAddress(stride=0, offset=Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k))) if k in STEPS:
            form = linear_of(a)
            others = [t for t in form.terms if t is not lane]
            return k if form.terms.get(lane) == 1 and not any(lane in free_variables(t) for t in others) else None
    return None


def pairs_of_lanes(
    index: ExprNode, lane: Variable, start: ExprNode, varies: Callable[[ExprNode], bool]
) -> tuple[int, ExprNode, ExprNode] | None:
    """By how many elements the place is further on two lanes further on, and the places of the first two lanes: even
    lanes are a ramp by themselves, and odd ones are, as of ``x/2*3 + 2*(x % 2)``. None where that is not so, and where
    they are too far apart."""
    form, moved = linear_of(index), 0
    for atom, c in form.terms.items():
        if varies(atom):
            two_on = _two_on(atom, lane, varies)
            if two_on is None:
                return None
            moved += c * two_on
    if moved not in _PAIR_STEPS:
        return None
    first, second = (simplify(substitute(index, {lane: simplify(ir.add(start, ir.i64(i)))})) for i in (0, 1))
    return moved, first, second


def _two_on(atom: ExprNode, lane: Variable, varies: Callable[[ExprNode], bool]) -> int | None:
    """By how much an atom is more two lanes on; None where that is no constant."""
    match atom:
        case Variable():
            return 2 if atom is lane else None
        case Binary(op=BinaryOp.DIV | BinaryOp.MOD as op, a=a, b=IntImm(value=2)):
            form = linear_of(a)
            others = [t for t in form.terms if t is not lane]
            step = form.terms.get(lane, 0) if not any(varies(t) for t in others) else None
            return None if step is None else step if op is BinaryOp.DIV else 0
        case Binary(op=BinaryOp.MUL):
            parts = _factors(atom, varies)
            return 0 if parts is not None and _two_on(parts[0], lane, varies) == 0 else None
    return None


def _known_of(place: ExprNode, known: LaneFacts) -> LaneFacts:
    """The facts that count for a place. Lanes of one that is made of coordinates alone are mostly neighbours, as those
    behind a boundary condition, which the C emitter tells by the place's form."""
    return known if reads_memory(place) else LaneFacts(known.varies)


def narrow_lanes(place: GatherAddress, lanes: int, known: LaneFacts) -> ExprNode | None:
    """The moving part of a place in int32, where it stays in it in so many lanes; None where it might not."""
    if place.offset is None:
        return None
    known = _known_of(place.offset, known)
    low, high = known.range(place.offset)
    far = place.stride * (lanes - 1)
    if low + min(far, 0) < INT32.range[0] or high + max(far, 0) > INT32.range[1] or abs(far) > INT32.range[1]:
        return None
    return narrowed(place.offset, known)


@dataclass(frozen=True, slots=True)
class LaneTerms:
    """``base + a + b·s + …``: numbers of int32 that differ between lanes, and what each but the first is multiplied by,
    which no lane changes, as it does not the base. The first may be none."""

    base: ExprNode
    alone: ExprNode | None
    products: tuple[tuple[ExprNode, ExprNode], ...]


def lane_terms(place: GatherAddress, lanes: int, known: LaneFacts) -> LaneTerms | None:
    """The moving part of a place as numbers of int32, most of them multiplied by a stride: a column, and a row of so
    many elements. None where one might leave int32, where nothing is multiplied, and where there are too many."""
    if place.offset is None:
        return None
    known = _known_of(place.offset, known)
    alone, multiplied = _NOTHING, dict[ExprNode, Linear]()
    form = linear_of(place.offset)
    for atom, c in form.terms.items():
        parts = _factors(atom, known.varies)
        if parts is None:
            alone = alone.plus(Linear({atom: 1}, 0), c)
        else:
            multiplied[parts[1]] = multiplied.get(parts[1], _NOTHING).plus(linear_of(parts[0]), c)
    if not 0 < len(multiplied) <= _PRODUCTS:
        return None
    for ahead in _AHEAD:
        moved = to_expr(alone.plus(Linear({}, ahead)))
        first = narrow_lanes(GatherAddress(place.base, place.stride, moved), lanes, known)
        if first is not None:
            break
    rows = [narrowed(to_expr(form), known) for form in multiplied.values()]
    if first is None or None in rows:
        return None
    products = tuple([(row, factor) for row, factor in zip(rows, multiplied, strict=True) if row is not None])
    base = simplify(ir.sub(place.base, ir.i64(ahead)))
    return LaneTerms(base, first if alone.terms or place.stride else None, products)


def narrowed(e: ExprNode, known: LaneFacts) -> ExprNode | None:
    """An int64 expression computed in int32, where no step of it can leave that; None where one might."""
    low, high = known.range(e)
    if low < INT32.range[0] or high > INT32.range[1]:
        return None
    if not known.varies(e):
        return ir.const(e.value, INT32) if isinstance(e, IntImm) else Cast(INT32, e)
    match e:
        case Cast(a=inner):  # of what does not fit it no range within int32 is known
            return inner if inner.type is INT32 else Cast(INT32, inner)
        case Variable():
            return Cast(INT32, e)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL as op, a=a, b=b):
            found = _of_both(op, narrowed(a, known), narrowed(b, known))
            return _limited(e, known) if found is None else found
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX):
            return _limited(e, known)
    return None


def _saturated(e: ExprNode, known: LaneFacts) -> ExprNode | None:
    """The number of int32 that is nearest to an int64 expression."""
    if known.varies(e):
        limited = _limited(e, known)
        return narrowed(e, known) if limited is None else limited
    least, most = map(ir.i64, INT32.range)
    return Cast(INT32, simplify(ir.maximum(ir.minimum(e, most), least)))


def _limited(e: ExprNode, known: LaneFacts) -> ExprNode | None:
    """The number of int32 that is nearest to the lesser or greater of two: the lesser or greater of the nearest to
    each. Where it is one of int32, it is the same number."""
    form = linear_of(e)
    match list(form.terms.items()):
        case [(Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b), 1)]:
            moved = [linear_of(each).plus(Linear({}, form.const)) for each in (a, b)]
            if form.const and not all(map(is_near, moved)):  # the p + 7 of ``min(v, p) + 7`` may wrap
                return None
            return _of_both(op, *(_saturated(to_expr(each), known) for each in moved))
    return None


def _of_both(op: BinaryOp, a: ExprNode | None, b: ExprNode | None) -> ExprNode | None:
    return None if a is None or b is None else ir.binary(op, a, b)
