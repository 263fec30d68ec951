"""Serialized pipelines: what is read is what was written, and damage is told of."""

from __future__ import annotations

import copy
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.generate import registry
from halide_core.serialize.pipeline import VERSION, _checksum
from tests.support.checking import image, numbers, same, variables
from tests.support.gallery import gallery

x, y, xo, yo, xi, yi, u = variables("x y xo yo xi yi u")
GUARD = hl.TailStrategy.GuardWithIf


def stencil() -> hl.Func:
    """Tiles, vectors, threads, a slid producer, a wrapper of an input, a specialization."""
    source = image(numbers((20, 30), np.uint16), "source")
    padded = hl.BoundaryConditions.repeat_edge(source)
    across, f = hl.Func("across"), hl.Func("smooth")
    across[x, y] = (padded[x - 1, y] + padded[x, y] * 2 + padded[x + 1, y]) / 4
    f[x, y] = across[x, y - 1] + across[x, y + 1]
    f.tile(x, y, xo, yo, xi, yi, 8, 4, GUARD).vectorize(xi, 4, GUARD).parallel(yo)
    f.specialize(source.width() > 10).unroll(yi)
    across.store_at(f, xo).compute_at(f, yi).vectorize(x, 4)
    source.in_(padded).compute_at(f, xo)
    source.dim(0).set_stride(1)
    source.set_estimates([(0, 30), (0, 20)])
    return f


def reduction() -> hl.Func:
    """Updates over domains with predicates, rfactor, Params with ranges."""
    p = hl.Param(hl.Int(32), "p", 7)
    p.set_range(-10, 10)
    source = image(numbers((6, 12), np.int32) % 100, "source")
    r = hl.RDom([(0, 12), (0, 6)], "r")
    r.where(r.x != r.y)
    f = hl.Func("total")
    f[()] = p
    f[()] += source[r.x, r.y]
    f.update().rfactor(r.y, u).compute_root().update().vectorize(u, 2)
    g = hl.Func("rows")
    s = hl.RDom([(1, 9)], "s")
    g[x] = hl.select(x == 0, f[()], 0)
    g[s] = g[s - 1] + s
    f.compute_root()
    return g


def tuples() -> hl.Func:
    """Several values at a point, of narrow floats too; a Buffer in the definition; strings; a requirement."""
    table = hl.Buffer(numbers((5, 3), np.float32), "table")
    table.set_min([-1, 2])
    p = hl.Param(hl.Float(32), "gain", 0.1)
    f = hl.Func("pair")
    value = table[hl.clamp(x, -1, 1), hl.clamp(y, 2, 6)] * p
    f[x, y] = (hl.require(p > 0.0, value, "gain is", p), hl.cast(hl.Float(16), value))
    f[x, 0] = (f[x, 0][0] + 1.0, f[x, 0][1])
    f.vectorize(x, 8, GUARD).update().unroll(x, 2, GUARD)
    return f


def mathematics() -> hl.Func:
    f, g = hl.Func("f"), hl.Func("g")
    z = hl.f64(x) * 0.3 + hl.f64(y)
    g[x, y] = hl.sin(z) + hl.pow(hl.abs(z), 1.5) + hl.f64(hl.u8(x) >> 1) - hl.f64(hl.reinterpret(hl.Int(64), z) & 7)
    f[x, y] = g[x, y] + g[x + 1, y] + hl.f64(hl.is_nan(z)) * float("inf")
    g.compute_at(f, y).fold_storage(x, 64).align_storage(x, 8)
    h = hl.Func("h")
    h[x, y] = f[x, y] + g[x, y]
    g.store_root()
    f.compute_root().bound(y, 0, 6).prefetch(g, y, y, 2)
    g.clone_in(h).compute_root()
    return h


def together() -> hl.Func:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x, y] = x * y
    g[x, y] = x + y
    h[x, y] = f[x, y] + g[x, y]
    f.compute_root()
    g.compute_root().compute_with(f, y, [(y, hl.LoopAlignStrategy.AlignEnd)])
    return h


PIPELINES: dict[str, tuple[Callable[[], hl.Func], list[int]]] = {
    "stencil": (stencil, [30, 20]),
    "reduction": (reduction, [10]),
    "tuples": (tuples, [11, 7]),
    "mathematics": (mathematics, [12, 6]),
    "together": (together, [5, 4]),
}


@pytest.mark.filterwarnings("ignore::halide_core.errors.HalideWarning")
@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline_is_the_same_again(name: str) -> None:
    make, window = PIPELINES[name]
    f = make()
    data, own = hl.serialize_pipeline(f, get_params=True)
    params = hl.deserialize_parameters(data)
    again = hl.deserialize_pipeline(data, params)
    assert again.loop_nest() == f.loop_nest()
    for p in own:
        if own[p].is_buffer():
            buffer = own[p].buffer()
            assert buffer is not None
            params[p].set_buffer(buffer)
    wanted, found = f.realize(window), again.realize(window)
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (wanted, found)), strict=True):  # type: ignore[misc]
        same(np.asarray(b), np.asarray(a))
    new = hl.deserialize_pipeline(data)
    assert hl.serialize_pipeline(new) == data
    assert [a.name for a in new.infer_arguments()] == [a.name for a in f.infer_arguments()]


def test_input_has_the_wrappers_of_one_pipeline() -> None:
    f = stencil()
    data, own = hl.serialize_pipeline(f, get_params=True)
    with pytest.raises(hl.DefinitionError, match=r'in_\(\) made of the input "source", and so has the one given'):
        hl.deserialize_pipeline(data, own)
    assert f.realize([30, 20]) is not None


@pytest.mark.filterwarnings("ignore::halide_core.errors.HalideWarning")
def test_gallery_is_the_same_again() -> None:
    parameters: dict[str, dict[str, object]] = {
        "convert": {"source.type": "uint8", "source.dim": 2, "out.type": "float32", "out.dim": 2}
    }
    with gallery():
        for name in registry.names():
            pipeline = registry.find(name)(parameters.get(name))._build_pipeline()
            data = hl.serialize_pipeline(pipeline)
            again = hl.deserialize_pipeline(data)
            assert hl.serialize_pipeline(again) == data
            assert again.loop_nest() == pipeline.loop_nest()


def simple() -> tuple[hl.Func, hl.ImageParam, hl.Param]:
    source, k, f = hl.ImageParam(hl.UInt(8), 1, "source"), hl.Param(hl.Int(32), "k", 3), hl.Func("f")
    f[x] = hl.i32(source[x]) + k
    return f, source, k


def test_inputs_are_given_by_name() -> None:
    f, source, k = simple()
    data, params = hl.serialize_pipeline(hl.Pipeline(f), get_params=True)
    assert sorted(params) == ["k", "source"] and params["k"].same_as(k.parameter())
    new = hl.deserialize_parameters(data)
    assert {name: (p.is_buffer(), p.type()) for name, p in new.items()} == {
        "k": (False, hl.Int(32)), "source": (True, hl.UInt(8)),
    }
    assert new["k"].scalar() == 3
    pipeline = hl.deserialize_pipeline(data, new)
    new["source"].set_buffer(hl.Buffer(np.arange(8, dtype=np.uint8)))
    new["k"].set_scalar(10)
    same(np.asarray(pipeline.realize([8])), np.arange(10, 18, dtype=np.int32))
    source.set(np.arange(8, dtype=np.uint8))
    pipeline = hl.deserialize_pipeline(data, {"source": source, "k": k})
    same(np.asarray(pipeline.realize([8])), np.arange(3, 11, dtype=np.int32))
    with pytest.raises(hl.PipelineError, match=r'ImageParam "source".*has no data'):
        hl.deserialize_pipeline(data).realize([8])
    with pytest.raises(hl.DefinitionError, match='The input "k" of the pipeline is a scalar of int32, which'):
        hl.deserialize_pipeline(data, {"k": hl.Param(hl.Float(32))})
    with pytest.raises(hl.DefinitionError, match='"source" of the pipeline is a buffer of 1 dimensions of uint8'):
        hl.deserialize_pipeline(data, {"source": hl.ImageParam(hl.UInt(8), 2)})


def test_files_are_written_and_read(tmp_path: Path) -> None:
    f, _, _ = simple()
    plain, readable = tmp_path / "f.hlpipe", tmp_path / "f.json"
    assert hl.serialize_pipeline(f, plain) is None
    assert sorted(hl.serialize_pipeline(f, str(readable), get_params=True)) == ["k", "source"]
    assert plain.read_bytes() == hl.serialize_pipeline(f)
    assert json.loads(readable.read_text()) == json.loads(plain.read_text())
    assert len(readable.read_text().splitlines()) > 90
    for path in (plain, str(readable)):
        assert hl.serialize_pipeline(hl.deserialize_pipeline(path)) == plain.read_bytes()
        assert sorted(hl.deserialize_parameters(filename=path)) == ["k", "source"]
    f.compile_to({hl.OutputFileType.hlpipe: str(tmp_path / "g.hlpipe")}, f_arguments(f))
    assert hl.deserialize_pipeline(tmp_path / "g.hlpipe").loop_nest() == f.loop_nest()
    with pytest.raises(hl.HalideError, match=r"none\.hlpipe\" can't be read: No such file"):
        hl.deserialize_pipeline(tmp_path / "none.hlpipe")
    with pytest.raises(hl.HalideError, match="can't be written"):
        hl.serialize_pipeline(f, tmp_path / "none" / "f.hlpipe")


def f_arguments(f: hl.Func) -> list[hl.Argument]:
    return f.infer_arguments()


def test_what_would_act_where_it_is_read_is_not_written(tmp_path: Path) -> None:
    f, _, _ = simple()
    g = hl.Func("g")
    g[x] = f[x]
    f.compute_root().debug_to_file(str(tmp_path / "f.npy"))
    with pytest.raises(hl.NotAvailableError, match="can't be serialized: whoever reads it would write the file"):
        hl.serialize_pipeline(g)
    outside, h = hl.Func("outside"), hl.Func("h")
    outside.define_extern("system", [], hl.Int(32), 1)
    h[x] = outside[x]
    with pytest.raises(hl.NotAvailableError, match='"outside" is an extern stage'):
        hl.serialize_pipeline(h)
    with pytest.raises(hl.DefinitionError, match="takes a Pipeline or a Func"):
        hl.serialize_pipeline(3)  # type: ignore[arg-type]  # on purpose


_WATCHING: list[list[str]] = []
"""The lists that what a process does is written to; empty where nobody looks."""
_ACTS = ("os.", "shutil.", "socket.", "subprocess.", "tempfile.", "ctypes.dlopen", "exec", "import", "pickle.")


def _watch(event: str, args: tuple[Any, ...]) -> None:
    """Python's own hook, which can't be taken away: it writes files opened for writing, and acts upon the system."""
    opened = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    for seen in _WATCHING if opened or event.startswith(_ACTS) else ():
        seen.append(f"{event} {args[0]!r}")


sys.addaudithook(_watch)


@contextmanager
def nothing_done() -> Iterator[None]:
    """Fails where the block writes a file anywhere, starts a process, or runs or loads code."""
    seen: list[str] = []
    _WATCHING.append(seen)
    try:
        yield
    finally:
        _WATCHING.remove(seen)
    assert seen == []


def test_acts_are_seen(tmp_path: Path) -> None:
    for act in (lambda: (tmp_path / "f").write_text(""), lambda: os.remove(tmp_path / "f"), lambda: exec("1")):
        with pytest.raises(AssertionError), nothing_done():
            act()


@pytest.mark.filterwarnings("ignore::halide_core.errors.HalideWarning")
def test_every_damage_is_told_of() -> None:
    draw = random.Random(7)
    whole = [hl.serialize_pipeline(make()) for make, _ in PIPELINES.values()]
    told = 0
    while told < 1000:
        k = told
        data = bytearray(whole[k % len(whole)])
        match draw.randrange(4):
            case 0:
                for _ in range(draw.choice((1, 1, 8))):
                    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            case 1:
                del data[draw.randrange(len(data)) :]
            case 2:
                at = draw.randrange(len(data))
                data[at:at] = draw.randbytes(draw.randrange(1, 9))
            case _:
                at = draw.randrange(len(data))
                del data[at : at + draw.randrange(1, 99)]
        if data.strip() == whole[k % len(whole)].strip():  # the end of the last line is none of the contents
            continue
        told += 1
        with nothing_done(), pytest.raises(hl.DefinitionError, match="serialized"):
            hl.deserialize_pipeline(bytes(data))


HOSTILE: tuple[Any, ...] = (
    *(-1, 0, 1, 7, 1 << 31, 1 << 63, 10**40, 1.5, None, True, "", "x", "uint8", "f" * 10_000, "Split"),
    *([], [0], {}, [[[]]]),
)


def places(of: Any) -> list[tuple[Any, Any]]:
    """Every container in some data, with a key of it."""
    found = []
    keys = range(len(of)) if isinstance(of, list) else list(of) if isinstance(of, dict) else []
    for key in keys:
        found.append((of, key))
        found += places(of[key])
    return found


@pytest.mark.filterwarnings("ignore::halide_core.errors.HalideWarning")
def test_hostile_content_is_refused_or_a_pipeline() -> None:
    draw, refused = random.Random(11), 0
    whole = [json.loads(hl.serialize_pipeline(make())) for make, _ in PIPELINES.values()]
    for k in range(500):
        made = copy.deepcopy(whole[k % len(whole)])
        for _ in range(draw.choice((1, 1, 1, 3))):
            of, key = draw.choice(places(made["content"]))
            if draw.randrange(5) == 0:
                del of[key]
            else:
                of[key] = draw.choice(HOSTILE)
        made["sha256"] = _checksum(made["content"])
        with nothing_done():
            try:
                pipeline = hl.deserialize_pipeline(json.dumps(made).encode())
            except hl.HalideError:
                refused += 1
                continue
        assert isinstance(pipeline, hl.Pipeline)
    assert refused > 250


def exchange() -> hl.Func:
    """Points that are exchanged at once, and points of an output that stay as they are."""
    f, r = hl.Func("exchange"), hl.RDom([(0, hl.Param(hl.Int(32), "n", 4))], "r")
    f[x] = hl.select(x > 8, hl.undef(hl.Int(32)), x)
    f[hl.scatter([r, r + 4])] = hl.gather([f[r + 1], f[r]])
    return f


def changed(make: Callable[[], hl.Func], change: Callable[[Any], None]) -> bytes:
    """A pipeline's bytes with something changed in its content."""
    made = json.loads(hl.serialize_pipeline(make()))
    change(made["content"])
    made["sha256"] = _checksum(made["content"])
    return json.dumps(made).encode()


def found(content: Any, *row: Any) -> int:
    """The number of some expression whose row begins so."""
    return next(k for k, e in enumerate(content["expressions"]) if e[: len(row)] == [*row])


def first_stage(content: Any) -> Any:
    return content["functions"][0]["definitions"][0]


def of_kind(content: Any, kind: str) -> Any:
    return next(d for f in content["functions"] for d in f["directives"] if d["is"] == kind)


def requirement(content: Any) -> Any:
    return next(d["requirements"][0] for f in content["functions"] for d in f["definitions"] if "requirements" in d)


CHANGES: dict[str, tuple[Callable[[], hl.Func], Callable[[Any], Any]]] = {
    "as many at once as a shape": (exchange, lambda c: c["domains"][0]["bounds"].reverse()),
    "at once where there was a loop": (reduction, lambda c: c["domains"][0].update(at_once=True)),
    "condition of a first definition": (
        exchange, lambda c: first_stage(c).update(predicate=found(c, "Binary", "bool")),
    ),
    "type of a condition": (exchange, lambda c: first_stage(c)["partial"][0].update(where=found(c, "Variable"))),
    "component that is not there": (exchange, lambda c: first_stage(c).update(undefined=[1])),
    "bound by a point": (mathematics, lambda c: of_kind(c, "Bound").update(extent=found(c, "Variable"))),
    "requirement of a point": (tuples, lambda c: requirement(c)["message"].append(found(c, "Variable"))),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_no_user_can_write_is_refused(name: str) -> None:
    make, change = CHANGES[name]
    hl.deserialize_pipeline(changed(make, lambda _: None))
    with pytest.raises(hl.DefinitionError, match="is out of place"):
        hl.deserialize_pipeline(changed(make, change))


def test_iterations_at_once_are_in_the_key_of_the_cache() -> None:
    def one_by_one(content: Any) -> None:
        content["domains"][0]["at_once"] = False

    data = changed(exchange, lambda _: None), changed(exchange, one_by_one)
    results = [np.asarray(hl.deserialize_pipeline(d).realize([9]))[:8].tolist() for d in data]
    assert results == [[1, 2, 3, 0, 0, 1, 2, 3], [1, 2, 3, 1, 1, 2, 3, 1]]


@pytest.mark.parametrize("stage", [-1, 1, 1 << 40])
@pytest.mark.parametrize("key", ["stage", "other_stage"])
def test_directive_about_a_stage_that_is_not_there_is_refused(key: str, stage: int) -> None:
    made = json.loads(hl.serialize_pipeline(together()))
    for of, name in places(made["content"]["functions"]):
        if name == key and of["other_stage"] == 0:
            of[key] = stage
    made["sha256"] = _checksum(made["content"])
    with pytest.raises(hl.DefinitionError, match=f"{stage} is out of place"):
        hl.deserialize_pipeline(json.dumps(made).encode())


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no serialized pipeline"),
        (b"abc", "no serialized pipeline"),
        (b"[1, 2]", 'does not say that its format is "halide_core pipeline"'),
        (b"\xff\xfe", "no serialized pipeline"),
        (b"[" * 100_000, "no serialized pipeline"),
        (b'{"format": NaN}', "NaN is no number"),
        (b'{"format": "halide_core pipeline", "version": 2}', f"in version 2 of .* reads version {VERSION}"),
        (b'{"format": "halide_core pipeline", "version": 1, "sha256": "", "content": {}}', "was changed since"),
    ],
)
def test_other_data_is_refused(data: bytes, told: str) -> None:
    for read in (hl.deserialize_pipeline, hl.deserialize_parameters):
        with pytest.raises(hl.DefinitionError, match=told):
            read(data)
