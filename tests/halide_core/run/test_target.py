"""Targets: their texts, their features, and compiling for one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import halide_core as hl

F = hl.TargetFeature
AVX2 = "x86-64-linux-avx-avx2-sse41"


def test_text_of_a_target_makes_an_equal_one() -> None:
    for text in (AVX2, "arm-64-osx", "x86-32-windows-avx-sse41", "x86-64-linux-tune_znver4-fma"):
        assert str(hl.Target(text)) == text
        assert hl.Target(text) == hl.Target(text)
        assert hl.Target.validate_target_string(text)
    assert hl.Target("x86-64-linux-sse41-avx2-avx") == hl.Target(AVX2)
    assert hl.Target().to_string() == "arch_unknown-0-os_unknown"
    assert not hl.Target.validate_target_string("x86-64-linux-teapot")
    with pytest.raises(hl.DefinitionError, match='"teapot" in the target "x86-64-linux-teapot"'):
        hl.Target("x86-64-linux-teapot")


def test_parts_of_a_target() -> None:
    target = hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, [F.AVX2, F.AVX, F.SSE41])
    assert target == hl.Target(AVX2)
    tuned = hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, hl.TargetProcessorTune.TuneZnVer4, [F.FMA])
    assert str(tuned) == "x86-64-linux-tune_znver4-fma"
    assert (target.os, target.arch, target.bits) == (hl.TargetOS.Linux, hl.TargetArch.X86, 64)
    assert target.features_all_of([F.AVX, F.AVX2])
    assert not target.features_all_of([F.AVX, F.AVX512])
    assert target.features_any_of([F.AVX, F.AVX512])
    assert target.without_feature(F.AVX2).natural_vector_size(hl.Float(32)) == 8
    assert target.without_feature(F.AVX2).natural_vector_size(hl.UInt(8)) == 16
    assert target.with_feature(F.AVX512_Skylake).natural_vector_size(hl.UInt(8)) == 64
    assert target.natural_vector_size(hl.Float(64)) == 4
    target.set_features([F.AVX2, F.AVX], False)
    assert str(target) == "x86-64-linux-sse41"
    assert target.maximum_buffer_size() == 2**31 - 1
    assert target.with_feature(F.LargeBuffers).has_large_buffers()
    assert target.supports_type(hl.Float(32))
    assert not target.has_gpu_feature()
    assert target.with_feature(F.CUDA).has_gpu_feature()
    assert target.supports_device_api(hl.DeviceAPI.Host)
    assert not target.supports_device_api(hl.DeviceAPI.CUDA)
    with_device = target.with_feature(F.CUDA)
    assert with_device.supports_device_api(hl.DeviceAPI.CUDA)
    assert with_device.supports_device_api(hl.DeviceAPI.Default_GPU)
    assert not with_device.supports_device_api(hl.DeviceAPI.Metal)


def test_host_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    host = hl.get_host_target()
    assert host.supported()
    assert hl.Target("host") == host
    assert hl.Target("host-large_buffers").has_feature(F.LargeBuffers)
    assert hl.evaluate(hl.target_bits()) == host.bits
    assert hl.evaluate(hl.target_arch_is(host.arch) & hl.target_os_is(host.os))
    assert hl.evaluate(hl.target_natural_vector_size(hl.UInt(8))) == host.natural_vector_size(hl.UInt(8))
    assert hl.evaluate(hl.target_has_feature(F.AVX2)) == host.has_feature(F.AVX2)
    monkeypatch.setenv("HL_TARGET", AVX2)
    monkeypatch.setenv("HL_JIT_TARGET", "arm-64-linux")
    assert hl.get_target_from_environment() == hl.Target(AVX2)
    assert hl.get_jit_target_from_environment() == hl.Target("arm-64-linux-jit")


def test_pipeline_runs_for_this_machine_with_fewer_features() -> None:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x * 3
    f.vectorize(x, 8)
    host = hl.get_host_target()
    plain = hl.Target(host.os, host.arch, host.bits)
    for target in (host, plain, host.with_feature(F.JIT)):
        assert np.asarray(f.realize([20], target)).tolist() == [3 * i for i in range(20)]


def test_file_has_the_instructions_of_its_target(tmp_path: Path) -> None:
    host = hl.get_host_target()
    if host.arch is not hl.TargetArch.X86:
        return
    image, x, f = hl.ImageParam(hl.Float(32), 1, "image"), hl.Var("x"), hl.Func("f")
    f[x] = image[x] * 3.0
    f.vectorize(x, 8)
    base = hl.Target(host.os, host.arch, host.bits)
    texts = []
    for name, target in (("old.s", base), ("new.s", base.with_feature(F.AVX).with_feature(F.AVX2))):
        f.compile_to_assembly(str(tmp_path / name), [image], "f", target)
        texts.append((tmp_path / name).read_text(encoding="utf-8"))
    assert "%ymm" not in texts[0]
    assert "%ymm" in texts[1]


def test_environment_names_the_target_where_none_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host = hl.get_host_target()
    base = str(hl.Target(host.os, host.arch, host.bits))
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.f32(x) * 3.0
    f.vectorize(x, 8)
    monkeypatch.setenv("HL_JIT_TARGET", base)
    monkeypatch.setenv("HL_TARGET", f"{base}-no_such_feature")
    assert np.asarray(f.realize([9])).tolist() == [3.0 * k for k in range(9)]
    with pytest.raises(hl.HalideError, match="no_such_feature"):
        f.compile_to_assembly(str(tmp_path / "f.s"), [], "f")
    assert not any(tmp_path.iterdir())
    monkeypatch.setenv("HL_JIT_TARGET", "x86-64-linux-cuda")
    g = hl.Func("g")
    g[x] = x
    with pytest.raises(hl.NotAvailableError, match="cuda"):
        g.realize([3])


@pytest.mark.parametrize(
    ("text", "reason"), [("arm-64-qurt", "code is made for"), ("host-cuda-metal", "not available yet: cuda, metal")]
)
def test_foreign_target_is_refused(text: str, reason: str) -> None:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    assert not hl.Target(text).supported()
    with pytest.raises(hl.NotAvailableError, match=reason):
        f.realize([3], hl.Target(text))


def test_unknown_target_is_this_machine_where_code_runs_here(tmp_path: Path) -> None:
    """It is the target that Halide's calls have where none is given."""
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    assert np.asarray(f.realize([3], hl.Target())).tolist() == [0, 1, 2]
    out = np.zeros(3, np.int32)
    f.compile_to_callable([], hl.Target())(out)
    assert out.tolist() == [0, 1, 2]
    with pytest.raises(hl.NotAvailableError, match="arch_unknown"):
        f.compile_to_c(tmp_path / "f.c", [], "f", hl.Target())


@pytest.mark.parametrize("text", ["arm-64-linux", "wasm-32-wasmrt-wasm_simd128", "riscv-64-linux-rvv"])
def test_code_for_another_machine_does_not_run_here(text: str) -> None:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    assert hl.Target(text).supported()
    with pytest.raises(hl.HalideError, match="can't run here: this machine is"):
        f.realize([3], hl.Target(text))


def test_features_of_another_architecture_are_refused() -> None:
    assert not hl.Target("arm-64-linux-avx2").supported()
    assert not hl.Target("wasm-32-wasmrt-sve2").supported()
    assert not hl.Target("wasm-32-wasmrt-wasm_mvponly").supported(), "it would change nothing"


def test_registers_of_other_machines() -> None:
    sizes = {"arm-64-linux": 4, "wasm-32-wasmrt-wasm_simd128": 4, "wasm-32-wasmrt": 1}
    assert {text: hl.Target(text).natural_vector_size(hl.Float(32)) for text in sizes} == sizes


def test_length_of_vectors_is_part_of_a_target() -> None:
    target = hl.Target("arm-64-linux-vector_bits_512-sve2")
    assert (target.vector_bits, hl.Target("arm-64-linux-sve2").vector_bits) == (512, 0)
    assert str(target) == "arm-64-linux-sve2-vector_bits_512"
    assert hl.Target(str(target)) == target
    assert str(target.without_feature(F.SVE2).with_feature(F.SVE)) == "arm-64-linux-sve-vector_bits_512"
    assert [target.natural_vector_size(t) for t in (hl.UInt(8), hl.Float(64))] == [64, 8]
    assert hl.Target("riscv-64-linux-rvv-vector_bits_256").natural_vector_size(hl.UInt(8)) == 32
    assert hl.Target("x86-64-linux-avx2-vector_bits_512").natural_vector_size(hl.UInt(8)) == 32
    assert hl.Target("arm-64-linux-sve2-vector_bits_0") == hl.Target("arm-64-linux-sve2")
    for word in ("vector_bits_", "vector_bits_x", "vector_bits_512x", "vector_bits"):
        assert not hl.Target.validate_target_string(f"arm-64-linux-sve2-{word}")


def test_modules_and_several_files(tmp_path: Path) -> None:
    image, x, f = hl.ImageParam(hl.Float(32), 1, "image"), hl.Var("x"), hl.Func("f")
    f[x] = image[x] * 3.0
    module = f.compile_to_module([image], "tripled")
    assert module.name() == "tripled"
    assert module.target() == hl.get_host_target()
    kinds = hl.OutputFileType
    files = {kinds.c_source: "c", kinds.c_header: "h", kinds.object: "o", kinds.stmt: "txt", kinds.stmt_html: "html"}
    module.compile({kind: str(tmp_path / f"a.{end}") for kind, end in files.items()})
    hl.Pipeline(f).compile_to({kinds.conceptual_stmt: str(tmp_path / "b.txt")}, [image], "tripled")
    f.compile_to_conceptual_stmt(str(tmp_path / "c.html"), [image], hl.StmtOutputFormat.HTML)
    assert {p.name for p in tmp_path.iterdir()} >= {*(f"a.{end}" for end in files.values()), "b.txt", "c.html"}
    assert "<summary>" in (tmp_path / "a.html").read_text(encoding="utf-8")
    with pytest.raises(hl.NotAvailableError, match="bitcode can't be written yet; these can: assembly"):
        f.compile_to({kinds.bitcode: str(tmp_path / "x")}, [image])
    assert f.compile_to_module([image], "f", linkage=hl.LinkageType.ExternalPlusArgv).name() == "f"
    with pytest.raises(hl.NotAvailableError, match="is external"):
        f.compile_to_module([image], "f", linkage=hl.LinkageType.Internal)


def test_traces_of_a_target(capfd: pytest.CaptureFixture[str]) -> None:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = x + 1
    g[x] = f[x] * 2
    f.compute_root()
    traced = hl.get_jit_target_from_environment().with_feature(hl.TargetFeature.TraceStores)
    assert list(np.asarray(g.realize([2], traced))) == [2, 4]
    shown = [line for line in capfd.readouterr().out.splitlines() if "pipeline" not in line and "Tag" not in line]
    assert shown == ["Store f.0(0) = 1", "Store f.0(1) = 2", "Store g.0(0) = 2", "Store g.0(1) = 4"]
    g.realize([2])
    assert not capfd.readouterr().out


def test_begin_and_end_of_a_pipeline_are_traced_alone(capfd: pytest.CaptureFixture[str]) -> None:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = x + 1
    g[x] = f[x] * 2
    f.compute_root()
    for again in range(2):
        assert list(np.asarray(g.realize([2], hl.Target("host-trace_pipeline")))) == [2, 4]
        assert capfd.readouterr().out.splitlines() == ["Begin pipeline g.0()", "End pipeline g.0()"], again
        g.realize([2])
        assert not capfd.readouterr().out


@pytest.mark.parametrize("feature", [F.Debug, F.EnableBacktraces, F.EnableLLVMLoopOpt, F.NoAsserts])
def test_features_that_change_no_code(feature: hl.TargetFeature, tmp_path: Path) -> None:
    """Checks stay where they may be left out."""
    image, x, f = hl.ImageParam(hl.Int(32), 1, "image"), hl.Var("x"), hl.Func("f")
    f[x] = image[x] + 1
    image.set(np.arange(4, dtype=np.int32))
    target = hl.get_host_target().with_feature(feature)
    assert target.supported()
    assert np.asarray(f.realize([4], target)).tolist() == [1, 2, 3, 4]
    with pytest.raises(hl.HalideError, match="image"):
        f.realize([5], target)
    f.compile_to_c(str(tmp_path / "f.c"), [image], "f", target)


def test_all_traces_have_one_word() -> None:
    every = hl.Target("x86-64-linux-avx-trace_all")
    assert every.has_feature(hl.TargetFeature.TraceLoads)
    assert str(every) == "x86-64-linux-avx-trace_all"
    assert str(every.without_feature(hl.TargetFeature.TraceLoads)).endswith("-trace_realizations-trace_stores")


def test_features_of_devices() -> None:
    assert hl.target_feature_for_device_api(hl.DeviceAPI.OpenCL) is hl.TargetFeature.OpenCL
    assert hl.target_feature_for_device_api(hl.DeviceAPI.Host) is hl.TargetFeature.FeatureEnd
    assert not hl.Target.validate_target_string("x86-64-linux-feature_end")
