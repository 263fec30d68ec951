"""Generators: what their classes declare, what instances have, and what they become."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.generate import registry
from tests.support.checking import check_reference, numbers, same, variables
from tests.support.gallery import forgotten

x, y = variables("x y")
HOST = hl.Target("host")


@pytest.fixture(autouse=True)
def names() -> Iterator[None]:
    """Generators that a test makes are forgotten after it."""
    with forgotten():
        yield


def made() -> Any:
    @hl.alias(tripled={"factor": 3})
    @hl.generator("scaled")
    class Scaled:
        factor = hl.GeneratorParam(2)
        name = hl.GeneratorParam("none")
        exact = hl.GeneratorParam(False)
        part = hl.GeneratorParam(0.5)
        kind = hl.GeneratorParam(hl.UInt(8))
        source = hl.InputBuffer(hl.UInt(8), 2)
        bias = hl.InputScalar(int)
        out = hl.OutputBuffer(hl.Int(32), 2)

        def generate(self: Any) -> None:
            self.out[x, y] = hl.i32(self.source[x, y]) * self.factor + self.bias
            self.out.vectorize(x, self.natural_vector_size(int), hl.TailStrategy.GuardWithIf)

    return Scaled


def ran(generator: Any, source: Any, bias: int) -> Any:
    out = np.zeros(source.shape, np.int32)
    generator.compile_to_callable()(source, bias, out)
    return out


def test_callable_computes_what_generate_defines() -> None:
    source = numbers((5, 7), np.uint8)
    same(ran(made()({"factor": 5}), source, -3), source.astype(np.int32) * 5 - 3)


def test_members_are_plain_values_params_and_funcs() -> None:
    generator = made()({"factor": "7", "exact": "true", "part": "0.25", "kind": "int16", "name": 3})
    assert (generator.factor, generator.exact, generator.part) == (7, True, 0.25)
    assert (generator.kind, generator.name) == (hl.Int(16), "3")
    assert (type(generator.source), type(generator.bias), type(generator.out)) == (hl.ImageParam, hl.Param, hl.Func)
    assert (generator.source.name(), generator.bias.name(), generator.out.name()) == ("source", "bias", "out")
    assert (generator.out.types(), generator.out.dimensions()) == ([hl.Int(32)], 2)
    for name in ("factor", "source", "bias", "out"):
        with pytest.raises(AttributeError, match=f"Invalid write to field '{name}'"):
            setattr(generator, name, 3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"factor": "3.5"}, 'GeneratorParam "factor" is an integer, not'),
        ({"factor": 3.5}, 'GeneratorParam "factor" is an integer, not 3.5'),
        ({"exact": "maybe"}, 'GeneratorParam "exact" is true or false'),
        ({"part": "half"}, 'GeneratorParam "part" is a number'),
        ({"kind": "uint7"}, '"uint7" names no type; these do: bool, bfloat16, int8'),
        ({"kind": "uint8,uint8"}, 'GeneratorParam "kind" is a type'),
        ({"fctor": 3}, "no GeneratorParam 'fctor'; it has factor, name, exact, part, kind"),
        ({"source.type": "uint8"}, '"source.type" can\'t be set: the class declares it'),
        ({"out.dim": "2"}, '"out.dim" can\'t be set'),
        ({"target": "host"}, "no GeneratorParam 'target'"),
        (3, "generator_params must be a dict"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(given: Any, told: str) -> None:
    with pytest.raises(hl.DefinitionError, match=told):
        made()(given)


def test_alias_has_its_parameters_and_a_name_of_its_own() -> None:
    made()
    source = numbers((3, 4), np.uint8)
    same(ran(registry.create("tripled", hl.GeneratorContext(HOST)), source, 1), source.astype(np.int32) * 3 + 1)
    same(ran(registry.create("tripled", hl.GeneratorContext(HOST), {"factor": 4}), source, 1), source * np.int32(4) + 1)
    assert registry.names()[-2:] == ["scaled", "tripled"]


def test_callable_is_made_by_name() -> None:
    made()
    source, out = numbers((3, 4), np.uint8), np.zeros((3, 4), np.int32)
    hl.create_callable_from_generator(HOST, "scaled", {"factor": "9"})(source=source, bias=2, out=out)
    same(out, source.astype(np.int32) * 9 + 2)
    hl.create_callable_from_generator(hl.GeneratorContext(HOST), "tripled")(source, 2, out)
    same(out, source.astype(np.int32) * 3 + 2)
    with pytest.raises(hl.DefinitionError, match='no Generator "scald"; there is scaled'):
        hl.create_callable_from_generator(HOST, "scald")


def test_open_types_and_dimensions_are_parameters() -> None:
    @hl.generator("open")
    class Open:
        source, out = hl.InputBuffer(None, None), hl.OutputBuffer(None, None)
        several = hl.OutputBuffer(None, 1)

        def generate(self: Any) -> None:
            self.out[hl._] = hl.cast(self.out.type(), self.source[hl._])
            self.several[x] = tuple(hl.cast(t, x) for t in self.several.types())

    given = {"source.type": "uint16", "source.dim": "3", "out.type": hl.Float(32), "out.dim": 3}
    generator: Any = Open({**given, "several.type": "int8,int64"})
    assert (generator.source.type(), generator.source.dimensions()) == (hl.UInt(16), 3)
    assert generator.several.types() == [hl.Int(8), hl.Int(64)]
    source, out = numbers((2, 3, 4), np.uint16), np.zeros((2, 3, 4), np.float32)
    generator.compile_to_callable()(source, out, np.zeros(4, np.int8), np.zeros(4, np.int64))
    same(out, source.astype(np.float32))
    with pytest.raises(hl.DefinitionError, match=r'No type .* "several", .*set the parameter "several\.type"'):
        Open(given)
    with pytest.raises(hl.DefinitionError, match='No number of dimensions is set of "out"'):
        Open({"source.type": "uint16", "source.dim": "3", "out.type": "int8"})
    with pytest.raises(hl.DefinitionError, match=r'"out\.dim" is a number of dimensions, not .two.'):
        Open({**given, "out.dim": "two"})


def test_configure_adds_inputs_and_outputs() -> None:
    @hl.generator("summing")
    class Summing:
        count = hl.GeneratorParam(2)
        scale = hl.InputScalar(int)

        def configure(self: Any) -> None:
            for k in range(self.count):
                self.add_input(f"in_{k}", hl.InputBuffer(int, 1))
                self.add_output(f"out_{k}", hl.OutputBuffer(int, 1))

        def generate(self: Any) -> None:
            total = hl.Expr(0)
            for k in range(self.count):
                total = total + getattr(self, f"in_{k}")[x]
                getattr(self, f"out_{k}")[x] = total * self.scale

    source = [numbers((6,), np.int32) % 1000 for _ in range(3)]
    outs = [np.zeros(6, np.int32) for _ in range(3)]
    generator: Any = Summing({"count": 3})
    assert [a.name for a in generator._get_arginfos()] == "scale in_0 in_1 in_2 out_0 out_1 out_2".split()
    generator.compile_to_callable()(10, *source, *outs)
    for out, total in zip(outs, np.cumsum(source, axis=0, dtype=np.int32), strict=True):
        same(out, total * np.int32(10))


def test_call_gives_funcs_to_go_on_with() -> None:
    scaled = made()
    image, bias = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Param(hl.Int(32), "by", 4)
    picture = numbers((4, 6), np.uint8)
    f = hl.Func("f")
    a, b = scaled.call(image, bias), scaled.call(image, bias=5, generator_params={"factor": 3})
    a.compute_root()
    b.compute_at(f, y)
    f[x, y] = a[x, y] + b[x, y]
    image.set(picture)
    result = np.asarray(f.realize([6, 4]))
    same(result, picture.astype(np.int32) * 5 + 9)
    check_reference(f, [6, 4], result)


def test_call_takes_funcs_buffers_and_expressions() -> None:
    scaled, picture = made(), numbers((4, 6), np.uint8)
    twice = hl.Func("twice")
    twice[x, y] = hl.u8(x * 2 + y)
    of_func = np.asarray(scaled.call(twice, hl.Expr(1) + 2).realize([6, 4]))
    rows, columns = np.mgrid[0:4, 0:6]
    same(of_func, ((columns * 2 + rows) * 2 + 3).astype(np.int32))
    # Two calls with data of their own don't get in each other's way.
    first, second = scaled.call(hl.Buffer(picture), 1), scaled.call(hl.Buffer(picture[::-1].copy()), 2)
    f = hl.Func("f")
    f[x, y] = first.compute_root()[x, y] - second.compute_root()[x, y]
    same(np.asarray(f.realize([6, 4])), (picture.astype(np.int32) - picture[::-1]) * 2 - 1)


@pytest.mark.parametrize(
    ("args", "named", "told"),
    [
        ((1, 2, 3), {}, "allows at most 2 positional args, but 3 were"),
        ((), {"bias": 1}, "requires 2 args, but 1 were specified. Not given: source"),
        ((), {"sauce": 1}, "Unknown input 'sauce' specified via keyword argument: .* has source, bias"),
        ((hl.Buffer(hl.UInt(8), [2, 2]), 3), {"bias": 1}, "Input bias specified multiple times"),
        ((5, 3), {}, "Input source requires an ImageParam or Buffer argument, or a Func, not 5"),
        ((hl.Buffer(hl.Int(8), [2, 2]), 3), {}, '"source" is of uint8, not of int8'),
        ((hl.Buffer(hl.UInt(8), [2]), 3), {}, '"source" has 2 dimensions, not 1'),
        ((hl.Buffer(hl.UInt(8), [2, 2]), 1 << 40), {}, "is not a value of int32"),
        ((hl.Buffer(hl.UInt(8), [2, 2]), hl.Expr(1.0)), {}, '"bias" is of int32, not of float32'),
        ((hl.Buffer(hl.UInt(8), [2, 2]), "many"), {}, r"Input bias requires a Param \(or scalar literal\) argument"),
    ],
)
def test_call_refuses_inputs_that_do_not_fit(args: Any, named: Any, told: str) -> None:
    with pytest.raises(hl.DefinitionError, match=told):
        made().call(*args, **named)


def test_context_is_the_target_of_what_is_made_inside() -> None:
    scaled = made()
    old = hl.Target("x86-64-linux-sse41")
    with pytest.raises(hl.DefinitionError, match="There is no active GeneratorContext"):
        hl.active_generator_context()
    with hl.GeneratorContext(old, hl.AutoschedulerParams("some", {"a": "1"})) as context:
        assert hl.active_generator_context() is context
        with hl.GeneratorContext(HOST):
            assert scaled().target() == HOST
        generator = scaled()
    assert generator.target() == old
    assert generator.natural_vector_size(hl.UInt(8)) == 16 and generator.natural_vector_size(float) == 4
    assert generator.using_autoscheduler() and generator.autoscheduler().extra == {"a": "1"}
    assert not scaled().using_autoscheduler()
    chosen = scaled({"autoscheduler": "Mullapudi2016", "autoscheduler.parallelism": 8, "factor": 3})
    assert chosen.using_autoscheduler() and chosen.autoscheduler().extra == {"parallelism": "8"}
    taken = pytest.raises(hl.DefinitionError, match='has the autoscheduler "some"')
    with hl.GeneratorContext(HOST, hl.AutoschedulerParams("some")), taken:
        scaled({"autoscheduler": "other"})
    with pytest.raises(hl.ScheduleError, match='There is no autoscheduler "some"'):
        generator.compile_to_callable()


def test_generator_made_inside_of_another_has_its_target() -> None:
    found = []

    @hl.generator("inner")
    class Inner:
        out = hl.OutputScalar(int)

        def generate(self: Any) -> None:
            found.append(self.target())
            self.out[()] = 3

    @hl.generator("outer")
    class Outer:
        out = hl.OutputScalar(int)

        def generate(self: Any) -> None:
            self.out[()] = Inner.call()[()] + 1

    old = hl.Target("x86-64-linux-sse41")
    with hl.GeneratorContext(old):
        generator: Any = Outer()
    out = np.zeros((), np.int32)
    generator.compile_to_callable()(out)
    assert out[()] == 4 and found == [old]


def test_requirements_are_checked_when_it_runs() -> None:
    @hl.generator("strict")
    class Strict:
        n = hl.InputScalar(int)
        out = hl.OutputScalar(int)

        def generate(self: Any) -> None:
            self.add_requirement(self.n > 2, "n is", self.n)
            self.out[()] = self.n

    run, out = Strict().compile_to_callable(), np.zeros((), np.int32)
    run(3, out)
    with pytest.raises(hl.PipelineError, match="n is 1"):
        run(1, out)


def test_base_class_gives_its_members_first() -> None:
    class Common(hl.Generator):
        radius = hl.GeneratorParam(1)
        source = hl.InputBuffer(int, 1)

    @hl.generator("derived")
    class Derived(Common):
        other = hl.InputScalar(int)
        out = hl.OutputBuffer(int, 1)

        def generate(self: Any) -> None:
            self.out[x] = self.source[x] + self.other * self.radius

    assert [a.name for a in Derived()._get_arginfos()] == ["source", "other", "out"]


def body(**members: Any) -> type:
    def generate(self: Any) -> None:
        self.out[x] = 3

    return type("Made", (), {"out": hl.OutputBuffer(int, 1), "generate": generate, **members})


def adds_late(self: Any) -> None:
    self.add_input("late", hl.InputScalar(int))


@pytest.mark.parametrize(
    ("of", "told"),
    [
        (body(out=3), "must declare an output"),
        (body(_hidden=hl.InputScalar(int)), '"_hidden" can\'t be the name'),
        (body(a__b=hl.GeneratorParam(3)), '"a__b" can\'t be the name'),
        (body(generator_params=hl.GeneratorParam(3)), '"generator_params" can\'t be the name'),
        (body(generate=lambda self: None), 'does not define the output "out"'),
        (body(generate=adds_late), "add_input\\(\\) can be called in configure\\(\\) only"),
        (body(configure=lambda self: self.add_input("out", hl.InputScalar(int))), "has an attribute of this name"),
        (body(configure=lambda self: self.add_output("more", hl.InputScalar(int))), "can't take"),
        (body(out=hl.OutputBuffer(int, 2)), 'Func "out" is constrained to have exactly 2 dimensions'),
        (body(out=hl.OutputBuffer(float, 1)), 'Func "out" is constrained to only hold values of type float32'),
    ],
)
def test_classes_that_are_no_generators_are_refused(of: type, told: str) -> None:
    with pytest.raises(hl.DefinitionError, match=told):
        hl.generator("wrong")(of)().compile_to_callable()


def test_input_after_an_output_is_warned_of() -> None:
    of = hl.generator("late")(body(other=hl.InputScalar(int)))
    with pytest.warns(hl.HalideWarning, match='declares the input "other" after an output'):
        of()
    quiet = body(other=hl.InputScalar(int), allow_out_of_order_inputs_and_outputs=lambda self: True)
    hl.generator("quiet")(quiet)()


def test_names_are_registered_once() -> None:
    made()
    with pytest.raises(hl.DefinitionError, match='"scaled" is already in use'):
        made()
    with pytest.raises(hl.DefinitionError, match=r"stands above @hl\.generator"):
        hl.alias(other={})(body())  # type: ignore[arg-type]  # on purpose
    with pytest.raises(hl.DefinitionError, match="decorates a class"):
        hl.generator("f")(3)  # type: ignore[type-var]  # on purpose
    with pytest.raises(hl.DefinitionError, match="is a dict of parameters"):
        hl.alias(other=3)(hl.generator("a_class")(body()))  # type: ignore[arg-type]  # on purpose
    assert hl.generator()(body())._halide_registered_name.endswith("test_generator.Made")


def test_abstract_class_has_no_instances() -> None:
    with pytest.raises(TypeError, match="abstract"):
        hl.generator("nothing")(type("Nothing", (), {"out": hl.OutputBuffer(int, 1)}))()


@pytest.mark.parametrize("value", [None, [1], (1, 2), int])
def test_values_that_are_no_parameters_are_refused(value: Any) -> None:
    with pytest.raises(hl.DefinitionError, match="A GeneratorParam is a bool"):
        hl.GeneratorParam(value)


def test_declarations_have_nothing_of_their_own() -> None:
    with pytest.raises(hl.DefinitionError, match="An InputBuffer has a source only in configure"):
        hl.InputBuffer(int, 2)[x, y]
    with pytest.raises(hl.DefinitionError, match="A type of numbers such as"):
        hl.InputScalar(str)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(hl.DefinitionError, match="must be an integer or None"):
        hl.InputBuffer(int, 1.5)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(hl.DefinitionError, match="An input of a Generator has one type"):
        hl.InputBuffer([int, float], 1)
