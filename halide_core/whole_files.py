"""Files that are there as a whole or as they were before: a full disk in the middle loses nothing.

    with replaced(Path("p.json")) as part:
        part.write_bytes(data)
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MODE = 0o644
"""The permissions of a new file."""


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A new file beside ``path``, for what it is to hold: it takes that place when all is written. What is no plain
    file, as a pipe, is written to itself.

    Raises: OSError; then ``path`` is as it was.
    """
    path = path.resolve()
    mode = path.stat().st_mode if path.exists() else stat.S_IFREG | _MODE
    if not stat.S_ISREG(mode):
        yield path
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(stat.S_IMODE(mode))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
