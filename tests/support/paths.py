"""Small paths for property tests, every point of which can be visited.

    Drawn((ForAll(x, (p, 3)), Where(x < q))).points({p: 0, q: 2})   ->   [{x: 0, …}, {x: 1, …}]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st

from halide_core import ir
from halide_core.bounds.query.query import Define, ForAll, Path, Where
from halide_core.ir import Interval, Variable
from tests.support.integers import conditions, expressions, linear_expressions, value, variables

x, y, z, p, q = variables("x", "y", "z", "p", "q")
"""x and y are loops, z is a let, p and q are bound above the path."""

OUTER = [{p: a, q: b} for a in (-3, 0, 4) for b in (-2, 1, 5)]


@dataclass(frozen=True)
class Drawn:
    """Binders from the outside in."""

    binders: tuple[ForAll | Define | Where, ...]

    def path(self) -> tuple[Path, Path]:
        """The top, and the place inside every binder."""
        top = at = Path(None, None)
        for binder in self.binders:
            at = at.then(binder)
        return top, at

    def points(self, outer: dict[Variable, int]) -> list[dict[Variable, int]]:
        """Every point that reaches the inside."""
        return list(_points(self.binders, outer))


def _points(binders: tuple[ForAll | Define | Where, ...], at: dict[Variable, int]) -> Iterator[dict[Variable, int]]:
    if not binders:
        yield at
        return
    binder, rest = binders[0], binders[1:]
    match binder:
        case ForAll(var=var, bounds=bounds):
            low = value(bounds.min, at)
            for v in range(low, low + value(bounds.len, at)):
                yield from _points(rest, {**at, var: v})
        case Define(var=var, value=e, within=within):
            inner = {**at, var: value(e, at)}
            if within is not None:
                low = value(within.min, at)
                assume(low <= inner[var] < low + value(within.len, at))
            yield from _points(rest, inner)
        case Where(condition=condition):
            if value(condition, at):
                yield from _points(rest, at)


LENGTHS = st.one_of(st.integers(1, 6).map(ir.i64), st.just(q), st.just(ir.add(q, ir.i64(2))))
LOOPS = st.builds(
    lambda low, n, other, m: (ForAll(x, Interval(low, n)), ForAll(y, Interval(other, m))),
    linear_expressions((p, q)),
    LENGTHS,
    st.one_of(linear_expressions((p, q)), linear_expressions((x, q))),
    LENGTHS,
)
LETS = st.builds(lambda e: (Define(z, e, None),), st.one_of(linear_expressions((x, y, p)), expressions((x, y, p), 4)))
GUARDS = st.builds(lambda c: (Where(c),), conditions(linear_expressions((x, y, z, q))))
PATHS = st.builds(lambda loops, let, guard: Drawn(loops + let + guard), LOOPS, LETS, st.one_of(st.just(()), GUARDS))
