"""Wrappers for PyTorch, with a stand-in for the little of ATen that they use: the layout of tensors, and errors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import halide_core as hl
from tests.support.aot import cpp
from tests.support.checking import variables

x, y = variables("x y")
K = hl.OutputFileType

ATEN = """
#pragma once
#include <cstdint>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <vector>
namespace at {
enum class ScalarType { Byte, Float };
inline std::ostream &operator<<(std::ostream &to, ScalarType t) {
    return to << (t == ScalarType::Byte ? "Byte" : "Float");
}
struct Device { bool cpu; bool is_cpu() const { return cpu; } };
struct Tensor {
    void *data;
    ScalarType type;
    std::vector<int64_t> sizes, strides;
    bool cpu = true;
    bool negative = false;
    Device device() const { return {cpu}; }
    bool is_neg() const { return negative; }
    bool is_conj() const { return false; }
    ScalarType scalar_type() const { return type; }
    int64_t dim() const { return static_cast<int64_t>(sizes.size()); }
    int64_t size(int64_t i) const { return sizes[static_cast<std::size_t>(i)]; }
    int64_t stride(int64_t i) const { return strides[static_cast<std::size_t>(i)]; }
    void *data_ptr() const { return data; }
};
template<typename... Parts> void check(bool holds, const Parts &...parts) {
    if (holds) return;
    std::ostringstream text;
    (void)std::initializer_list<int>{(text << parts, 0)...};
    throw std::runtime_error(text.str());
}
}
#define TORCH_CHECK(...) at::check(__VA_ARGS__)
"""

MAIN = """
#include <cstdio>
#include "scaled.pytorch.h"
#include "scaled.pytorch.h"
using at::ScalarType;
using at::Tensor;
template<typename F> static void told(F f) {
    try { f(); std::puts("no error"); } catch (const std::exception &e) { std::puts(e.what()); }
}
int main() {
    halide_core_quiet_errors();
    uint8_t in[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    float out[2][3] = {};
    Tensor a{in, ScalarType::Byte, {2, 3}, {4, 1}}, b{out, ScalarType::Float, {2, 3}, {3, 1}};
    if (imaging::scaled_th_(a, 0.5f, b)) return 1;
    std::printf("%g %g\\n", out[0][2], out[1][0]);
    told([&] { Tensor c = a; c.cpu = false; imaging::scaled_th_(c, 1, b); });
    told([&] { Tensor c = a; c.negative = true; imaging::scaled_th_(c, 1, b); });
    told([&] { imaging::scaled_th_(b, 1, b); });
    told([&] { Tensor c = a; c.sizes = {3}; imaging::scaled_th_(c, 1, b); });
    told([&] { Tensor c = a; c.sizes = {2, 2}; imaging::scaled_th_(c, 1, b); });
    told([&] { Tensor c = a; c.sizes[0] = int64_t(1) << 31; imaging::scaled_th_(c, 1, b); });
    told([&] { Tensor c = a; c.data = nullptr; imaging::scaled_th_(c, 1, b); });
    told([&] { Tensor c = a; c.data = nullptr; c.sizes = {0, 3}; imaging::scaled_th_(c, 1, b); });
    Tensor one = a, to = b;
    one.sizes = to.sizes = {2, 1};
    one.strides = {4, 77}; /* of an axis with one element */
    return imaging::scaled_th_(one, 2, to) || out[1][0] != 10;
}
"""


def test_wrapper_takes_tensors(tmp_path: Path) -> None:
    source, by, f = hl.ImageParam(hl.UInt(8), 2, "source"), hl.Param(hl.Float(32), "by"), hl.Func("scaled")
    f[x, y] = source[x, y] * by
    features = [hl.TargetFeature.CPlusPlusMangling, hl.TargetFeature.UserContext]
    target = hl.get_host_target()
    for feature in features:
        target = target.with_feature(feature)
    kinds = {K.static_library: "scaled.a", K.c_header: "scaled.h", K.pytorch_wrapper: "scaled.pytorch.h"}
    f.compile_to({k: str(tmp_path / name) for k, name in kinds.items()}, [source, by], "imaging::scaled", target)
    (tmp_path / "ATen").mkdir()
    (tmp_path / "ATen" / "ATen.h").write_text(ATEN)
    (tmp_path / "main.cpp").write_text(MAIN)
    warnings = ["-Wall", "-Wextra", "-Werror"]
    command = [*cpp(), "-std=c++17", *warnings, "-I.", "main.cpp", "scaled.a", "-o", "main", "-lpthread"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[:5]) == (
        0,
        [
            "1.5 2.5",
            '"source" must be a tensor in host memory',
            '"source" must be resolved: resolve_neg(), resolve_conj()',
            '"source" must be of Byte, not of Float',
            '"source" must have 2 dimensions, not 1',
        ],
    )
    assert "imaging::scaled: " in lines[5] and "source" in lines[5]
    assert lines[6:8] == ['"source" is larger than a buffer can be', '"source" has no memory']
    assert 'buffer "source" is read from 0' in lines[8]  # an empty one asks for no bounds
