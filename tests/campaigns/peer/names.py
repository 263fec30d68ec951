"""Halide's public names, what of them the differential test must use, and how much it does.

In: ``names.json`` (the names of Halide 21, by tier and class), and the names that equal cases used. Out: the percentage
for each tier, and the names that are missing.

    coverage([("hl", "select")])["core"].missing   ->   every other core name that is not excepted
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.campaigns.peer.watch import Name

# Names that this test doesn't answer for, with the reason. Classes whole, then names by class.
_CLASSES = {
    "generators and the command line": """ArgInfo Generator GeneratorContext GeneratorParam InputBuffer InputScalar
        OutputBuffer OutputScalar""",
    "autoschedulers": "AutoSchedulerResults AutoschedulerParams",
    "linking modules": "Module",
    "schedules (tests/scheduling)": "LoopLevel Stage EvictionKey",
}
_NAMES = {
    "generators and the command line": {
        "hl": """ArgInfo ArgInfoDirection ArgInfoKind Generator GeneratorContext GeneratorParam InputBuffer InputScalar
            OutputBuffer OutputScalar alias funcs generator main vars active_generator_context
            create_callable_from_generator _create_python_generator _generatorcontext_enter _generatorcontext_exit
            _get_python_generator_names""",
    },
    "autoschedulers": {
        "hl": "AutoSchedulerResults AutoschedulerParams load_plugin ArgumentEstimates",
        "Pipeline": "apply_autoscheduler",
    },
    "serialization": {"hl": "serialize_pipeline deserialize_pipeline deserialize_parameters"},
    "autodiff": {"hl": "propagate_adjoints Derivative"},
    "linking modules": {
        "hl": "Module link_modules compile_standalone_runtime LinkageType",
        "Func": "compile_to_module",
        "Pipeline": "compile_to_module",
    },
    "schedules (tests/scheduling)": {
        "hl": "LoopLevel LoopAlignStrategy MemoryType Partition PrefetchBoundStrategy EvictionKey Stage",
        "Func": """align_bounds align_extent align_storage allow_race_conditions always_partition always_partition_all
            async_ atomic bound bound_extent bound_storage clone_in compute_at compute_inline compute_root compute_with
            fold_storage fuse hoist_storage hoist_storage_root in_ memoize never_partition never_partition_all parallel
            partition prefetch rename reorder reorder_storage ring_buffer serial specialize specialize_fail split
            store_at store_in store_root tile unroll vectorize""",
        "ImageParam": "in_",
    },
    "device memory": {"hl": "DeviceAPI"},
}
TIERS = ("core", "advanced")


@dataclass(frozen=True)
class Coverage:
    """One tier: how many names count, and which of them no equal case uses."""

    counted: int
    missing: tuple[Name, ...]

    @property
    def percent(self) -> float:
        """The share that is used."""
        return 100.0 * (self.counted - len(self.missing)) / self.counted


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    table: dict[str, dict[str, list[str]]] = json.loads(
        (Path(__file__).parent / "names.json").read_text(encoding="utf-8")
    )
    return table


def by_class() -> dict[str, frozenset[str]]:
    """The names of each class, all tiers."""
    found: dict[str, frozenset[str]] = {}
    for tier in _table().values():
        for owner, names in tier.items():
            found[owner] = found.get(owner, frozenset()) | frozenset(names)
    del found["hl"]
    return found


def exceptions() -> dict[Name, str]:
    """Names that don't count, each with its reason."""
    found: dict[Name, str] = {}
    for reason, text in _CLASSES.items():
        for owner in text.split():
            for tier in _table().values():
                found.update({(owner, name): reason for name in tier.get(owner, ())})
    for reason, by_owner in _NAMES.items():
        for owner, text in by_owner.items():
            found.update({(owner, name): reason for name in text.split()})
    return found


def coverage(used: Iterable[Name]) -> dict[str, Coverage]:
    """For each tier how many of its names count, and which of them are not among ``used``."""
    excepted, seen = exceptions(), frozenset(used)
    result = {}
    for tier in TIERS:
        counted = [
            (owner, name)
            for owner, names in _table()[tier].items()
            for name in names
            if (owner, name) not in excepted
        ]
        result[tier] = Coverage(len(counted), tuple(n for n in counted if n not in seen))
    return result
