"""The three axes of the grammar, and where a case lies on them.

In: a Case. Out: its cells: for each Func with updates, every shape of those with every feature of its place and every
way in which its loops or those of its consumers run. They are read off the case itself, whoever drew it.

    w[0, y] += 1; w.store_root().compute_at(o, x); o.vectorize(x, 4)   ->   (CONSTANT, STORE_ROOT, VECTOR), …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import product

from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Consumer, Domain, Loop, Told, Update
from tests.campaigns.fuzz.nests import Model, model_of
from tests.campaigns.fuzz.terms import Form, Term, name


class Shape(Enum):
    """Shapes of update definitions."""

    FULL = "full"
    PARTIAL = "partial"
    CONSTANT = "constant place"
    SCATTER = "scatter"
    SELF_READ = "self-read"
    CONDITIONAL = "conditional"
    NON_IDEMPOTENT = "non-idempotent"
    TUPLE = "Tuple"
    SEVERAL = "several in a row"


class Place(Enum):
    """Features of placement and storage, and of the order of the loops around."""

    ROOT = "compute_root"
    AT_INNER = "compute_at innermost"
    AT_OUTER = "compute_at further out"
    STORE_ROOT = "store_root"
    STORE_AT = "store_at"
    FOLD = "fold_storage"
    HOIST = "hoist_storage"
    LAYOUT = "layout of memory"
    REORDER = "reordered loops"
    SPLIT = "split loops"
    FUSE = "fused loops"


class Way(Enum):
    """Ways in which loops run, and Funcs that others stand for."""

    TAIL_GUARD = "tail guarded"
    TAIL_ROUND = "tail rounded up"
    TAIL_SHIFT = "tail shifted"
    TAIL_PREDICATE = "tail predicated"
    VECTOR = "vectors"
    THREADS = "threads"
    SPECIALIZE = "specialize"
    RFACTOR = "rfactor"
    IN = "in_"
    CLONE_IN = "clone_in"


Cell = tuple[Shape, Place, Way]

ALL_CELLS: tuple[Cell, ...] = tuple(product(Shape, Place, Way))

_TAILS = {
    TailStrategy.GuardWithIf: Way.TAIL_GUARD,
    TailStrategy.RoundUp: Way.TAIL_ROUND,
    TailStrategy.RoundUpAndBlend: Way.TAIL_ROUND,
    TailStrategy.ShiftInwards: Way.TAIL_SHIFT,
    TailStrategy.ShiftInwardsAndBlend: Way.TAIL_SHIFT,
    TailStrategy.Predicate: Way.TAIL_PREDICATE,
    TailStrategy.PredicateLoads: Way.TAIL_PREDICATE,
    TailStrategy.PredicateStores: Way.TAIL_PREDICATE,
}
_WAYS = {
    "vectorize": Way.VECTOR,
    "parallel": Way.THREADS,
    "specialize": Way.SPECIALIZE,
    "rfactor": Way.RFACTOR,
    "in_": Way.IN,
    "clone_in": Way.CLONE_IN,
}
_PLACES = {
    "compute_root": Place.ROOT,
    "store_root": Place.STORE_ROOT,
    "store_at": Place.STORE_AT,
    "fold_storage": Place.FOLD,
    "hoist_storage": Place.HOIST,
    "hoist_storage_root": Place.HOIST,
    "store_in": Place.LAYOUT,
    "reorder_storage": Place.LAYOUT,
    "align_storage": Place.LAYOUT,
    "bound_storage": Place.LAYOUT,
}
_ORDERS = {"reorder": Place.REORDER, "split": Place.SPLIT, "tile": Place.SPLIT, "fuse": Place.FUSE}


def cells_of(case: Case) -> frozenset[Cell]:
    """Every cell that a case lies in."""
    model = model_of(case)
    found: set[Cell] = set()
    for func in model.args:
        shapes = shapes_of(case, func, model)
        if shapes:
            near = [t for t in case.directives if t.func == func or t.func in _consumers(model, func)]
            found |= set(product(shapes, _places(model, func, near), _ways(func, near)))
    return frozenset(found)


def shapes_of(case: Case, func: str, model: Model) -> set[Shape]:
    """The shapes of a Func's updates."""
    updates = [item for item in case.items if isinstance(item, Update) and item.name == func]
    domains = {item.name: item for item in case.items if isinstance(item, Domain)}
    found = {shape for u in updates for shape in _shapes(u, model.args[func], domains.get(u.domain))}
    return found | ({Shape.SEVERAL} if len(updates) > 1 else set())


def _shapes(update: Update, args: Sequence[str], domain: Domain | None) -> Iterator[Shape]:
    pure = [at == name(v) for v, at in zip(args, update.point, strict=True)]
    yield Shape.FULL if all(pure) else Shape.PARTIAL
    if any(at.form is Form.NUMBER for at in update.point):
        yield Shape.CONSTANT
    if any(node.form is Form.READ for at in update.point for node in at):
        yield Shape.SCATTER
    nodes = [node for v in (update.value, *update.more) for node in v]
    own = [node for node in nodes if node.form is Form.READ and node.text == update.name]
    if any(node.parts != update.point for node in own):
        yield Shape.SELF_READ
    if any(node.parts == update.point for node in own) or update.op != "=":
        yield Shape.NON_IDEMPOTENT
    if (domain is not None and domain.predicates) or any(_is_undefined(node) for v in update.terms() for node in v):
        yield Shape.CONDITIONAL
    if update.more:
        yield Shape.TUPLE


def _is_undefined(node: Term) -> bool:
    return node.form is Form.NAME and node.text.startswith("hl.undef")


def _consumers(model: Model, func: str) -> set[str]:
    return {reader for reader, _ in model.readers.get(func, ())}


def _places(model: Model, func: str, near: Sequence[Told]) -> set[Place]:
    found = {_PLACES[t.method] for t in near if t.func == func and t.method in _PLACES}
    found |= {_ORDERS[t.method] for t in near if t.method in _ORDERS}
    for t in near:
        if t.func == func and t.method == "compute_at":
            consumer, loop = t.args
            assert isinstance(consumer, Consumer)
            assert isinstance(loop, Loop)
            found.add(Place.AT_INNER if _is_innermost(model, consumer.name, loop.name, near) else Place.AT_OUTER)
    return found


def _is_innermost(model: Model, consumer: str, loop: str, near: Sequence[Told]) -> bool:
    """True where a loop is the innermost one of a consumer as far as its name and its reorderings say."""
    orders = [t.args for t in near if t.func == consumer and t.method == "reorder"]
    if orders:
        return orders[-1][0] == Loop(loop)
    args = model.args.get(consumer, ())
    return bool(args) and (loop == args[0] or loop.startswith(f"{args[0]}i"))


def _ways(func: str, near: Sequence[Told]) -> set[Way]:
    found = {_WAYS[t.method] for t in near if t.method in _WAYS and (t.func == func or t.method not in _OWN)}
    for t in near:
        found |= {_TAILS[a] for a in t.args if isinstance(a, TailStrategy) and a in _TAILS}
        found |= {_WAYS[m] for m, _ in t.then if m in _WAYS}
    return found


_OWN = ("rfactor", "in_", "clone_in")
"""Ways that count for the Func that they are told of alone."""
