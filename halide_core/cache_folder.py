"""Where this user's cache is: what is found out once, and kept for other processes.

In: ``HL_CACHE_DIR`` (``""`` or ``0``: none) and ``HL_CACHE`` (``0``: none). Out: a folder, which need not exist.

    HL_CACHE_DIR=/tmp/c   ->   /tmp/c          nothing said   ->   ~/.cache/halide_core
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path | None:
    """The folder to use; None where no cache is wanted."""
    folder = os.environ.get("HL_CACHE_DIR")
    if os.environ.get("HL_CACHE") == "0" or folder in ("", "0"):
        return None
    if folder is not None:
        return Path(folder).expanduser()
    default = Path(platformdirs.user_cache_dir("halide_core"))
    return default if default.is_absolute() else None  # "~/.cache" where the user has no home
