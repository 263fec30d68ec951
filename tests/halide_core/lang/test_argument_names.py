"""Arguments have the names that they have in Halide's Python bindings, so that calls with keywords are the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halide_core as hl

x, y, xo, yo, xi, yi, u = (hl.Var(n) for n in ("x", "y", "xo", "yo", "xi", "yi", "u"))

STAGE = """
    atomic          override_associativity_test?
    fuse            inner outer fused
    parallel        var | var task_size tail?
    partition       var partition_policy
    prefetch        func at from offset? strategy? | image at from offset? strategy?
    rename          old_name new_name
    reorder         vars
    rfactor         preserved | r v
    serial          var
    specialize      condition
    specialize_fail message
    split           old outer inner factor tail?
    tile            x y xo yo xi yi xfactor yfactor tail? | x y xi yi xfactor yfactor tail?
    tile            previous outers inners factors tail? | previous inners factors tail?
    unroll          var | var factor tail?
    vectorize       var | var factor tail?
"""
FILES = """
    compile_jit                target?
    compile_to                 outputs arguments fn_name target?
    compile_to_assembly        filename arguments fn_name target? | filename arguments target?
    compile_to_c               filename arguments fn_name? target?
    compile_to_callable        arguments target?
    compile_to_conceptual_stmt filename arguments fmt? target?
    compile_to_file            filename_prefix arguments fn_name? target?
    compile_to_header          filename arguments fn_name? target?
    compile_to_lowered_stmt    filename arguments fmt? target?
    compile_to_module          arguments fn_name? target?
    compile_to_object          filename arguments fn_name target? | filename arguments target?
    compile_to_static_library  filename_prefix arguments fn_name? target?
    infer_input_bounds         dst target?
    realize                    dst target? | sizes? target?
"""
NAMES = {
    "Stage": STAGE,
    "Func": f"""{STAGE}{FILES}
    __init__        required_type required_dimensions name | required_types required_dimensions name
    add_trace_tag   trace_tag
    align_bounds    var modulus remainder?
    align_extent    var modulus
    align_storage   dim alignment
    bound           var min extent
    bound_extent    var extent
    clone_in        f | fs
    compute_at      f var | f rvar | loop_level
    define_extern   function_name params types arguments mangling? device_api?
    define_extern   function_name params type dimensionality mangling? device_api?
    define_extern   function_name params types dimensionality mangling? device_api?
    define_extern   function_name params type arguments mangling? device_api?
    fold_storage    dim extent fold_forward?
    hoist_storage   f var | f rvar | loop_level
    in_             f | fs
    reorder_storage dims
    rvars           idx?
    set_estimate    var min extent
    set_estimates   estimates
    store_at        f var | f rvar | loop_level
    store_in        memory_type
    update          idx?
    update_args     idx?
    update_value    idx?
    update_values   idx?
    """,
    "Pipeline": f"""{FILES}
    add_requirement condition
    get_func        index
    """,
    "LoopLevel": "__init__ func var stage_index?",
    "RDom": """
    __init__ buffer | image_param | region name?
    where    predicate
    """,
    "RVar": "__init__ name",
    "hl": """
    argmax   expr name? | rdom expr name?
    argmin   expr name? | rdom expr name?
    evaluate expr
    maximum  expr name? | rdom expr name?
    minimum  expr name? | rdom expr name?
    product  expr name? | rdom expr name?
    sum      expr name? | rdom expr name?
    """,
}
"""The arguments of each call of Halide's, overload by overload; a question mark where an argument has a default."""

CALLS = [
    pytest.param(owner, method, form.split(), id=f"{owner}.{method}({', '.join(form.split())})")
    for owner, text in NAMES.items()
    for method, _, forms in (line.strip().partition(" ") for line in text.splitlines() if line.strip())
    for form in forms.split("|")
]


@pytest.mark.parametrize(("owner", "method", "names"), CALLS)
def test_call_takes_halide_s_names(owner: str, method: str, names: list[str]) -> None:
    of = hl if owner == "hl" else getattr(hl, owner)
    signature = inspect.signature(getattr(of, method))
    itself = () if of is hl else (None,)
    for asked in (names, [n for n in names if not n.endswith("?")]):
        signature.bind(*itself, **{n.rstrip("?"): None for n in asked})


def pair() -> tuple[hl.Func, hl.Func]:
    """f, and g that reads it."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x + y * 10
    g[x, y] = f[x, y] + f[x, y + 1]
    return f, g


def source(give: Callable[[hl.Func, hl.Func], object]) -> str:
    """The text of a schedule."""
    f, g = pair()
    give(f, g)
    return hl.Schedule(g).source()


SAME: list[tuple[Callable[[hl.Func, hl.Func], object], Callable[[hl.Func, hl.Func], object]]] = [
    (
        lambda f, g: g.tile(x=x, y=y, xo=xo, yo=yo, xi=xi, yi=yi, xfactor=8, yfactor=4),
        lambda f, g: g.tile(x, y, xo, yo, xi, yi, 8, 4),
    ),
    (
        lambda f, g: g.tile(x, y, xi=xi, yi=yi, xfactor=8, yfactor=4, tail=hl.TailStrategy.RoundUp),
        lambda f, g: g.tile(x, y, xi, yi, 8, 4, hl.TailStrategy.RoundUp),
    ),
    (
        lambda f, g: g.tile(previous=[x, y], outers=[xo, yo], inners=[xi, yi], factors=[8, 4]),
        lambda f, g: g.tile(x, y, xo, yo, xi, yi, 8, 4),
    ),
    (
        lambda f, g: g.tile([x, y], inners=[xi, yi], factors=[8, 4]),
        lambda f, g: g.tile([x, y], [xi, yi], [8, 4], tail=hl.TailStrategy.Auto),
    ),
    (lambda f, g: g.reorder(vars=[y, x]), lambda f, g: g.reorder(y, x)),
    (lambda f, g: f.reorder_storage(dims=[y, x]), lambda f, g: f.reorder_storage(y, x)),
    (lambda f, g: f.in_(fs=[g]), lambda f, g: f.in_(g)),
    (lambda f, g: f.clone_in(fs=[g]), lambda f, g: f.clone_in([g])),
    (lambda f, g: f.compute_at(f=g, var=y), lambda f, g: f.compute_at(g, y)),
    (lambda f, g: f.compute_at(f=g, rvar=hl.RVar("y")), lambda f, g: f.compute_at(g, y)),
    (lambda f, g: f.store_at(g, rvar=hl.RVar("y")), lambda f, g: f.store_at(g, y)),
    (lambda f, g: f.hoist_storage(loop_level=hl.LoopLevel(g, y)), lambda f, g: f.hoist_storage(g, y)),
    (lambda f, g: g.prefetch(func=f, at=x, from_=y, offset=2), lambda f, g: g.prefetch(f, x, y, 2)),
    (lambda f, g: g.prefetch(func=f, at=x, **{"from": y}, offset=2), lambda f, g: g.prefetch(f, x, y, 2)),
    (lambda f, g: f.align_storage(dim=x, alignment=hl.Expr(8)), lambda f, g: f.align_storage(x, 8)),
    (lambda f, g: f.bound_storage(x, hl.Expr(4) * 2), lambda f, g: f.bound_storage(x, 8)),
]


@pytest.mark.parametrize(("named", "in_order"), SAME)
def test_keywords_mean_what_the_order_means(
    named: Callable[[hl.Func, hl.Func], object], in_order: Callable[[hl.Func, hl.Func], object]
) -> None:
    assert source(named) == source(in_order)


def test_prefetch_of_an_input_by_its_name() -> None:
    image, f = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Func("f")
    f[x, y] = image[x, y]
    f.prefetch(image=image, at=y, **{"from": y}, strategy=hl.PrefetchBoundStrategy.Clamp)
    assert hl.Schedule(f).directives() == ["f.prefetch(image, y, y, 1, PrefetchBoundStrategy.Clamp)"]


def test_rfactor_of_pairs_by_their_name() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 4), (0, 5)], "r")
    f[x] = 0
    f[x] += r.x + r.y + x
    f.update().rfactor(preserved=[(r.y, u)]).compute_root()
    assert "f.update().rfactor(r.y, u)" in hl.Schedule(f).directives()
    assert f.realize([3])[1] == sum(a + b + 1 for a in range(4) for b in range(5))


def test_func_of_required_types() -> None:
    one = hl.Func(required_type=hl.UInt(8), required_dimensions=2, name="one")
    two = hl.Func(required_types=[hl.UInt(8), hl.Float(32)], required_dimensions=1, name="two")
    assert (one.name(), one.types(), one.dimensions()) == ("one", [hl.UInt(8)], 2)
    assert (two.name(), two.types(), two.dimensions()) == ("two", [hl.UInt(8), hl.Float(32)], 1)


def test_extern_stage_of_one_type() -> None:
    e = hl.Func("e")
    e.define_extern("c_function", [], type=hl.Int(32), dimensionality=2)
    assert (e.types(), e.dimensions()) == ([hl.Int(32)], 2)


def test_reduction_domain_of_a_buffer() -> None:
    buffer, image = hl.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3)), hl.ImageParam(hl.Int(32), 2)
    assert hl.RDom(image_param=image).dimensions() == 2
    r = hl.RDom(buffer=buffer)
    assert hl.evaluate(expr=hl.sum(expr=buffer[r.x, r.y])) == 15
    assert hl.RVar(name="ry").name() == "ry"


REDUCTIONS: dict[str, int] = {"sum": 13, "product": 60, "maximum": 5, "minimum": 1}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_inline_reduction_by_names(name: str) -> None:
    reduce: Any = getattr(hl, name)
    r = hl.RDom([(0, 4)])
    value = hl.select(r == 0, 3, r == 1, 1, r == 2, 4, 5)
    for given in (reduce(expr=value), reduce(rdom=r, expr=value), reduce(r, expr=value), reduce(expr=value, name="n")):
        assert hl.evaluate(given) == REDUCTIONS[name]


def test_places_of_extremes_by_names() -> None:
    r = hl.RDom([(0, 9)])
    for reduce, at in ((hl.argmin, 5), (hl.argmax, 0)):
        for given in (reduce(expr=(r - 5) * (r - 5)), reduce(rdom=r, expr=(r - 5) * (r - 5), name="n")):
            assert hl.evaluate(given[0]) == at
