"""State of the whole process is as it was once nobody compiles."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from halide_core.debug import without_collections


@pytest.fixture(params=[True, False])
def collecting(request: pytest.FixtureRequest) -> Iterator[bool]:
    """A program that collects garbage, and one that does not."""
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield bool(request.param)
    (gc.enable if before else gc.disable)()


def test_collections_end_until_the_last_is_out(collecting: bool) -> None:
    with without_collections():
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is collecting


def test_collections_are_restored_after_an_error(collecting: bool) -> None:
    with pytest.raises(ZeroDivisionError), without_collections():
        raise ZeroDivisionError
    assert gc.isenabled() is collecting


class _Circle:
    """Something that only a collection finds."""

    def __init__(self) -> None:
        self.itself = self
        self.ballast = [[i] for i in range(50_000)]


def test_cycles_that_are_left_behind_do_not_pile_up() -> None:
    known: list[weakref.ref[_Circle]] = []
    for _ in range(40):
        with without_collections():
            known.append(weakref.ref(_Circle()))
    assert sum(r() is not None for r in known) < 20


def test_objects_that_somebody_keeps_apart_stay_apart() -> None:
    gc.freeze()
    try:
        with without_collections():
            pass
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
