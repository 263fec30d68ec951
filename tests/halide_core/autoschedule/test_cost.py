"""The cost model: facts that hold on every machine. More of anything costs no less, what is nearer costs no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Function, realization_order
from halide_core.autoschedule.constants import Constants
from halide_core.autoschedule.cost import Cost, CostModel
from halide_core.autoschedule.machine import machine
from halide_core.autoschedule.reads import Inliner, Reading, readings
from halide_core.autoschedule.search import Found, FuncChoice, search
from halide_core.autoschedule.shapes import Level
from halide_core.autoschedule.stages import PipelineStages
from halide_core.autoschedule.work import Kind, work_of

x, y = hl.Var("x"), hl.Var("y")
HOST = hl.Target("x86-64-linux-avx-avx2-fma-f16c-sse41")


def model(
    f: hl.Func, width: int = 640, height: int = 480, threads: int = 2, constants: Constants | None = None
) -> CostModel:
    region = ((0, width - 1), (0, height - 1))
    stages = PipelineStages(realization_order([f.function]), {f.function: region})
    return CostModel(stages, machine(HOST, {"parallelism": str(threads)}), constants or Constants())


def blur(taps: int = 3) -> hl.Func:
    image = hl.ImageParam(hl.UInt(16), 2, "image")
    across, f = hl.Func("across"), hl.Func("blurred")
    across[x, y] = image[x, y] + image[x + 1, y] * 3 + image[x + 2, y]
    total = across[x, y]
    for k in range(1, taps):
        total = total + across[x, y + k]
    f[x, y] = total
    return f


def at(index: hl.Expr) -> Reading:
    """The reading of a one-dimensional input at an index."""
    image, f = hl.ImageParam(hl.UInt(16), 1, "line"), hl.Func("f")
    f[x, y] = image[index]
    (found,) = readings(f.function, 0)
    return found


@pytest.mark.parametrize(
    ("index", "step"),
    [
        (x, 1),
        (x + 7, 1),
        (2 * x - x, 1),
        (3 * x + y, 3),
        (y, 0),
        (hl.clamp(x, 0, 9), 1),
        (x / 2, 0.5),
        (2 * (x / 2), 1),
    ],
)
def test_step_of_an_index(index: hl.Expr, step: float) -> None:
    assert at(index).place[0].step(ir.pure_variable("x")) == step


def test_places_of_what_is_inlined_meet() -> None:
    g, h, f = hl.Func("g"), hl.Func("h"), hl.Func("f")
    h[x, y] = x + y
    g[x, y] = h[x, y] + h[x + 1, y] + h[x / 2, y]
    f[x, y] = g[x, y] + g[x + 1, y] + g[x + 2, y]
    inliner, found = Inliner(), set[Reading]()
    for reading in readings(f.function, 0):
        found |= set(inliner.through(g.function, reading.place))
    plain = [r for r in found if r.place[0].step(ir.pure_variable("x")) == 1]
    assert len(plain) == 4
    assert len(found) == 4 + 3


def test_work_counts_by_kind_and_not_in_indices() -> None:
    f, image = hl.Func("f"), hl.ImageParam(hl.Float(32), 2, "image")
    f[x, y] = hl.exp(image[x * 3 + 1, y / 2]) / image[x, y] + 1.0
    counts = work_of(f.function, 0).counts
    assert counts == {(Kind.ELEMENTARY, 4): 1, (Kind.DIVIDE, 4): 1, (Kind.SIMPLE, 4): 1}


def test_a_vector_costs_no_more_than_its_lanes_one_by_one() -> None:
    f = blur()
    work = work_of(f.function, 0)
    cycles = [work.cycles(lanes, 32) for lanes in (1, 2, 4, 8, 16, 32, 64)]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[4] == cycles[5]  # two registers are two instructions


def test_bytes_cost_more_where_more_lies_between() -> None:
    c = Constants()
    cycles = [c.byte(2.0**k) for k in range(30)]
    assert cycles == sorted(cycles)
    assert cycles[0] == 0


def total(found: Found) -> float:
    return sum(c.cost.total for c in found.choices.values())


def test_more_points_more_taps_or_fewer_threads_cost_no_less() -> None:
    def cost(f: hl.Func, **given: int) -> float:
        return search(model(f, **given))[0].cycles

    assert cost(blur(), height=240) < cost(blur(), height=480) < cost(blur(), height=960)
    assert cost(blur(2)) < cost(blur(3)) < cost(blur(5))
    assert cost(blur(), threads=4) < cost(blur(), threads=2) < cost(blur(), threads=1)


def test_slower_memory_costs_no_less() -> None:
    slow = replace(Constants(), byte_memory=1.0, byte_l3=0.5)
    assert search(model(blur(), 4000, 4000, constants=slow))[0].cycles > search(model(blur(), 4000, 4000))[0].cycles


def test_total_of_a_search_is_that_of_its_choices() -> None:
    found = search(model(blur()))[0]
    assert found.cycles == pytest.approx(total(found))
    assert found.cycles <= search(model(blur()), width=1)[0].cycles


def test_a_sum_of_costs_is_one_of_their_items() -> None:
    cost = Cost(arithmetic=3, memory=1)
    cost.add(Cost(arithmetic=1, threads=2))
    assert (cost.arithmetic, cost.memory, cost.threads) == (4, 1, 2)


def chosen(found: Found) -> dict[str, FuncChoice]:
    return {f.name: c for f, c in found.choices.items()}


def test_what_is_cheap_is_inlined_and_what_is_dear_is_kept() -> None:
    f, cheap, dear = hl.Func("f"), hl.Func("cheap"), hl.Func("dear")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    cheap[x, y] = image[x, y] + 1.0
    dear[x, y] = hl.exp(hl.sin(cheap[x, y]))
    f[x, y] = dear[x, y] + dear[x, y + 1] + dear[x, y + 2] + dear[x, y + 3]
    choices = chosen(search(model(f))[0])
    assert choices["cheap"].nest is None
    assert choices["dear"].nest is not None
    assert choices["dear"].nest.level is Level.SLIDING


def test_explanation_names_each_func_its_cost_and_the_next_best() -> None:
    text = search(model(blur()))[0].explanation()
    assert "blurred: at root: tiles of all x " in text
    assert "across: at " in text
    assert text.count("cycles: ") == 2 + text.count("next best") == 4
    assert "arithmetic" in text


def test_search_is_the_same_each_time() -> None:
    def once() -> str:
        found = search(model(blur()))[0]
        return found.explanation()

    assert once() == once()


def test_a_func_of_two_groups_is_at_root() -> None:
    image = hl.ImageParam(hl.Float(32), 2, "image")
    f, g, h, both = (hl.Func(n) for n in ("f", "g", "h", "both"))
    r = hl.RDom([(0, 40), (0, 40)], "r")
    f[x, y] = hl.exp(hl.sin(image[x, y]))
    g[x, y] = 0.0
    g[x, y] += f[x + r.x, y + r.y]
    h[x, y] = 0.0
    h[x, y] += f[x + r.y, y + r.x] * 2.0
    both[x, y] = g[y, x] + h[x, y + 100]
    choices = search(model(both, 256, 256))[0].choices
    nests = {c.nest.anchor for c in choices.values() if c.nest is not None}
    of_f: Function = f.function
    nest = choices[of_f].nest
    assert nest is not None
    assert len(nests) > 1, "else nothing is shown"
    assert nest.level is None
