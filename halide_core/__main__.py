"""``python -m halide_core cache info``: the command line, which the backend answers."""

from __future__ import annotations

import sys

from halide_core.run.backend import backend

if __name__ == "__main__":
    sys.exit(backend().command(sys.argv[1:]))
