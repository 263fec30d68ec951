"""Reduction domains: the loops of an update definition (figure 2.5, ``rdom``).

In: a list of (min, extent). Out: an RDom, whose RVars stand in update definitions.

    r = RDom([(0, 3), (0, 5)])   ->   r.x in (0, 3), innermost; r.y in (0, 5)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from halide_core import ir
from halide_core.algorithm.float_arithmetic import through_float32
from halide_core.algorithm.model import ReductionDomain, Requirement
from halide_core.checks import integer, of_kind, shown
from halide_core.errors import DefinitionError, DimensionError, user_location
from halide_core.ir.types import INT32
from halide_core.lang.arguments.keywords import one_of
from halide_core.lang.arguments.ranges import Range, RangeLike, as_range
from halide_core.lang.buffer import Buffer
from halide_core.lang.coordinates import startup
from halide_core.lang.expr import Expr, ExprLike, Operand, as_bool, as_node
from halide_core.lang.input_buffer import InputImage
from halide_core.lang.ops.random_numbers import is_random
from halide_core.lang.placeholders import met, refuse_placeholders
from halide_core.own_name import stands_for_halide

_LETTERS = ("x", "y", "z", "w")


class RVar(Operand):
    """One variable of an RDom; or, made from a name alone, a name for a loop of an update's schedule."""

    __slots__ = ("_domain", "_index", "_label")

    def __init__(self, of: RDom | str | None = None, *, name: str | None = None) -> None:
        of = one_of("RVar", DefinitionError, of=of, name=name)
        self._domain: ReductionDomain | None = None
        self._index = 0
        self._label = ""
        if isinstance(of, RDom):
            only = of.only()
            self._domain, self._index = only._domain, only._index
        else:
            named = "" if of is None else of_kind(of, str, "An RVar is made of a name, or of an RDom of one variable")
            self._label = named or _fresh_name()

    @classmethod
    def of(cls, domain: ReductionDomain, index: int) -> RVar:
        """The ``index``-th variable of a domain."""
        self = cls.__new__(cls)
        self._domain, self._index, self._label = domain, index, ""
        return self

    def _bounds(self) -> tuple[ReductionDomain, ir.Interval]:
        if self._domain is None:
            raise DefinitionError(f'RVar "{self._label}" belongs to no RDom: it only names a loop.')
        return self._domain, self._domain.bounds[self._index]

    def _node(self) -> ir.ExprNode:
        return ir.RVarRef(INT32, self._bounds()[0], self._index)

    def name(self) -> str:
        """The variable's name, and its loop's."""
        return self._label if self._domain is None else self._domain.names[self._index]

    def min(self) -> Expr:
        """The first value."""
        return Expr.of(self._bounds()[1].min)

    def extent(self) -> Expr:
        """The number of values."""
        return Expr.of(self._bounds()[1].len)

    def __hash__(self) -> int:  # type: ignore[override]  # as a Var, an RVar is its name
        return hash(self.name())

    def __repr__(self) -> str:
        if self._domain is None:
            return f"RVar({self._label!r})"
        return f"RVar({self.name()}, {self.min()}, {self.extent()})"


_rvar_count = 0


def _fresh_name() -> str:
    global _rvar_count
    _rvar_count += 1
    return f"rv{_rvar_count}"


class RDom(Operand):
    """A reduction domain: the points that an update definition runs over, the first variable changing fastest.

    Args:
        region: (min, extent) pairs or Ranges of start-up expressions (definition 2.9); or a Buffer or an ImageParam
            to cover, whose name is ``buffer`` or ``image_param``, too.
        name: the prefix of the variables' names.
    """

    __slots__ = ("_defined", "_domain")

    def __init__(
        self,
        region: Sequence[RangeLike] | Buffer | InputImage | None = None,
        name: str = "r",
        *,
        buffer: Buffer | None = None,
        image_param: InputImage | None = None,
    ) -> None:
        region = one_of("RDom", DefinitionError, region=region, buffer=buffer, image_param=image_param)
        self._defined = region is not None
        if region is None:
            ranges = []
        elif isinstance(region, Buffer | InputImage):
            dims = [region.dim(i) for i in range(region.dimensions())]
            ranges = [Range(d.min(), d.extent()) for d in dims]
        elif isinstance(region, list | tuple):
            ranges = [as_range(r) for r in region]
        else:
            raise DefinitionError(
                "An RDom is made from a list, hl.RDom([(min, extent), …]), a Buffer or an ImageParam."
            )
        label = name or "r"
        names = tuple(f"{label}.{_LETTERS[i] if i < len(_LETTERS) else i}" for i in range(len(ranges)))
        found = [_interval(n, r) for n, r in zip(names, ranges, strict=True)]
        self._domain = ReductionDomain(names, tuple(i for i, _ in found), ir.TRUE, user_location())
        self._domain.requirements = tuple(dict.fromkeys(r for _, demands in found for r in demands))

    @property
    def domain(self) -> ReductionDomain:
        """The domain as the compiler sees it."""
        if not self._defined:
            raise DefinitionError("An undefined RDom is used: it has no points. Write hl.RDom([(min, extent), …]).")
        return self._domain

    def where(self, predicate: ExprLike) -> None:
        """Restricts the domain to the points where ``predicate`` holds too; a random number in it is one of each update
        that uses the domain.

        Raises:
            DefinitionError: a definition uses the domain already.
        """
        if self.domain.frozen_by is not None:
            raise DefinitionError(
                f"{self!r} can't be restricted any more: the definition at {self._domain.frozen_by} uses it."
            )
        (node,), demands = met((as_bool(predicate)._node(),))
        test = through_float32(node)
        refuse_placeholders("the predicate of an RDom", (test,), is_random)
        known = self._domain.predicate
        self._domain.predicate = test if known is ir.TRUE else ir.conjunction(known, test)
        self._domain.requirements = tuple(dict.fromkeys((*self._domain.requirements, *demands)))

    def defined(self) -> bool:
        """True where there is a domain: ``RDom()`` is undefined. It can't be used, only asked."""
        return self._defined

    def dimensions(self) -> int:
        """The number of variables."""
        return len(self._domain.names)

    def same_as(self, other: RDom) -> bool:
        """True where both are the same domain."""
        return self._domain is of_kind(other, RDom, "same_as() of an RDom takes an RDom")._domain

    def only(self) -> RVar:
        """The variable of a domain that has one."""
        if len(self.domain.names) != 1:
            raise DefinitionError(
                f"An RDom of {len(self)} dimensions can't stand in an expression: name a variable, such as r.x."
            )
        return self[0]

    def _node(self) -> ir.ExprNode:
        return self.only()._node()

    def __len__(self) -> int:
        return len(self._domain.names)

    def __getitem__(self, index: int) -> RVar:
        if not 0 <= integer(index, f"An RDom's variables have integers, {self!r}[0] and so on") < len(self):
            raise DimensionError(f"{self!r} has no dimension {shown(index)}.")
        return RVar.of(self._domain, index)

    def __iter__(self) -> Iterator[RVar]:  # type: ignore[override]  # of operands this one has parts
        return (self[i] for i in range(len(self)))

    def _letter(self, index: int) -> RVar:
        if index >= len(self.domain.names):
            raise DefinitionError(f"{self!r} has no .{_LETTERS[index]}: it has {len(self)} dimensions.")
        return self[index]

    @property
    def x(self) -> RVar:
        """The first variable, the innermost loop."""
        return self._letter(0)

    @property
    def y(self) -> RVar:
        """The second variable."""
        return self._letter(1)

    @property
    def z(self) -> RVar:
        """The third variable."""
        return self._letter(2)

    @property
    def w(self) -> RVar:
        """The fourth variable."""
        return self._letter(3)

    def __repr__(self) -> str:
        dims = zip(self._domain.names, self._domain.bounds, strict=True)
        text = ", ".join(f"{n} in ({b.min!r}, {b.len!r})" for n, b in dims)
        where = "" if self._domain.predicate is ir.TRUE else f" where {self._domain.predicate!r}"
        return f"<halide.RDom RDom({text}{where})>" if stands_for_halide() else f"RDom({text}{where})"


def _interval(name: str, range: Range) -> tuple[ir.Interval, tuple[Requirement, ...]]:
    """The interval of a variable, and what runs must meet for it to be known."""
    if range.min is None or range.extent is None:
        raise DefinitionError(f'Reduction variable "{name}" needs a min and an extent.')
    least, demands = _met(range.min)
    low = startup(least, f'The min of reduction variable "{name}"')
    length, more = _met(range.extent)
    extent = startup(length, f'The extent of reduction variable "{name}"')
    if isinstance(extent, ir.IntImm) and extent.value < 0:
        extent = ir.const(0, extent.type)  # as of a Param that is negative: there are no points
    return ir.Interval(low, extent), (*demands, *more)


def _met(value: ExprLike) -> tuple[ExprLike, tuple[Requirement, ...]]:
    if not isinstance(value, Operand):
        return value, ()
    (node,), demands = met((as_node(value),))
    return Expr.of(node), demands
