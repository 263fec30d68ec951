"""Requests of a Pipeline to the backend, seen with a backend that only takes notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.algorithm.model import Image
from halide_core.run import output_files, pipeline
from halide_core.run.backend import Argument, ArgumentKind, Box, Compiled, OutputKind, Question, Request
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")


class Noted:
    """A compiled pipeline that rounds windows up to 8 and stores x + 100*y."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.inputs: list[object] = []

    @property
    def arguments(self) -> tuple[Argument, ...]:
        found = []
        for s in self.request.inputs:
            image = isinstance(s, Image)
            kind = ArgumentKind.InputBuffer if image else ArgumentKind.InputScalar
            type, dims = (s.types[0], s.dimensions) if isinstance(s, Image) else (s.type, 0)
            found.append(Argument.of(kind, s.name, type, dims, s))
        outputs = [
            Argument.of(ArgumentKind.OutputBuffer, f.name, f.types[0], f.dimensions, f) for f in self.request.outputs
        ]
        return (*found, *outputs)

    def run(self, inputs: Sequence[object], outputs: Sequence[hl.Buffer]) -> None:
        self.inputs = list(inputs)
        for b in outputs:
            b.for_each_element(lambda p, b=b: b.__setitem__(tuple(p), p[0] + 100 * p[1]))  # type: ignore[misc]

    def query(self, inputs: Sequence[object], outputs: Sequence[Box]) -> tuple[list[Box | None], list[Box]]:
        around = tuple((low - 1, size + 2) for low, size in outputs[0])
        wider = [((box[0][0], -(-box[0][1] // 8) * 8), *box[1:]) for box in outputs]
        return [None if isinstance(i, hl.Buffer) else around for i in inputs], list(wider)


class Notes:
    """A backend."""

    def __init__(self) -> None:
        self.compiled: list[Noted] = []
        self.written: list[tuple[Request, dict[OutputKind, Path]]] = []

    def compile(self, request: Request) -> Compiled:
        self.compiled.append(Noted(request))
        return self.compiled[-1]

    def write(self, requests: Sequence[Request], files: dict[OutputKind, Path]) -> None:
        self.written.append((requests[0], files))

    def loop_nest(self, request: Request) -> str:
        return f"produce {request.name}:"

    def explain(self, request: Request, question: Question | None = None) -> str:
        return f"T0 of {request.name}" if question is None else f"{question.topic.value} {question.name}"

    def bounds_query(self, request: Request) -> str:
        return f"the query of {request.name}"


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notes]:
    found = Notes()
    for module in (pipeline, output_files):
        monkeypatch.setattr(module, "backend", lambda: found)
    yield found


def func(name: str = "f", value: object = 0) -> hl.Func:
    f = hl.Func(name)
    f[x, y] = value
    return f


def test_realize_crops_when_the_pipeline_writes_more(notes: Notes) -> None:
    b = func().realize([5, 3])
    assert isinstance(b, hl.Buffer)
    assert [(b.dim(i).min(), b.dim(i).extent(), b.dim(i).stride()) for i in (0, 1)] == [(0, 5, 1), (0, 3, 8)]
    assert b[4, 2] == 204


def test_realize_fills_when_buffers_are_given(notes: Notes) -> None:
    b = hl.Buffer(hl.Int(32), [2, 2])
    b.set_min([3, 4])
    assert func().realize(b) is None
    assert b[3, 4] == 403
    a = np.zeros((2, 3), np.int32)
    func().realize(a)
    assert a[1, 2] == 102
    hl.Pipeline([func("f"), func("g")]).realize([hl.Buffer(a), hl.Buffer(hl.Int(32), [2, 2])])
    assert len(hl.Pipeline([func("f"), func("g")]).realize([2, 2])) == 2  # type: ignore[arg-type]  # a tuple


def test_realize_error_when_the_destination_does_not_fit(notes: Notes) -> None:
    f = func()
    raised(hl.PipelineError, lambda: f.realize([3]), '"f"', "2 dimensions")
    raised(hl.PipelineError, lambda: f.realize([3, -1]), "negative")
    raised(hl.PipelineError, lambda: f.realize([3, 1.5]), "integers")  # type: ignore[arg-type]  # on purpose
    raised(hl.PipelineError, lambda: f.realize(3, 4), "realize([width, height])")  # type: ignore[arg-type]  # on purpose
    raised(hl.PipelineError, lambda: f.realize(np.zeros((2, 2), np.uint8)), "buffer f", "int32", "uint8")
    raised(hl.PipelineError, lambda: f.realize(np.zeros(2, np.int32)), "buffer f", "exactly 2 dimensions")
    raised(hl.PipelineError, lambda: f.realize([np.zeros((2, 2), np.int32)] * 2), "1 outputs")
    raised(hl.PipelineError, lambda: hl.Func("u").realize([1]), '"u"')
    assert notes.compiled == []


def test_realize_error_when_an_input_has_no_value(notes: Notes) -> None:
    p, ip = hl.Param(hl.Int(32), "p"), hl.ImageParam(hl.Int(32), 2, "ip")
    f = func(value=p + ip[x, y])
    raised(hl.PipelineError, lambda: f.realize([1, 1]), 'ImageParam "ip"', __file__)
    ip.set(np.zeros((1, 1), np.int32))
    raised(hl.PipelineError, lambda: f.realize([1, 1]), 'Param "p"', __file__)
    p.set(3)
    f.realize([1, 1])
    assert notes.compiled[0].inputs == [ip.get(), 3]


def test_compiled_code_is_kept_until_something_changes(notes: Notes) -> None:
    p = hl.Param(hl.Int(32), "p", 3)
    g = func("g", p)
    f = func("f", g[x, y])
    f.realize([1, 1])
    p.set(4)
    f.realize([2, 2])
    assert len(notes.compiled) == 1
    g.compute_root()
    f.realize([1, 1])
    assert len(notes.compiled) == 2
    p.set_range(0, 9)
    f.realize([1, 1])
    assert len(notes.compiled) == 3
    f.invalidate_cache()
    f.compile_jit()
    assert len(notes.compiled) == 4


def test_funcs_that_directives_made_are_part_of_what_is_compiled(notes: Notes) -> None:
    ip = hl.ImageParam(hl.Int(32), 2, "ip")
    ip.set(np.zeros((1, 1), np.int32))
    g = func("g", ip[x, y])
    f = func("f", g[x, y])
    of_func = g.in_(f)
    f.realize([1, 1])
    of_func.compute_root()
    f.realize([1, 1])
    of_input = ip.in_(g)
    f.realize([1, 1])
    of_input.compute_root()
    f.realize([1, 1])
    ip.trace_loads()
    f.realize([1, 1])
    f.realize([1, 1])
    assert len(notes.compiled) == 5


def test_requirements_of_a_pipeline_in_another_are_demanded(notes: Notes) -> None:
    p = hl.Param(hl.Int(32), "p", 3)
    inner = hl.Pipeline(func())
    inner.add_requirement(p > 1)
    both = hl.Pipeline([inner, func("g")])
    both.realize([1, 1])
    both.add_requirement(p > 2)
    both.realize([1, 1])
    inner.add_requirement(p < 9)
    both.realize([1, 1])
    both.realize([1, 1])
    assert [len(n.request.requirements) for n in notes.compiled] == [1, 2, 3]


def test_update_error_when_the_func_was_realized(notes: Notes) -> None:
    f = func()
    f.infer_arguments()
    f[0, 0] = 1
    f.realize([1, 1])
    raised(hl.DefinitionError, lambda: f.__setitem__((1, 1), 1), '"f"', __file__)


def test_arguments_when_inferred() -> None:
    a, b = hl.Param(hl.Int(32), "pz"), hl.Param(hl.Int(32), "pa")
    c, d = hl.ImageParam(hl.Int(32), 1, "zz"), hl.ImageParam(hl.Int(32), 1, "aa")
    embedded = hl.Buffer(np.zeros(3, np.int32), "data")
    f = func(value=a + c[x] + b + d[x] + embedded[x])
    assert [s.name for s in f.infer_arguments()] == ["aa", "zz", "pa", "pz"]


def test_names_with_dots_are_none_of_values_and_loops() -> None:
    image = hl.ImageParam(hl.Int(32), 1, "u.0")
    image.set(np.arange(6, dtype=np.int32) * 7)
    u, t, s, g = map(hl.Func, ("u", "t", "t.0", "t.s0"))
    inner = hl.Var("s0.x")
    u[x] = (image[x] + 1, image[x] * 2)
    t[x] = (u[x][0] + 1, u[x + 1][1])
    s[x] = t[x][0] + t[x][1]
    g[x] = s[x] * 3
    f = hl.Func("t")
    f[inner] = g[inner] + s[inner + 1]
    for each in (u, t, s):
        each.compute_root()
    g.compute_at(f, inner)
    assert np.array_equal(f.realize([3]), f.evaluate([3]))
    for got, wanted in zip(u.realize([4]), u.evaluate([4]), strict=True):
        assert np.array_equal(got, wanted)
    both = hl.Pipeline([t, s])
    for got, wanted in zip(both.realize([4]), (*t.evaluate([4]), s.evaluate([4])), strict=True):
        assert np.array_equal(got, wanted)


def test_arguments_error_when_names_are_not_distinct_or_one_is_missing(notes: Notes) -> None:
    a, b = hl.Param(hl.Int(32), "p"), hl.Param(hl.Int(32), "p")
    both = func(value=a + b)
    raised(hl.PipelineError, lambda: both.realize([1, 1]), 'called "p"')
    f, ip = func(value=a), hl.ImageParam(hl.Int(32), 1, "ip")
    raised(hl.PipelineError, lambda: f.compile_to_callable([ip]), '"p"', "ip")
    raised(hl.PipelineError, lambda: f.compile_to_callable([a, a]), "twice")
    raised(hl.PipelineError, lambda: f.compile_to_callable([3]), "3")  # type: ignore[list-item]  # on purpose


def test_callable_when_called(notes: Notes) -> None:
    p, ip = hl.Param(hl.UInt(8), "p"), hl.ImageParam(hl.Int(32), 2, "ip")
    data = hl.Buffer(np.zeros(3, np.int32), "data")
    c = func(value=p + ip[x, y] + data[x]).compile_to_callable([p, ip])
    image, out = np.zeros((2, 2), np.int32), np.zeros((2, 2), np.int32)
    c(3, image, out)
    assert out[1, 1] == 101
    seen = notes.compiled[0].inputs
    assert seen[0] == 3
    assert seen[2] is data
    c(p=np.uint8(3), f=out, ip=hl.Buffer(image))
    assert [a.name for a in c.arguments()] == ["p", "ip", "f"]
    raised(hl.PipelineError, lambda: c(3, image), "exactly 3 positional arguments, but saw 2; not given: f")
    raised(hl.PipelineError, lambda: c(3, ip=image), "Argument f was not specified")
    raised(hl.PipelineError, lambda: c(3, image, out, 4), "4")
    raised(hl.PipelineError, lambda: c(3, image, out, p=4), "Argument p specified multiple times")
    raised(hl.PipelineError, lambda: c(3, image, out, q=4), "'q' specified via keyword")
    raised(hl.TypeMismatchError, lambda: c(300, image, out), '"p"', "300")
    raised(hl.PipelineError, lambda: c(3, np.zeros((2, 2)), out), "Input buffer ip", "float64")
    raised(hl.PipelineError, lambda: c(3, image, np.zeros(2, np.int32)), "Output buffer f", "2 dimensions")
    raised(hl.PipelineError, lambda: c(3, 5, out), 'Input "ip"')


def test_files_when_written(notes: Notes) -> None:
    p = hl.Param(hl.Int(32), "p")
    f = func(value=p)
    f.compile_to_c("a.c", [p], "fn")
    f.compile_to_static_library("lib", [p])
    f.compile_to_file("obj", [p])
    f.compile_to_object("o.o", [p])
    f.compile_to_header("h.h", [p])
    f.compile_to_lowered_stmt("s.stmt", [p])
    assert [r.name for r, _ in notes.written] == ["fn", "f", "f", "f", "f", "f"]
    assert notes.written[1][1] == {OutputKind.STATIC_LIBRARY: Path("lib.a"), OutputKind.C_HEADER: Path("lib.h")}
    assert [list(files) for _, files in notes.written[2:]] == [
        [OutputKind.OBJECT, OutputKind.C_HEADER],
        [OutputKind.OBJECT],
        [OutputKind.C_HEADER],
        [OutputKind.STMT],
    ]
    raised(hl.PipelineError, lambda: f.compile_to_c("a.c", []), '"p"')
    raised(hl.PipelineError, lambda: f.compile_to_c("a.c", [p], "a b"), "a b")


def test_texts_when_asked_for(notes: Notes, capsys: pytest.CaptureFixture[str]) -> None:
    f = func()
    f.print_loop_nest()
    assert capsys.readouterr().out == "produce f:\n"
    assert f.explain() == "T0 of f"
    assert (f.explain(loop="x"), f.explain(allocation="g")) == ("loop x", "allocation g")
    assert f.explain(input="im") == "input im"
    raised(hl.PipelineError, lambda: f.explain(loop="x", input="im"), "one question at a time")
    assert f.bounds_query() == "the query of f"


def test_input_bounds_when_inferred(notes: Notes) -> None:
    ip, other = hl.ImageParam(hl.Int(32), 2, "ip"), hl.ImageParam(hl.Int(32), 2, "other")
    kept = np.zeros((9, 9), np.int32)
    other.set(kept)
    func(value=ip[x, y] + other[x, y]).infer_input_bounds([4, 5])
    bound = ip.get()
    assert bound is not None
    assert [(bound.dim(i).min(), bound.dim(i).extent()) for i in (0, 1)] == [(-1, 10), (-1, 7)]
    assert np.shares_memory(np.asarray(other.get()), kept)


def test_pipeline_when_constructed() -> None:
    f, g = func("f"), func("g")
    assert hl.Pipeline([f, g]).outputs() == [f, g]
    assert hl.Pipeline(f).defined()
    raised(hl.PipelineError, lambda: hl.Pipeline([f, f]), "twice")
    raised(hl.PipelineError, lambda: hl.Pipeline([]), "Func")


def test_evaluate_when_asked_for_the_reference() -> None:
    assert func(value=x + 10 * y).evaluate([(1, 2), 2]).tolist() == [[1, 2], [11, 12]]


def test_infer_input_bounds_of_an_input_that_is_read_beyond_its_own_extent() -> None:
    x, f, image = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.Float(32), 1, "in")
    f[x] = image[image.width()] + image[0]
    with pytest.raises(hl.PipelineError, match='No shapes of "in" hold what is read of them'):
        f.infer_input_bounds([1])


def test_pipeline_without_outputs_is_undefined() -> None:
    pipeline = hl.Pipeline()
    assert not pipeline.defined()
    assert pipeline.outputs() == []
    with pytest.raises(hl.PipelineError, match="is undefined"):
        pipeline.realize([1])
