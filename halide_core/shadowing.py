"""The five packages have generic names: a user's own ``scheduling.py`` must not be taken for one of them.

In: where Python finds each sibling package. Out: nothing, or an ImportError that names the file to rename.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

SIBLINGS = ("scheduling", "bounds", "lowering", "runtime")


def check_siblings(home: Path, names: tuple[str, ...] = SIBLINGS) -> None:
    """Checks that each package that Python finds stands beside halide_core.

    Args:
        home: the folder that holds halide_core.

    Raises:
        ImportError: another file or folder of that name comes first.
    """
    for name in names:
        found = _found(name)
        if found is not None and not any(f.parent == home for f in found):
            raise ImportError(
                f'halide_core needs its own package "{name}" in {home}, but Python finds {found[0]} first. '
                f"Rename that file or folder, or take its folder off Python's path."
            )


def _found(name: str) -> list[Path] | None:
    """The package's folders, or its file where it is no package; None where there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a module that was put into sys.modules by hand
        return None
    if spec is None:
        return None
    if spec.submodule_search_locations is not None:
        return [Path(p).resolve() for p in spec.submodule_search_locations]
    return [Path(spec.origin).resolve()] if spec.origin else None
