"""The Generators of examples/generators/gallery.py, and no others, for as long as a block lasts.

In: ``with gallery(): …``. Out: what ``hl.main()`` and names of Generators find.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halide_core.generate import command_line, registry

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "examples" / "generators" / "gallery.py"


@contextmanager
def forgotten() -> Iterator[None]:
    """Generators that are made in the block are forgotten after it."""
    before, path = dict(registry._REGISTERED), list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        registry._REGISTERED.clear()
        registry._REGISTERED.update(before)


@contextmanager
def gallery() -> Iterator[None]:
    """The gallery's Generators."""
    with forgotten():
        registry._REGISTERED.clear()
        assert command_line.generate_from([str(GALLERY), "-help"]) == 0
        yield
