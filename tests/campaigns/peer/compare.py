"""Comparison of two outcomes: types, shapes, exceptions, and values up to a number of ulps.

In: two trees (``outcome``) with the arrays that they name. Out: None, or a line that says what differs first.

    float32 1.0 and 1.0000001 within 2 ulp   ->   None
    error and buffer                         ->   "raises DefinitionError | gives buffer"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.campaigns.peer.outcome import Tree

_NO_SUCH_NAME = ("AttributeError", "ImportError", "NameError", "NotAvailableDirective", "NotAvailableError")
_SHOWN = 6
ArrayTable = Mapping[str, npt.NDArray[Any]]


class Comparison:
    """Compares our outcomes (``ours``, ``our_arrays``) with the peer's."""

    def __init__(self, our_arrays: ArrayTable, peer_arrays: ArrayTable, ulps: int) -> None:
        self._ours = our_arrays
        self._peers = peer_arrays
        self._ulps = ulps

    def difference(self, ours: Tree, peers: Tree) -> str | None:
        """The difference, ours first; None where nothing does. A name that is not there is no error like another."""
        if ours["kind"] != peers["kind"] or ours.get("class") in _NO_SUCH_NAME:
            return f"{_what(ours, self._ours)} | {_what(peers, self._peers)}"
        match ours["kind"]:
            case "error":
                return None
            case "crash":
                return "both crash"
            case "list":
                return self._lists(ours["items"], peers["items"])
            case "dict":
                if list(ours["items"]) != list(peers["items"]):
                    return f"keys {list(ours['items'])} | {list(peers['items'])}"
                return self._lists(list(ours["items"].values()), list(peers["items"].values()))
            case "float":
                a, b = (np.float64(float.fromhex(t["value"])) for t in (ours, peers))
                far = ulp_distance(np.array([a]), np.array([b]))[0] > self._ulps
                return f"{a!r} | {b!r}" if far else None
        return self._fields(ours, peers)

    def _lists(self, ours: list[Tree], peers: list[Tree]) -> str | None:
        if len(ours) != len(peers):
            return f"{len(ours)} items | {len(peers)} items"
        found = (self.difference(a, b) for a, b in zip(ours, peers, strict=True))
        return next((f"[{i}] {d}" for i, d in enumerate(found) if d is not None), None)

    def _fields(self, ours: Tree, peers: Tree) -> str | None:
        for key in ours:
            if key != "array" and ours[key] != peers.get(key):
                return f"{key} {ours[key]!r} | {peers.get(key)!r}"
        if "array" not in ours:
            return None
        return self._values(self._ours[ours["array"]], self._peers[peers["array"]])

    def _values(self, ours: npt.NDArray[Any], peers: npt.NDArray[Any]) -> str | None:
        if ours.shape != peers.shape or ours.dtype != peers.dtype:
            return f"array {ours.dtype}{ours.shape} | {peers.dtype}{peers.shape}"
        wrong = _distance(ours, peers) > self._ulps if ours.dtype.kind == "f" else ours != peers
        if not wrong.any():
            return None
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{int(wrong.sum())} of {wrong.size} values, first at {where}: {ours[where]!r} | {peers[where]!r}"


def _what(tree: Tree, arrays: ArrayTable) -> str:
    match tree["kind"]:
        case "error":
            return f"raises {tree['class']}: {_first_line(tree['message'])}"
        case "crash":
            return "crashes"
        case "plain" | "float":
            return f"gives {tree['value']!r}"
    told = f"gives {tree['kind']} of {tree['type']}" if "type" in tree else f"gives {tree['kind']}"
    return f"{told}: {_first_values(arrays[tree['array']])}" if "array" in tree else told


def _first_values(values: npt.NDArray[Any]) -> str:
    first = ", ".join(map(str, values.ravel()[:_SHOWN]))
    return f"{first} …" if values.size > _SHOWN else first


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:160]


def _distance(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """``ulp_distance``; of pairs of float64s that came from float32s, in steps of those."""
    far = ulp_distance(a, b)
    if a.dtype != np.float64:
        return far
    with np.errstate(over="ignore"):
        narrow = [values.astype(np.float32) for values in (a, b)]
    converted = (narrow[0] == a) & (narrow[1] == b)
    return np.where(converted, ulp_distance(*narrow), far)


def ulp_distance(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The number of steps of the format between each pair; 0 for two NaNs, infinite for a NaN and a number.

    Zeros of the two signs are 0 apart.
    """
    integer = np.dtype(f"i{a.dtype.itemsize}")
    least = np.iinfo(integer).min

    def ordered(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        bits = np.ascontiguousarray(values).view(integer)
        # Negative numbers count down from zero, as the positive ones count up.
        return np.where(bits < 0, least - bits, bits)

    p, q = ordered(a), ordered(b)
    apart = np.abs(p.astype(np.float64) - q.astype(np.float64))
    # float64 loses small differences of large numbers: where both have one sign, integers can't overflow.
    same_sign = (p < 0) == (q < 0)
    exact = np.abs(np.where(same_sign, p, 0) - np.where(same_sign, q, 0)).astype(np.float64)
    apart = np.where(same_sign, exact, apart)
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    distance: npt.NDArray[np.float64] = np.where(nan_a & nan_b, 0.0, np.where(nan_a ^ nan_b, np.inf, apart))
    return distance
