"""Gathers of neighbours: lanes of ``f[x]`` and lanes of ``f[x + 1]``, for places x anywhere.

In: the loads of a statement. Out: which of them are next to each other, and the C function that loads both: where a
machine gathers slowly, by one load of twice the width for each lane, whose halves are then put apart.

    f[at], f[at + 1]: float32 x 8    ->    eight loads of 64 bits, and shuffles, instead of sixteen loads
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.analysis.linear import linear_of
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import INT32, Int, Type
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.uses import address_parts, lane_terms, lanes_an_element, lanes_in_pairs
from halide_core.runtime.codegen.vector import x86_builtins
from halide_core.runtime.codegen.vector.gathers.anywhere import Terms, gather, places
from halide_core.runtime.codegen.vector.gathers.close import registers_between
from halide_core.runtime.codegen.vector.lane_ranges import greatest_factor
from halide_core.runtime.codegen.vector.lanes import Places
from halide_core.runtime.codegen.vector.prelude import Prelude, either

_BITS = 32
"""Of an element; two of them are the widest number that machines load."""
_BLOCK = 4
"""Lanes in 128 bits: shuffles don't leave them."""


def neighbours(loads: Iterable[ir.Load]) -> dict[ExprNode, tuple[ir.Load, int]]:
    """For each load that is one of two neighbours: the first of the two, and how far it is ahead of that (0 or 1)."""
    rows: dict[tuple[object, ...], dict[int, ir.Load]] = {}
    for load in loads:
        base = _base(load)
        if base is not None:
            form = linear_of(base)
            around = (load.buffer, load.type, address_parts(load.index)[1:], frozenset(form.terms.items()))
            rows.setdefault(around, {})[form.const] = load
    found: dict[ExprNode, tuple[ir.Load, int]] = {}
    for row in rows.values():
        for at in sorted(row):
            if at + 1 in row and row[at] not in found:
                found[row[at]], found[row[at + 1]] = (row[at], 0), (row[at], 1)
    return found


def _base(load: ir.Load) -> ExprNode | None:
    """The base that all lanes of a gather share; None of a load that is none, or that has no halves."""
    type, index = load.type, load.index
    shared = lanes_an_element(index) or lanes_in_pairs(index) is not None
    if type.bits() != _BITS or type.is_bool() or type.lanes() % _BLOCK or shared or registers_between(type, index):
        return None
    match index:
        case ir.Binary(op=BinaryOp.ADD, a=ir.Broadcast(a=base)):
            return base
    return None


def two(prelude: Prelude, type: Type) -> str:
    """The C type of two vectors."""
    c = prelude.type(type)
    return prelude.typedef(f"{c}_two", f"typedef struct {{ {c} first, second; }} {c}_two;\n")


def gather_two(prelude: Prelude, load: ir.Load) -> tuple[str, str]:
    """``f(pointer, base, indices)``, as of ``gather`` or ``gather_terms``: elements anywhere, and those behind each;
    and what follows the arguments."""
    type, parts = load.type, address_parts(load.index)[1:]
    if not lane_terms(load.index):
        return _by_index(prelude, type, parts[0].type), ""
    terms, near = Terms(prelude, [part.type for part in parts]), greatest_factor(parts)
    return _by_terms(prelude, type, terms, near > 0), f", {near}" if near else ""


def _by_index(prelude: Prelude, type: Type, index: Type) -> str:
    def head() -> tuple[str, str, list[str]]:
        result = two(prelude, type)
        body = _of_halves(prelude, type, places(prelude, index))
        body = _armed(prelude, type, index, "index", body)
        return result, f"const {stored(type)} *p, int64_t base, {prelude.type(index)} index", body

    return prelude.define(f"gather_two_{tag(type)}_{tag(index)}", head)


def _by_terms(prelude: Prelude, type: Type, terms: Terms, near: bool) -> str:
    def head() -> tuple[str, str, list[str]]:
        wide, narrow = Int(64, type.lanes()), INT32.with_lanes(type.lanes())
        body = _armed(prelude, type, wide, terms.whole(wide), _of_halves(prelude, type, terms.places()))
        if near:
            found = f"{_by_index(prelude, type, narrow)}(p, base, {terms.wrapped(narrow)})"
            body = [terms.if_near(found), *body]
        return two(prelude, type), f"const {stored(type)} *p, int64_t base, {terms.parameters(near=near)}", body

    return prelude.define(f"gather_two_{tag(type)}_{terms.tag()}{'_near' if near else ''}", head)


def _armed(prelude: Prelude, type: Type, index: Type, whole: str, body: list[str]) -> list[str]:
    """Two gathers, where a machine has them and is quick."""
    arm = x86_builtins.gather(type, index)
    if arm is None:
        return body
    one = gather(prelude, type, index)
    twice = f"return ({two(prelude, type)}){{{one}(p, base, {whole}), {one}(p, base + 1, {whole})}};"
    return either(arm.condition, [twice], body)


def _of_halves(prelude: Prelude, type: Type, index: Places) -> list[str]:
    """Loads of two elements at once, the lanes of which two vectors share so that shuffles stay inside of blocks."""
    lanes, pair = type.lanes(), "i64_of_i32x2"
    prelude.typedef(pair, f"typedef int64_t {pair} __attribute__((aligned({_BITS // 8}), may_alias));\n")
    wide = prelude.type(Int(2 * _BITS, lanes // 2))
    declared, at = index
    body = [*declared]
    for name, skipped in (("a", 0), ("b", 2)):
        chosen = [k + skipped + j for k in range(0, lanes, _BLOCK) for j in (0, 1)]
        body.append(f"{wide} {name} = {{{', '.join(f'*(const {pair} *)(p + base + {at[k]})' for k in chosen)}}};")
    c, halves = prelude.type(type), []
    for half in (0, 1):
        order = [j + half for k in range(0, lanes, _BLOCK) for j in (k, k + 2, k + lanes, k + lanes + 2)]
        halves.append(f"__builtin_shufflevector(({c})a, ({c})b, {', '.join(map(str, order))})")
    return [*body, f"return ({two(prelude, type)}){{{', '.join(halves)}}};"]
