"""The sampler, which is optuna's, loaded where a search wants it: the extra "tune" installs it."""

from __future__ import annotations

from pathlib import Path

from halide_core.autoschedule.cost import CostModel
from halide_core.errors import NotAvailableError
from halide_core.tuning.proposals import ModelProposals, Proposals


def sampled(model: CostModel, own: ModelProposals, *, journal: Path | None, name: str, seed: int) -> Proposals:
    """The proposals of the model and the sampler.

    Raises:
        NotAvailableError: optuna is not installed.
    """
    try:
        from halide_core.tuning.study import StudyProposals  # noqa: PLC0415  # optuna takes a second to load
    except ModuleNotFoundError as missing:
        raise NotAvailableError(
            f"hl.tune() needs {missing.name}, which the extra \"tune\" installs: pip install 'halide-core[tune]'."
        ) from missing
    return StudyProposals(model, own, journal=journal, name=name, seed=seed)
