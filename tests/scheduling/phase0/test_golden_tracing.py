"""Golden dumps of what is traced, and that nothing can be traced of a Func that is inlined."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core.ir.printer import format_stmt
from tests.support.dumps import after, both, producer_and_consumer

Golden = Callable[[str, str], None]
METHODS = ("trace_loads", "trace_stores", "trace_realizations", "add_trace_tag")


@pytest.mark.parametrize("method", METHODS)
def test_tracing(method: str, golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    given = ("a tag",) if method == "add_trace_tag" else ()
    getattr(g.compute_root(), method)(*given)
    golden(f"{method}.txt", f"{both(f)}\n-- simplify\n{format_stmt(after(f, 'simplify'))}\n")


@pytest.mark.parametrize("method", METHODS)
def test_inlined_func_shows_nothing(method: str) -> None:
    g, f, _x, _y = producer_and_consumer()
    if method == "trace_loads":
        g.trace_loads()
    elif method == "trace_stores":
        g.trace_stores()
    elif method == "trace_realizations":
        g.trace_realizations()
    else:
        g.add_trace_tag("a tag")
    with pytest.warns(hl.HalideWarning, match=rf"g\.{method}\(.*has no effect"):
        assert "trace" not in f.loop_nest()


def test_last_directive_that_traces_is_blamed() -> None:
    x, outer = hl.Var("x"), hl.Var("outer")
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x * 3
    g[x] = f[x] + 1
    f.compute_at(g, x).trace_realizations().debug_to_file("f.tmp")
    g.split(x, outer, x, 4).vectorize(x)
    with pytest.raises(hl.ScheduleError, match=r"f\.debug_to_file\(.*vectorized loop"):
        after(g, "simplify")
