"""The part of a cost that the model can't know: learned from measurements, by ridge regression.

In: what a candidate's cost is made of. Out: the logarithm of its time, up to a constant of its pipeline: enough to
order the candidates of one pipeline.

    log(time) = log(cycles) + weights · features

``weights.json`` was learned by ``python -m benchmarks.learn`` on random programs. A search goes on learning: what it
has measured pulls the weights towards what holds for its own pipeline.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from halide_core.autoschedule.cost import Cost
from halide_core.autoschedule.search import Found

Array: TypeAlias = "np.ndarray[Any, Any]"
WEIGHTS = Path(__file__).with_name("weights.json")
FEATURES = (*(each.name for each in fields(Cost)), "log_cycles")
"""The share that each item has of a cost, and the logarithm of the whole."""
_STIFF = 3.0
"""The trust of a search in the weights that it begins with, in candidates."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The features of a candidate, its cycles by the model, and its time."""

    features: Array
    cycles: float
    seconds: float


def features(found: Found) -> Array:
    """The features of a candidate, in the order of FEATURES."""
    cost = found.cost()
    items = [getattr(cost, each.name) for each in fields(Cost)]
    whole = sum(items) or 1.0
    return np.array([*(item / whole for item in items), math.log(max(1.0, found.cycles))])


def ridge(groups: Sequence[Sequence[Measurement]], towards: Array, stiffness: float) -> Array:
    """The weights that fit best: of each pipeline's candidates only the differences count.

    Args:
        towards: the weights that hold where nothing is known, and
        stiffness: how strongly.
    """
    rows: list[Array] = []
    left: list[Array] = []
    for group in groups:
        x = np.array([m.features for m in group])
        y = np.array([math.log(m.seconds) - math.log(max(1.0, m.cycles)) for m in group])
        rows.append(x - x.mean(axis=0))
        left.append(y - y.mean())
    a = np.concatenate(rows)
    b = np.concatenate(left) - a @ towards
    found: Array = towards + np.linalg.solve(a.T @ a + stiffness * np.eye(len(towards)), a.T @ b)
    return found


@cache
def learned_weights() -> Array:
    """The weights of the file, in the order of FEATURES."""
    known = json.loads(WEIGHTS.read_text(encoding="utf-8"))["weights"]
    return np.array([known[name] for name in FEATURES])


class Estimator:
    """Orders the candidates of one pipeline; measurements make it better."""

    def __init__(self) -> None:
        self._weights = learned_weights()
        self._known: list[Measurement] = []

    def estimate(self, found: Found) -> float:
        """The logarithm of a time, in no unit."""
        return math.log(max(1.0, found.cycles)) + float(features(found) @ self._weights)

    def learn(self, found: Found, seconds: float) -> None:
        """Takes a measurement into account."""
        self._known.append(Measurement(features(found), found.cycles, seconds))
        self._weights = ridge([self._known], learned_weights(), _STIFF)


def rank_correlation(ones: Sequence[float], others: Sequence[float]) -> float:
    """Spearman's coefficient: 1 where both order alike. Equal values share a rank."""
    a, b = _ranks(ones), _ranks(others)
    spread = float(a.std() * b.std())
    return float(((a - a.mean()) * (b - b.mean())).mean()) / spread if spread else 0.0


def _ranks(values: Sequence[float]) -> Array:
    array = np.asarray(values, float)
    return np.array([(array < v).sum() + ((array == v).sum() - 1) / 2 for v in array], float)
