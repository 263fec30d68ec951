"""Waivers of the user's: claims that a certificate calls assumed, with the line; and what still is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.verify.certificate import PipelineCertificate
from halide_core.bounds.verify.vc import ClaimKind, Result, Status
from halide_core.lowering.interpreter.memory_model import RaceError
from tests.bounds.query.test_smtlib import run
from tests.support.interpreted import run_passes

x, y, xo, xi = (hl.Var(n) for n in "x y xo xi".split())
ORDER = np.random.default_rng(3).permutation(32).astype(np.int32)


def certificate(f: hl.Func) -> PipelineCertificate:
    found = f.certify()
    assert isinstance(found, PipelineCertificate)
    return found


def assumed(f: hl.Func) -> list[Result]:
    return [r for r in certificate(f).results if r.status is Status.ASSUMED]


# -- allow_race_conditions


def permuted() -> tuple[hl.Func, hl.RDom]:
    """f[order[r]] = r: no two iterations meet if order is a permutation, which no compiler can know."""
    order = hl.ImageParam(hl.Int(32), 1, "order")
    order.set(ORDER)
    f, r = hl.Func("f"), hl.RDom([(0, 32)], "r")
    f[x] = -1
    f[hl.clamp(order[r.x], 0, 31)] = r.x
    return f, r


def total() -> tuple[hl.Func, hl.RDom]:
    """All iterations meet."""
    source = hl.ImageParam(hl.Int(32), 1, "source")
    source.set(np.arange(32, dtype=np.int32))
    f, r = hl.Func("f"), hl.RDom([(0, 32)], "r")
    f[x] = 0
    f[x] += source[r.x]
    return f, r


@pytest.mark.parametrize("how", ["parallel", "vectorize", "split"])
def test_races_that_the_user_rules_out_are_assumed_at_his_line(how: str) -> None:
    f, r = permuted()
    f.update().allow_race_conditions()
    if how == "parallel":
        f.update().parallel(r.x)
    elif how == "vectorize":
        f.update().vectorize(r.x, 8)
    else:
        f.update().split(r.x, r.x, hl.RVar("ri"), 4).parallel(r.x)
    (only,) = assumed(f)
    assert only.claim.kind is ClaimKind.RACE
    assert [a.told for a in only.assumptions] == ["f.update().allow_race_conditions()"]
    assert only.assumptions[0].location.text == "f.update().allow_race_conditions()"
    assert only.counterexample is not None, "an order that names a point twice"
    assert any(name.endswith("@1'") for name in only.counterexample.values), "of the other iteration"
    found = certificate(f)
    assert found.ok
    assert "1 assumed on the user's word" in str(found)
    assert f"on the word of {only.assumptions[0]}" in str(found)
    (told,) = json.loads(found.to_json())["assumptions"]
    assert told["text"] == "f.update().allow_race_conditions()"
    assert np.asarray(f.realize([32])).tolist() == np.argsort(ORDER).tolist()


def test_compile_that_demands_a_certificate_takes_the_users_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_CERTIFY", "1")
    f, r = permuted()
    f.update().allow_race_conditions().parallel(r.x)
    assert np.asarray(f.realize([32])).tolist() == np.argsort(ORDER).tolist()


def test_nothing_is_assumed_where_the_proof_succeeds() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 8)], "r")
    f[x] = 0
    f[2 * r.x] = r.x
    f.update().allow_race_conditions().parallel(r.x)
    assert assumed(f) == []
    assert certificate(f).ok
    assert np.asarray(f.realize([16])).tolist()[::2] == list(range(8))


def test_word_counts_for_the_stage_and_its_own_func_only() -> None:
    """A Func stored outside a parallel loop and computed inside it is refused as ever."""
    f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 8)], "r")
    g[x] = x * 3
    f[x] = 0
    f[x] += g[r.x + x]
    f.update().allow_race_conditions().reorder(x, r.x).parallel(r.x)
    g.compute_at(f, r.x).store_root()
    with pytest.raises(hl.ScheduleError, match="parallel"):
        f.certify()


def test_race_that_happens_is_seen_by_the_interpreter() -> None:
    f, r = total()
    f.update().allow_race_conditions().parallel(r.x)
    assert {r.claim.kind for r in assumed(f)} == {ClaimKind.RACE}
    with pytest.raises(RaceError):
        run_passes(f, [(0, 2)], after="fill")


def test_lanes_that_meet_write_no_other_memory() -> None:
    """The answer is left open; that memory stays memory is not."""
    f, r = total()
    f.update().allow_race_conditions().vectorize(r.x, 8)
    out = np.full(8, 77, np.int32)
    f.realize(hl.Buffer(out[2:4]))
    assert out[:2].tolist() == out[4:].tolist()[:2] == [77, 77]


def test_reduction_loop_without_the_users_word_is_refused_and_told_how() -> None:
    f, r = permuted()
    with pytest.raises(hl.ScheduleError, match=r"Before this line, .* f\.update\(\)\.allow_race_conditions\(\) takes"):
        f.update().parallel(r.x)
    f.update().allow_race_conditions()
    f.update().parallel(r.x)
    f.realize([32])


# -- unsafe_promise_clamped

TABLE = np.arange(10, dtype=np.int32) * 7


def looked_up(indices: np.ndarray, stored: bool = True) -> hl.Func:
    """table[indices[x]], through a Func of its own if ``stored``."""
    index, table = hl.ImageParam(hl.Int(32), 1, "index"), hl.ImageParam(hl.Int(32), 1, "table")
    index.set(indices.astype(np.int32))
    table.set(TABLE)
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = table[x] + 1
    at = hl.unsafe_promise_clamped(index[x], 0, 9)
    f[x] = g[at]
    if stored:
        g.compute_root().vectorize(x, 4)
    f.vectorize(x, 8)
    return f


@pytest.mark.parametrize("stored", [False, True])
def test_promise_bounds_a_region_and_is_assumed_at_its_line(stored: bool) -> None:
    indices = np.arange(40) % 10
    f = looked_up(indices, stored)
    assert certificate(f).ok
    found = assumed(f)
    assert {r.claim.kind for r in found} <= {ClaimKind.QUERY, ClaimKind.MEMORY, ClaimKind.COMPUTED, ClaimKind.REGION}
    assert found
    for r in found:
        (word,) = r.assumptions
        assert word.told == "unsafe_promise_clamped(…, 0, 9)"
        assert word.location.text == "at = hl.unsafe_promise_clamped(index[x], 0, 9)"
    assert np.asarray(f.realize([40])).tolist() == (TABLE[indices] + 1).tolist()
    assert f.evaluate([(0, 40)]).tolist() == (TABLE[indices] + 1).tolist()
    for outcome in run_passes(f, [(0, 40)]).values():
        assert outcome.result(0, [(0, 40)]).tolist() == (TABLE[indices] + 1).tolist()


def test_broken_promise_is_an_error_of_the_reference_at_its_line() -> None:
    f = looked_up(np.arange(40) % 11)
    with pytest.raises(hl.PromiseError, match=r"is 10, which does not lie in \[0, 9\]") as raised:
        f.evaluate([(0, 40)])
    assert raised.value.location.text == "at = hl.unsafe_promise_clamped(index[x], 0, 9)"
    assert f.evaluate([(0, 10)]).tolist() == (TABLE + 1).tolist(), "nobody asks for the points that break it"


def test_nothing_is_assumed_where_a_promise_is_not_needed() -> None:
    f, p = hl.Func("f"), hl.Param(hl.Int(32), "p", 3)
    table = hl.ImageParam(hl.Int(32), 1, "table")
    f[x] = table[hl.unsafe_promise_clamped(hl.clamp(x + p, 2, 9), 0, 9)]
    assert assumed(f) == []
    assert certificate(f).ok


def test_promise_about_coordinates_narrows_what_is_read() -> None:
    f = hl.Func("f")
    table = hl.ImageParam(hl.Int(32), 1, "table")
    table.set(TABLE)
    f[x] = table[hl.unsafe_promise_clamped(2 * x, 0, 9)]
    assert np.asarray(f.realize([5])).tolist() == TABLE[::2].tolist()
    assert certificate(f).ok
    assert assumed(f)


def test_promise_of_a_small_type_bounds_what_its_values_index() -> None:
    """A value that is stored, and read as an index elsewhere."""
    source, table = hl.ImageParam(hl.UInt(8), 1, "source"), hl.ImageParam(hl.Int(32), 1, "table")
    source.set(np.arange(16, dtype=np.uint8) % 10)
    table.set(TABLE)
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = hl.unsafe_promise_clamped(source[x], 0, 9)
    f[x] = table[hl.i32(g[x])]
    g.compute_root()
    assert np.asarray(f.realize([16])).tolist() == TABLE[np.arange(16) % 10].tolist()
    assert ClaimKind.VALUES in {r.claim.kind for r in assumed(f)}
    assert certificate(f).ok


def test_promise_of_floats_is_a_clamp() -> None:
    f = hl.Func("f")
    f[x] = hl.unsafe_promise_clamped(hl.f32(x), 1.0, 2.0)
    assert np.asarray(f.realize([4])).tolist() == f.evaluate([(0, 4)]).tolist() == [1.0, 1.0, 2.0, 2.0]


def test_promise_is_part_of_the_query_for_solvers() -> None:
    f = looked_up(np.arange(8) % 10)
    assert "sat" not in run(f.bounds_query().to_smtlib(answered=True))
