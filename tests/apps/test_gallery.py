"""Ten Generators through the command line, as libraries and Python extensions: from C, C++ and Python they give the
bytes of the JIT."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.generate import command_line
from tests.support.aot import build, run
from tests.support.checking import Array, numbers
from tests.support.gallery import gallery

ROOT = Path(__file__).resolve().parents[2]
SHIFTS = {"source.type": "int16", "source.dim": "3", "out.type": "float32", "out.dim": "3"}


@dataclass(frozen=True)
class Case:
    """A Generator with values for its parameters, what it is given, and what its outputs are like."""

    inputs: tuple[Any, ...]
    outputs: tuple[tuple[tuple[int, ...], Any], ...]
    parameters: dict[str, str] = field(default_factory=dict)


def picture(dtype: Any = np.uint8, seed: int = 1) -> Array:
    return numbers((25, 38), dtype, seed)


CASES = {
    "axpy": Case((2.5, -3.0, 0.125), (((), np.float32),)),
    "brighten": Case((picture(), 7), (((25, 38), np.uint8),), {"factor": "3"}),
    "blur": Case((picture(np.uint16),), (((23, 36), np.uint16),)),
    "xor_mask": Case((picture(), 0x5A), (((25, 38), np.uint8),)),
    "convert": Case((numbers((3, 5, 7), np.int16),), (((3, 5, 7), np.float32),), SHIFTS),
    "histogram": Case((picture(),), (((32,), np.uint32),), {"bins": "32"}),
    "brightest": Case((picture(),), (((25,), np.int32), ((25,), np.uint8))),
    "unsharp": Case((picture(np.uint16), 0.75), (((23, 36), np.uint16),)),
    "mix": Case(
        (picture(), picture(seed=2), picture(seed=3), 0.5, -1.25, 3.0), (((25, 38), np.float32),), {"count": "3"}
    ),
    "pyramid": Case(
        (picture(),), tuple((shape, np.uint8) for shape in ((12, 19), (6, 9), (3, 4), (1, 2))), {"levels": "4"}
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The gallery, compiled: a library, a header and an extension of each Generator; one runtime for all libraries."""
    place = tmp_path_factory.mktemp("gallery")
    with gallery():
        assert command_line.run(["-r", "runtime", "-o", str(place), "target=host"]) == 0
        for name, case in CASES.items():
            words = ["-g", name, "-o", str(place), "-n", f"the_{name}", "target=host-no_runtime"]
            words += ["-e", "static_library,c_header,registration,python_extension"]
            assert command_line.run([*words, *(f"{k}={v}" for k, v in case.parameters.items())]) == 0
    return place


@pytest.fixture(scope="module")
def expected() -> dict[str, list[Array]]:
    """The values that the JIT computes."""
    found = {}
    with gallery():
        for name, case in CASES.items():
            outs = [np.zeros(shape, dtype) for shape, dtype in case.outputs]
            hl.create_callable_from_generator(hl.Target("host"), name, case.parameters)(*case.inputs, *outs)
            assert all(out.any() for out in outs)
            found[name] = outs
    return found


PROGRAM = """
#include "run_any.h"
%s
int main(int argc, char **argv) {
    halide_core_set_num_threads(2);
    for (unsigned i = 0; argc > 1 && i < sizeof functions / sizeof *functions; i++) {
        const halide_filter_metadata_t *const m = functions[i].metadata();
        if (strcmp(m->name, argv[1]) == 0) return run_any(functions[i].call, m, argv + 2);
    }
    return 106;
}
"""
IN_C = (
    "".join(f'#include "the_{name}.h"\n' for name in CASES)
    + "typedef const halide_filter_metadata_t *metadata_function(void);\n"
    + "static const struct { int (*call)(void **); metadata_function *metadata; } functions[] = {\n"
    + "".join(f"    {{{name}_argv, {name}_metadata}},\n" for name in CASES)
    + "};\n"
)
IN_CPP = """
#include <cstring>
#include <vector>
struct function { int (*call)(void **); const halide_filter_metadata_t *m; };
static std::vector<function> &registered() { static std::vector<function> all; return all; }
extern "C" void halide_register_argv_and_metadata(int (*call)(void **), const halide_filter_metadata_t *m,
                                                  const char *const *) {
    registered().push_back({call, m});
}
int main(int argc, char **argv) {
    for (const function &f : registered()) {
        if (argc > 1 && std::strcmp(f.m->name, argv[1]) == 0) return run_any(f.call, f.m, argv + 2);
    }
    return 106;
}
"""


@pytest.fixture(scope="module")
def programs(folder: Path) -> dict[str, Path]:
    """One program in C and one in C++, each with all libraries and the one runtime."""
    (folder / "run_any.h").write_text((ROOT / "tests" / "support" / "run_any.h").read_text())
    libraries = [*(f"the_{name}.a" for name in CASES), "runtime.a"]
    registrations = [f"the_{name}.registration.cpp" for name in CASES]
    return {
        "c": build(folder, "in_c", PROGRAM % IN_C, *libraries),
        "cpp": build(folder, "in_cpp", '#include "run_any.h"\n' + IN_CPP, *registrations, *libraries, language="cpp"),
    }


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("name", CASES)
def test_library_gives_the_bytes_of_the_jit(
    name: str, language: str, programs: dict[str, Path], expected: dict[str, list[Array]]
) -> None:
    case, place = CASES[name], programs[language].parent
    words = []
    for i, value in enumerate(case.inputs):
        if isinstance(value, np.ndarray):
            (place / f"in_{i}.raw").write_bytes(value.tobytes())
            words.append(f"in_{i}.raw:" + ",".join(map(str, reversed(value.shape))))
        else:
            words.append(str(value))
    outs = [f"{name}_{language}_{i}.raw" for i in range(len(case.outputs))]
    words += [
        f"{out}:" + ",".join(map(str, reversed(shape))) for out, (shape, _) in zip(outs, case.outputs, strict=True)
    ]
    done = run(programs[language], name, *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for out, wanted in zip(outs, expected[name], strict=True):
        assert (place / out).read_bytes() == wanted.tobytes()


def test_extensions_give_the_bytes_of_the_jit(folder: Path, expected: dict[str, list[Array]]) -> None:
    code = "import importlib, pickle, sys; import numpy as np\ncases = pickle.load(sys.stdin.buffer)\n"
    code += "for name, (inputs, outs) in cases.items():\n"
    code += "    assert getattr(importlib.import_module('the_' + name), name)(*inputs, *outs) is None\n"
    code += "assert not [m for m in sys.modules if m.startswith('halide')]\n"
    code += "pickle.dump({name: outs for name, (_, outs) in cases.items()}, sys.stdout.buffer)"
    cases = {
        name: (case.inputs, [np.zeros(shape, dtype) for shape, dtype in case.outputs]) for name, case in CASES.items()
    }
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={"PYTHONPATH": str(folder)}, input=pickle.dumps(cases),
        capture_output=True, check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    found = pickle.loads(done.stdout)
    for name, outs in found.items():
        for out, wanted in zip(outs, expected[name], strict=True):
            assert out.tobytes() == wanted.tobytes(), name
