"""Linkers and emulators for programs of other machines: the ziglang wheel, emulators of Debian's, and node.
Programs for macOS and Windows are linked only.

In: a target's text. Out: a Machine, or what is missing.

    machine("arm-64-linux").run(program, folder, words)   ->   qemu-aarch64 program words
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NODE = """
const { WASI } = require("node:wasi"), fs = require("node:fs");
const [program, ...words] = process.argv.slice(1);
const wasi = new WASI({ version: "preview1", args: ["program", ...words], preopens: { ".": "." }, returnOnExit: true });
WebAssembly.instantiate(fs.readFileSync(program), wasi.getImportObject())
  .then(({ instance }) => process.exit(wasi.start(instance)));
"""


@dataclass(frozen=True)
class Machine:
    """The linker and the emulator of a machine, and the pattern of a vector instruction in its assembly."""

    triple: str
    """zig's: with musl, whose programs need no files of the machine's."""
    runner: tuple[str, ...]
    """The emulator's command; empty where there is none, so that programs are linked only."""
    vector: re.Pattern[str]

    def missing(self) -> str:
        """The program that is not installed; empty where all are."""
        return "" if not self.runner or shutil.which(self.runner[0]) else self.runner[0]

    def link(self, source: Path, library: Path, program: Path) -> None:
        """Compiles a C program with a pipeline's library."""
        zig = [sys.executable, "-m", "ziglang", "cc", "-target", self.triple, "-O1"]
        static = ["-static"] if "linux" in self.triple else []
        command = [*zig, *static, f"-I{library.parent}", str(source), str(library), "-o", str(program), "-lm"]
        subprocess.run(command, check=True)

    def run(self, program: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs a program in its folder."""
        command = [*self.runner, str(program), *words]
        return subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=600, check=False)

    def vectors(self, assembly: str) -> tuple[int, int]:
        """The instructions on vectors, of all: lines of assembly that are neither labels nor directives."""
        lines = [line for line in assembly.splitlines() if re.match(r"\s+[a-z]", line)]
        return sum(1 for line in lines if self.vector.search(line)), len(lines)


_ARM, _X86 = re.compile(r"\bv\d+\.\d*[bhsd]\b|\bq\d+\b"), re.compile(r"%[xyz]mm\d")
_SVE = re.compile(rf"{_ARM.pattern}|\bz\d+\b")
_WASM = Machine("wasm32-wasi", ("node", "--no-warnings", "-e", NODE), re.compile(r"\s(v128|[if]\d+x\d+)\."))
_RISCV = re.compile(r"\sv(set|l|s|f|add|sub|mul|min|max|and|or|xor|n|w|merge|mv|id|r|z|m)\w*[.\s]")

MACHINES = {
    "arm-64-linux": Machine("aarch64-linux-musl", ("qemu-aarch64",), _ARM),
    "arm-64-linux-sve2": Machine("aarch64-linux-musl", ("qemu-aarch64", "-cpu", "max,sve256=on"), _SVE),
    "arm-32-linux-armv7s": Machine("arm-linux-musleabihf", ("qemu-arm",), re.compile(r"\bq\d+\b")),
    "riscv-64-linux": Machine("riscv64-linux-musl", ("qemu-riscv64",), _RISCV),
    # qemu 8 or newer: 7.2, that of Debian 12, fails an assertion of its own; its backports have 10
    "riscv-64-linux-rvv": Machine("riscv64-linux-musl", ("qemu-riscv64", "-cpu", "rv64,v=true,vlen=128"), _RISCV),
    "wasm-32-wasmrt": _WASM,
    "wasm-32-wasmrt-wasm_simd128": _WASM,
    "arm-64-osx": Machine("aarch64-macos", (), re.compile(r"\.\d*[bhsd]\b|\bq\d+\b")),
    "x86-64-osx-avx2-fma": Machine("x86_64-macos", (), _X86),
    "x86-64-windows-avx2-fma": Machine("x86_64-windows-gnu", (), _X86),
}
