"""What the tuner tunes: algorithms, their plain schedules, and the schedules to choose from.

In: an optuna trial. Out: a schedule, as a plain list of directives, each of which can be
applied to an algorithm's Funcs or printed as Python.

    Directive("blur", "vectorize", ("x", 16))   prints as   blur.vectorize(x, 16)

A space doesn't ask whether what it proposes is legal (``compute_at(blur, xo)`` where there is no ``xo``): the compiler
says so, which is cheap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import halide_core as hl

if TYPE_CHECKING:  # a candidate's process doesn't need it
    from optuna.trial import BaseTrial

Size = tuple[int, int]
"""Width and height of the output."""


@dataclass(frozen=True)
class Directive:
    """A call on a Func, or on ``f.update()``. A word among the arguments is a Func, Var or RDom of the algorithm, else
    the name of a new Var."""

    subject: str
    method: str
    arguments: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.subject}.{self.method}({', '.join(map(str, self.arguments))})"

    def apply(self, names: dict[str, Any]) -> None:
        """Makes the call."""
        func = names[self.subject.removesuffix(".update()")]
        stage = func.update() if self.subject.endswith(".update()") else func
        given = [self._resolved(a, names) for a in self.arguments]
        getattr(stage, self.method)(*given)

    @staticmethod
    def _resolved(argument: str | int, names: dict[str, Any]) -> Any:
        if not isinstance(argument, str):
            return argument
        return names[argument] if argument in names else hl.Var(argument)


Schedule = list[Directive]


@dataclass(frozen=True)
class Algorithm:
    """Funcs that are not scheduled yet. ``names`` holds all that a directive can speak of."""

    output: hl.Func
    inputs: list[hl.ImageParam]
    names: dict[str, Any]


@dataclass(frozen=True)
class Tunable:
    """A pipeline of the registry. ``extents`` and ``shapes`` (numpy's order) are those of the output and the inputs."""

    build: Callable[[], Algorithm]
    space: Callable[[BaseTrial], Schedule]
    plain: Schedule
    dtype: type[np.generic]
    size: Size
    extents: Callable[[int, int], list[int]]
    shapes: Callable[[int, int], list[tuple[int, ...]]]

    def arrays(self, size: Size) -> list[np.ndarray[Any, Any]]:
        """The same inputs in every process: all of uint16, or float32 in 0.1 ... 1.1."""
        random = np.random.default_rng(5)
        if self.dtype is np.uint16:
            return [random.integers(0, 1 << 16, s, np.uint16) for s in self.shapes(*size)]
        return [random.random(s, np.float32) + np.float32(0.1) for s in self.shapes(*size)]


def python_source(schedule: Schedule, known: dict[str, Any]) -> str:
    """A schedule to paste below the algorithm that ``known`` is the names of."""
    words = dict.fromkeys(a for d in schedule for a in d.arguments if isinstance(a, str) and a not in known)
    lines = ["import halide_core as hl", "", *(f'{w} = hl.Var("{w}")' for w in words), *map(str, schedule)]
    return "\n".join(lines) + "\n"


def _roots(*names: str) -> Schedule:
    return [Directive(n, "compute_root") for n in names]


def _computed(trial: BaseTrial, name: str, consumer: str, levels: Sequence[str]) -> tuple[str, Schedule]:
    """Where a Func is computed: inline, root, or a loop of the consumer."""
    level = trial.suggest_categorical(f"{name} at", levels)
    if level == "inline":
        return level, []
    if level != "root":
        return level, [Directive(name, "compute_at", (consumer, level))]
    threads = trial.suggest_categorical("parallel", [True, False])  # one answer for the whole trial
    return level, [Directive(name, "compute_root"), *([Directive(name, "parallel", ("y",))] if threads else [])]


def _vectors(trial: BaseTrial, name: str, widths: Sequence[int]) -> Schedule:
    width = trial.suggest_categorical(f"{name} vector", widths)
    return [Directive(name, "vectorize", ("x", width))] if width > 1 else []


def _picture_loops(trial: BaseTrial, name: str, widths: Sequence[int]) -> Schedule:
    """Tiles or strips of rows, vectors, threads of a picture."""
    columns = trial.suggest_categorical("tile columns", [0, 128, 256, 512])
    rows = trial.suggest_categorical("tile rows", [4, 8, 16, 32, 64, 128, 256])
    width = trial.suggest_categorical(f"{name} vector", widths)
    if columns:
        found = [Directive(name, "tile", ("x", "y", "xo", "yo", "xi", "yi", columns, rows))]
    else:
        found = [Directive(name, "split", ("y", "yo", "yi", rows))]
    if width > 1:
        found.append(Directive(name, "vectorize", ("xi" if columns else "x", width)))
    if trial.suggest_categorical("parallel", [True, False]):
        found.append(Directive(name, "parallel", ("yo",)))
    return found


# Blur: the mean of 3 by 3 in uint16, as in Halide's apps/blur. The input is two points larger each way.


def blur() -> Algorithm:
    """Across, then down."""
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(16), 2, "image")
    across, blur = hl.Func("across"), hl.Func("blur")
    across[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
    blur[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3
    return Algorithm(blur, [image], {"x": x, "y": y, "across": across, "blur": blur})


def blur_space(trial: BaseTrial) -> Schedule:
    """Tiles of the output; the first pass at any of its loops."""
    found = _picture_loops(trial, "blur", [1, 8, 16, 32, 64])
    level, where = _computed(trial, "across", "blur", ["inline", "root", "yo", "xo", "yi"])
    return found + where + ([] if level == "inline" else _vectors(trial, "across", [1, 8, 16, 32, 64]))


# Unsharp: Halide's apps/unsharp, float32 and three channels, edges repeated.


def unsharp() -> Algorithm:
    """Grey, a Gaussian of 7 taps down and across, the sharpened grey as a ratio, times each channel."""
    x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
    image = hl.ImageParam(hl.Float(32), 3, "image")
    padded, grey, down = hl.Func("padded"), hl.Func("grey"), hl.Func("down")
    across, ratio, unsharp = hl.Func("across"), hl.Func("ratio"), hl.Func("unsharp")
    raw = [math.exp(-i * i / (2 * 1.5 * 1.5)) for i in range(4)]
    taps = [float(np.float32(w / (raw[0] + 2 * sum(raw[1:])))) for w in raw]

    padded[x, y, c] = hl.BoundaryConditions.repeat_edge(image)[x, y, c]
    grey[x, y] = 0.299 * padded[x, y, 0] + 0.587 * padded[x, y, 1] + 0.114 * padded[x, y, 2]
    vertical = taps[0] * grey[x, y]
    for i in (1, 2, 3):
        vertical = vertical + taps[i] * (grey[x, y - i] + grey[x, y + i])
    down[x, y] = vertical
    horizontal = taps[0] * down[x, y]
    for i in (1, 2, 3):
        horizontal = horizontal + taps[i] * (down[x - i, y] + down[x + i, y])
    across[x, y] = horizontal
    ratio[x, y] = (2 * grey[x, y] - across[x, y]) / grey[x, y]
    unsharp[x, y, c] = ratio[x, y] * image[x, y, c]
    funcs = {f.name(): f for f in (padded, grey, down, across, ratio, unsharp)}
    return Algorithm(unsharp, [image], {"x": x, "y": y, "c": c, **funcs})


def unsharp_space(trial: BaseTrial) -> Schedule:
    """Tiles or strips of the output, its channels innermost or row by row; each Func at a loop or inline."""
    found = [Directive("unsharp", "bound", ("c", 0, 3))]
    innermost = trial.suggest_categorical("channels", ["points", "rows"]) == "points"
    found.append(Directive("unsharp", "reorder", ("c", "x", "y") if innermost else ("x", "c", "y")))
    found.append(Directive("unsharp", "unroll", ("c",)))
    found += _picture_loops(trial, "unsharp", [1, 8, 16, 32])
    width = trial.suggest_categorical("vector", [8, 16, 32])
    for name, levels in (
        ("ratio", ["inline", "yi"]),
        ("across", ["inline", "yi"]),
        ("down", ["root", "yo", "xo", "yi"]),
        ("grey", ["root", "yo", "xo", "yi"]),
        ("padded", ["inline", "root", "yo", "xo"]),
    ):
        level, where = _computed(trial, name, "unsharp", levels)
        found += where
        if level != "inline" and name in ("padded", "grey"):  # whose clamps vectors may be slow at
            found += _vectors(trial, name, [1, 8, 16])
        elif level != "inline":
            found.append(Directive(name, "vectorize", ("x", width)))
    return found


# Matrix product: float32, the sum over k in its order.


def matmul() -> Algorithm:
    """``matmul = a · b``; ``packed`` is a copy of ``b`` that a schedule can place."""
    x, y = hl.Var("x"), hl.Var("y")
    a, b = hl.ImageParam(hl.Float(32), 2, "a"), hl.ImageParam(hl.Float(32), 2, "b")
    k = hl.RDom([(0, a.dim(0).extent())], "k")
    packed, product, matmul = hl.Func("packed"), hl.Func("product"), hl.Func("matmul")
    packed[x, y] = b[x, y]
    product[x, y] = hl.f32(0)
    product[x, y] += a[k.x, y] * packed[x, k.x]
    matmul[x, y] = product[x, y]
    names = {"x": x, "y": y, "k": k, "packed": packed, "product": product, "matmul": matmul}
    return Algorithm(matmul, [a, b], names)


def matmul_space(trial: BaseTrial) -> Schedule:
    """Tiles of a few vectors by a few rows, by columns or by rows of tiles; the product of a tile in one place."""
    width = trial.suggest_categorical("vector", [4, 8, 16])
    columns = width * trial.suggest_categorical("tile vectors", [1, 2, 3, 4])
    rows = trial.suggest_categorical("tile rows", [1, 2, 4, 6, 8, 12])
    outermost = trial.suggest_categorical("outermost", ["xo", "yo"])
    found = [Directive("matmul", "tile", ("x", "y", "xo", "yo", "xi", "yi", columns, rows))]
    if outermost == "xo":
        found.append(Directive("matmul", "reorder", ("xi", "yi", "yo", "xo")))
    found.append(Directive("matmul", "vectorize", ("xi", width)))
    if trial.suggest_categorical("parallel", [True, False]):
        found.append(Directive("matmul", "parallel", (outermost,)))
    found += _computed(trial, "product", "matmul", ["xo", "yo"])[1]
    order = ("x", "y", "k") if trial.suggest_categorical("sum", ["outer", "inner"]) == "outer" else ("k", "x", "y")
    update = "product.update()"
    found += [
        Directive("product", "vectorize", ("x", width)),
        Directive(update, "reorder", order),
        Directive(update, "vectorize", ("x", width)),
    ]
    if trial.suggest_categorical("unroll", [True, False]):
        found += [Directive(s, "unroll", (v,)) for s in ("product", update) for v in ("x", "y")]
    level, where = _computed(trial, "packed", "matmul", ["inline", "root", "xo", "yo"])
    return found + where + ([] if level == "inline" else [Directive("packed", "vectorize", ("x", width))])


REGISTRY = {
    "blur": Tunable(
        blur, blur_space, _roots("across"), np.uint16, (2560, 1920),
        lambda w, h: [w, h], lambda w, h: [(h + 2, w + 2)],
    ),
    # The plain schedule leaves padded inline: it is faster so.
    "unsharp": Tunable(
        unsharp, unsharp_space, _roots("grey", "down", "across", "ratio"), np.float32, (1536, 2560),
        lambda w, h: [w, h, 3], lambda w, h: [(3, h, w)],
    ),
    "matmul": Tunable(
        matmul, matmul_space, _roots("product"), np.float32, (1024, 1024),
        lambda w, h: [w, h], lambda w, h: [(h, w), (w, w)],
    ),
}  # fmt: skip
