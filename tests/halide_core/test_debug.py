"""What belongs to the whole process is as it was once nobody compiles."""

from __future__ import annotations

import gc
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
