"""Where in memory lanes are loaded and stored, as C.

In: an index, and the texts of what ``address_parts`` says is evaluated for it. Out: the call, up to its last argument.

    load u8x16 at in[x + ramp(0, 1, 16)]   ->   load_u8x16(in + x
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import ExprNode
from halide_core.ir.types import INT64, Type
from halide_core.runtime.codegen.text import PRODUCT, Text
from halide_core.runtime.codegen.uses import address_parts, lane_terms, lanes_an_element, lanes_in_pairs, small_constant
from halide_core.runtime.codegen.vector.first_lanes import load_first, store_first
from halide_core.runtime.codegen.vector.gathers.anywhere import gather, gather_terms, lookup
from halide_core.runtime.codegen.vector.gathers.close import gather_close, registers_between
from halide_core.runtime.codegen.vector.lane_ranges import greatest_factor
from halide_core.runtime.codegen.vector.prelude import Prelude
from halide_core.runtime.codegen.vector.strided_loads import load_every, load_pairs, load_reversed, load_strided


def address(
    prelude: Prelude, verb: str, type: Type, pointer: str, index: ExprNode, args: Sequence[Text], padded: bool = False,
    mask: str = "",
) -> str:  # fmt: skip
    """The call that loads or stores lanes, those of a mask alone if there is one, up to what follows the address."""
    if isinstance(index, ir.Ramp) and len(args) == 1:
        if mask:
            function = (load_first if verb == "load" else store_first)(prelude, type)
            return f"{function}({mask}, {pointer} + {args[0].at(PRODUCT)}"
        function = prelude.load(type) if verb == "load" else prelude.store(type)
        return f"{function}({pointer} + {args[0].at(PRODUCT)}"
    if mask:
        raise InternalError(f"Lanes can't be left out at {index!r}")
    if isinstance(index, ir.Ramp):
        distance = small_constant(index.stride) if verb == "load" else None
        every = load_reversed(prelude, type) if distance == -1 else load_every(prelude, type, distance or 0)
        if every is not None:
            return f"{every}({pointer} + {args[0].at(PRODUCT)}"
        function = load_strided(prelude, type) if verb == "load" else prelude.store_strided(type)
        return f"{function}({pointer} + {args[0].at(PRODUCT)}, {args[1].text}"
    shared = lanes_an_element(index) if verb == "load" else 0
    if shared:
        return f"{prelude.load_shared(type, shared)}({pointer} + {args[0].at(PRODUCT)}, {args[1].text}"
    pairs = lanes_in_pairs(index) if verb == "load" else None
    if pairs is not None:
        return f"{load_pairs(prelude, type, pairs.step)}({pointer} + {args[0].at(PRODUCT)}, {args[1].text}"
    if index.type.element_of() is not INT64:
        raise InternalError(f"An index of type {index.type} reached the C emitter: {index!r}")
    terms = lane_terms(index) if verb == "load" else ()
    if terms:
        near = greatest_factor(terms)
        function = gather_terms(prelude, type, [term.type for term in terms], near=near > 0)
        return f"{function}({pointer}, {', '.join(each.text for each in args)}{f', {near}' if near else ''}"
    if isinstance(index, ir.Broadcast):
        base, lanes, of = args[0].text, f"({prelude.type(index.type)}){{0}}", index.type
    else:
        base, lanes = args[0].text if len(args) == 2 else "0", args[-1].text
        of = address_parts(index, stored=verb == "store")[-1].type
    registers = registers_between(type, index) if verb == "load" else 0
    if registers:
        return f"{gather_close(prelude, type, of, registers)}({pointer}, {base}, {lanes}"
    from_table = lookup(prelude, type, of) if padded else None
    function = from_table or (gather(prelude, type, of) if verb == "load" else prelude.scatter(type, of))
    return f"{function}({pointer}, {base}, {lanes}"


def subscript(index: Text) -> str:
    """An index between brackets, where a literal needs no suffix."""
    plain = index.text.removesuffix("ll")
    return plain if plain.isdigit() else index.text
