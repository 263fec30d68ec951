"""Compiles the Generators of pipelines.py into the extension of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

import halide_core as hl

HOST = hl.get_host_target()
# Every machine of the architecture, not just this one: a wheel goes to others.
PORTABLE = hl.Target(HOST.os, HOST.arch, HOST.bits)


class PipelineExtension(build_ext):
    """Asks the Generator for the extension, where a C compiler would be asked for it."""

    def build_extension(self, ext: Extension) -> None:
        """Writes one extension."""
        path = Path(self.get_ext_fullpath(ext.name))
        command = [sys.executable, "-m", "halide_core", "generate", *ext.sources, f"target={PORTABLE}"]
        command += ["-g", "brighten", "-e", "python_extension", "-o", str(path.parent)]
        command += ["-n", path.name.partition(".")[0]]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    setup(
        packages=["brightly"],
        ext_modules=[Extension("brightly._pipelines", ["pipelines.py"], py_limited_api=True)],
        cmdclass={"build_ext": PipelineExtension},
        options={"bdist_wheel": {"py_limited_api": "cp310"}},
    )
