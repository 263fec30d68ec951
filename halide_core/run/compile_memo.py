"""The memo of a Func's or a Pipeline's last compile: a call is cheap as long as compiling again would give the same.

In: a request and what it was compiled to. Out: whether that still holds.

    f.realize([4]);  f.realize([4])   ->   compiled once;   f.vectorize(x, 4);  f.realize([4])   ->   compiled again
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core.algorithm.model import (
    Constraints,
    Function,
    Image,
    Requirement,
    ScalarParam,
    realization_order,
    with_made_funcs,
)
from halide_core.config import demands
from halide_core.run.backend import Compiled, Request


class Built:
    """A compiled pipeline, and what it was made of. Funcs were frozen then: their definitions can't change.

    What it was made of is noted before: another thread may change it while it is compiled.
    """

    __slots__ = ("_demands", "_directives", "_images", "_promises", "_ranges", "compiled", "request")

    def __init__(self, request: Request, compile: Callable[[Request], Compiled]) -> None:
        self.request = request
        functions = with_made_funcs(realization_order(request.outputs))
        self._directives = [(f, tuple(f.directives)) for f in functions]
        images = [i for i in request.inputs if isinstance(i, Image)]
        self._images = [(i, tuple(i.wrappers), i.traced) for i in images]
        self._ranges = [(p, p.low, p.high) for p in request.inputs if isinstance(p, ScalarParam)]
        self._promises = _promises(request)
        self._demands = demands()
        self.compiled = compile(request)

    def holds(self, outputs: tuple[Function, ...], required: tuple[Requirement, ...]) -> bool:
        """True where compiling these outputs now would give the same. ``required``: of every run, besides what their
        definitions require."""
        return (
            self.request.outputs == outputs
            and self.request.requirements[: len(required)] == required
            and demands() == self._demands
            and all(tuple(f.directives) == given for f, given in self._directives)
            and self._promises == _promises(self.request)
            and all(p.low is low and p.high is high for p, low, high in self._ranges)
            and all(tuple(i.wrappers) == made and i.traced is traced for i, made, traced in self._images)
        )


def _promises(request: Request) -> list[tuple[Constraints, int | None]]:
    """The promises about the inputs' and the outputs' buffers now."""
    buffers: list[Function | Image] = [*request.outputs, *(i for i in request.inputs if isinstance(i, Image))]
    return [(dict(b.constraints), b.alignment) for b in buffers]
