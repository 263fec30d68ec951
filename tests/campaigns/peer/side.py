"""One side of the comparison: runs groups of cases with one package, in a process of its own.

In: the name of the package, a JSON file with groups of names, a folder. Out: for each group ``<n>.json`` with the
outcome of each case and the names that it used, and ``<n>.npz`` with arrays. A group that ends the process has none.

    python -m tests.campaigns.peer.side halide_core groups.json out
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.peer import names
from tests.campaigns.peer.case import EXPRESSION_FILE, PIPELINE_MODULES, Case, all_cases
from tests.campaigns.peer.operands import POINTS, TYPES, table
from tests.campaigns.peer.outcome import Arrays, Tree, encode, error, type_text
from tests.campaigns.peer.watch import Watch


class Side:
    """The package, watched, and what it is asked."""

    def __init__(self, package: str) -> None:
        module = importlib.import_module(package)
        files = frozenset({EXPRESSION_FILE, *(str(module.__file__) for module in PIPELINE_MODULES)})
        self._watch = Watch(files)
        self._plain = module
        self._hl = self._watch.module(module)
        if package == "halide_core":  # a class of pybind11 can't be instrumented, and one side is enough
            self._watch.classes(module, names.by_class())
        x = module.Var("x")
        self._operands = {f"{which}_{type}": self._operand(type, which, x) for type in TYPES for which in "ab"}
        self._x = x

    def _operand(self, type: str, which: str, x: Any) -> Any:
        hl, values = self._plain, table(type, which)
        buffer = hl.Buffer(_buffer_type(hl, type), [POINTS])
        buffer.set_name(f"{which}_{type}")
        for i, value in enumerate(values.tolist()):  # Halide makes no Buffer of an array of uint64 or bool
            buffer[i] = int(value) if type == "bool" else value
        return buffer[x] != 0 if type == "bool" else buffer[x]

    def run(self, cases: list[Case], prefix: str) -> tuple[list[Tree], Arrays]:
        """The outcome of each case, with ``names`` that it used."""
        arrays = Arrays(prefix)
        trees: list[Tree] = []
        expressions: list[tuple[Tree, Any]] = []
        for case in cases:
            tree, value = self._define(case, arrays)
            tree = {"name": case.name, "outcome": tree, "names": self._watch.take()}
            trees.append(tree)
            if value is not None:
                expressions.append((tree, value))
        self._realize(expressions, arrays)
        return trees, arrays

    def _define(self, case: Case, arrays: Arrays) -> tuple[Tree, Any]:
        """The outcome of a case; an expression's is without its values, and comes with the expression."""
        try:
            self._watch.note_statics(case.source)
            if case.function is not None:
                return encode(self._plain, case.function(self._hl), arrays), None
            code = compile(case.source, EXPRESSION_FILE, "eval")
            env = {"hl": self._hl, "np": np, "x": self._x, **self._operands}
            value = eval(code, env)  # noqa: S307  # the sources are this package's own
            if not self._is_operand(value):
                return encode(self._plain, value, arrays), None
            if not isinstance(value, self._plain.Expr):  # Halide makes no Expr of an Expr
                value = self._plain.Expr(value)
            return {"kind": "values", "type": type_text(value.type())}, value
        except Exception as raised:  # noqa: BLE001  # what a case raises is its outcome
            return error(raised), None

    def _is_operand(self, value: Any) -> bool:
        hl = self._plain
        return isinstance(value, hl.Expr | hl.Var | hl.RVar | hl.RDom | hl.FuncRef | hl.Param)

    def _realize(self, expressions: list[tuple[Tree, Any]], arrays: Arrays) -> None:
        """Adds the values of expressions to their outcomes: of all at once, or one by one where that fails."""
        if not expressions:
            return
        hl = self._plain
        try:
            funcs = []
            for _, value in expressions:
                f = hl.Func("f")
                f[self._x] = value
                funcs.append(f)
            results = hl.Pipeline(funcs).realize([POINTS])
            several = results if isinstance(results, list | tuple) else [results]
            kept = [arrays.keep(np.array(buffer)) for buffer in several]
        except Exception as raised:  # noqa: BLE001  # what a case raises is its outcome
            if len(expressions) == 1:
                expressions[0][0]["outcome"] = error(raised)
                return
            for each in expressions:
                self._realize([each], arrays)
            return
        for (tree, _), name in zip(expressions, kept, strict=True):
            tree["outcome"]["array"] = name


def _buffer_type(hl: Any, type: str) -> Any:
    """The type of the memory of an operand; that of a truth value is ``uint8``."""
    code, bits = type.rstrip("0123456789"), type.lstrip("abcdefghijklmnopqrstuvwxyz")
    return hl.UInt(8) if type == "bool" else {"i": hl.Int, "u": hl.UInt, "f": hl.Float}[code](int(bits))


def main(package: str, job: str, folder: str, first: str = "0") -> None:
    """Runs the groups of a job from ``first`` on, in order."""
    warnings.simplefilter("ignore")
    cases = all_cases()
    side = Side(package)
    for number, group in enumerate(json.loads(Path(job).read_text(encoding="utf-8"))):
        if number < int(first):
            continue
        result = Path(folder) / f"{number}.json"
        trees, arrays = side.run([cases[name] for name in group], f"{number}.")
        np.savez(result.with_suffix(".npz"), **arrays.known)
        result.write_text(json.dumps(trees), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
