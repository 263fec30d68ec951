"""ARCHITECTURE.md, "Packages": which module may import which, and the rules of form that a parser can check.

    halide_core  <-  scheduling, bounds  <-  lowering  <-  runtime      (scheduling and bounds don't know each other)

All are installed, and imported, as parts of halide_core; here ``bounds.query`` stands for ``halide_core.bounds.query``.

Each rule is a function from the parsed modules to its violations, and has a test on a small made-up tree that breaks
it: a rule that can't fail shows nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

MAY_IMPORT = {
    "halide_core": frozenset[str](),
    "scheduling": frozenset({"halide_core"}),
    "bounds": frozenset({"halide_core"}),
    "lowering": frozenset({"halide_core", "scheduling", "bounds"}),
    "runtime": frozenset({"halide_core", "scheduling", "bounds", "lowering"}),
}

# What sub-packages may import of their own package; one that isn't listed may import all of it that doesn't lead back.
BASICS = frozenset({"halide_core.checks", "halide_core.errors", "halide_core.own_name", "halide_core.unsupported"})
WITHIN = {
    "halide_core.ir": BASICS,
    "halide_core.schedule": BASICS | {"halide_core.ir"},
    "halide_core.algorithm": BASICS | {"halide_core.ir", "halide_core.schedule"},
    "halide_core.reference": BASICS | {"halide_core.ir", "halide_core.algorithm"},
    "halide_core.analysis": BASICS | {"halide_core.ir", "halide_core.algorithm", "halide_core.reference"},
    "bounds.query": frozenset[str](),
    "bounds.engines": frozenset({"bounds.query"}),
    "bounds.infer": frozenset({"bounds.query", "bounds.engines"}),
    "bounds.explain": frozenset({"bounds.query", "bounds.engines", "bounds.infer"}),
    "bounds.verify": frozenset({"bounds.query", "bounds.engines", "bounds.infer"}),
    "lowering.passes": frozenset({"lowering.provenance"}),
    "lowering.interpreter": frozenset[str](),
    "runtime.codegen": frozenset[str](),
    "runtime.compile": frozenset[str](),
    "runtime.crt": frozenset({"runtime.compile"}),
    "scheduling.phase0": frozenset({"scheduling.legality"}),
}

# Libraries that take long to import, each with the modules that may import it.
OWNERS = {
    "islpy": frozenset({"bounds.engines.polyhedral", "bounds.engines.polyhedral_terms"}),
    "sympy": frozenset({"bounds.explain.latex", "bounds.engines.nonlinear"}),
    "z3": frozenset(
        {"bounds.smt.laws", *(f"bounds.smt.{part}" for part in ("formulas", "products", "prover", "terms", "z3_api"))}
    ),
}

# What a program that compiles and runs does not need: without it, it starts 20 ms earlier.
ON_DEMAND = frozenset(
    {
        "lowering.report.bounds_query",
        "lowering.certify",
        "lowering.step_proofs",
        "lowering.verification",
        "lowering.report.explain",
        "runtime.ahead.write",
        "runtime.execute.cli",
    }
)

# What makes code: a run whose pipeline the cache has needs none of it.
BUILDING = frozenset({"lowering.driver", "runtime.execute.build", "filelock"})

# What chooses schedules: only for programs that ask for it.
CHOOSING = frozenset({"halide_core.autoschedule.automatic"})

# What measures schedules; the sampler and the bar need libraries that not all have.
MEASURING = frozenset({f"halide_core.tuning.{name}" for name in ("bar", "measured", "session", "study")})

# What reads and writes arrays of Zarr, which programs that have some have loaded.
STORING = frozenset({"halide_core.blocks.zarr_chunks"})

# The only modules that may be imported inside a function, and from where: the engines, and what only some programs ask
# for, on first use.
LAZY = {
    "halide_core.blocks.chunks": STORING,
    "halide_core.run.automatic": CHOOSING | {"halide_core.tuning.measured"},
    "halide_core.run.tune": frozenset({"halide_core.tuning.session"}),
    "halide_core.tuning.display": frozenset({"halide_core.tuning.bar"}),
    "halide_core.tuning.sampling": frozenset({"halide_core.tuning.study"}),
    "bounds.engines.interface": frozenset({"bounds.engines.polyhedral"}),
    "bounds.engines.registry": frozenset({"bounds.engines.polyhedral", "bounds.engines.nonlinear"}),
    "lowering.certify": frozenset({"bounds.smt.prover"}),
    "lowering.driver": frozenset({"lowering.certify", "lowering.verification"}),
    "lowering.laws": frozenset({"bounds.smt.laws"}),
    "lowering.proven_steps": frozenset({"lowering.step_proofs"}),
    "lowering.report.explanation": frozenset({"bounds.explain.latex"}),
    "runtime.compile.cache": frozenset({"filelock"}),
    "runtime.crt.runtime_library": frozenset({"filelock"}),
    "runtime.execute.backend": (ON_DEMAND | {"lowering.driver"})
    - {"lowering.certify", "lowering.step_proofs", "lowering.verification"},
    "runtime.execute.background": frozenset({"filelock"}),
    "runtime.execute.jit": frozenset({"runtime.execute.build"}),
}

# The only modules that may import by a name at run time: the one upward call, Func.realize; hl.imageio, which
# needs a library that not all have; and what gives the modules their names in Halide.
BY_NAME = frozenset({"halide_core", "halide_core.run.implementation", "halide_core.run.as_halide"})

MOST_LINES = 600
MOST_MODULES = 20
_TOO_WIDE = ("Exception", "BaseException")


@dataclass(frozen=True)
class Import:
    """One imported module (``target``: the module itself where a package's member is one)."""

    target: str
    line: int
    typing_only: bool
    at_top: bool
    star: bool


@dataclass(frozen=True)
class Module:
    """A parsed file of one of the packages."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def package(self) -> str:
        """The top-level package it belongs to."""
        return self.name.partition(".")[0]

    def at(self, line: int) -> str:
        """A place in it, to be shown."""
        return f"{self.path}:{line}"


Rule = Callable[[Sequence[Module]], list[str]]


# ---------------------------------------------------------------------------------------------------------
# Reading.


def read_modules(root: Path) -> list[Module]:
    """All modules of the five packages below a folder, sorted by path."""
    paths = {p: _module_name(p.relative_to(root)) for each in MAY_IMPORT for p in sorted((root / each).rglob("*.py"))}
    known = frozenset(paths.values()) | frozenset(MAY_IMPORT)
    modules = []
    for path, name in paths.items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text, str(path))
        base = name if path.name == "__init__.py" else name.rpartition(".")[0]
        imports = tuple(_imports(tree.body, base, known, typing_only=False, at_top=True))
        modules.append(Module(name, path.relative_to(root), text, tree, imports))
    return modules


def short(name: str) -> str:
    """A module's name without "halide_core.", where one of the other four packages follows."""
    inner = name.removeprefix("halide_core.")
    return inner if inner.partition(".")[0] in MAY_IMPORT else name


def _module_name(path: Path) -> str:
    parts = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
    return ".".join(parts)


def _imports(
    body: Sequence[ast.AST], base: str, known: frozenset[str], *, typing_only: bool, at_top: bool
) -> Iterator[Import]:
    for node in body:
        match node:
            case ast.Import(names=names):
                for each in names:
                    yield Import(short(each.name), node.lineno, typing_only, at_top, star=False)
            case ast.ImportFrom(names=names):
                source = short(_source(node, base))
                for each in names:
                    inner = short(f"{source}.{each.name}")
                    target = inner if inner in known else source
                    yield Import(target, node.lineno, typing_only, at_top, star=each.name == "*")
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from _imports(node.body, base, known, typing_only=True, at_top=at_top)
                yield from _imports(node.orelse, base, known, typing_only=typing_only, at_top=at_top)
            case _:
                inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
                children = list(ast.iter_child_nodes(node))
                yield from _imports(children, base, known, typing_only=typing_only, at_top=at_top and not inside)


def _source(node: ast.ImportFrom, base: str) -> str:
    """The absolute name of what stands after ``from``; ``base`` is the package that one dot means."""
    if node.level == 0:
        return node.module or ""
    parts = base.split(".")
    parent = ".".join(parts[: len(parts) - node.level + 1])
    return f"{parent}.{node.module}" if node.module else parent


# ---------------------------------------------------------------------------------------------------------
# The rules.


def upward_imports(modules: Sequence[Module]) -> list[str]:
    """Packages import downward only, for annotations too."""
    found = []
    for module in modules:
        for each in module.imports:
            target = each.target.partition(".")[0]
            if target in MAY_IMPORT and target != module.package and target not in MAY_IMPORT[module.package]:
                found.append(f'{module.at(each.line)}: "{module.package}" must not import "{each.target}"')
    return found


def imports_within(modules: Sequence[Module]) -> list[str]:
    """Sub-packages import what WITHIN says of their own package."""
    found = []
    for module in modules:
        home = next((each for each in WITHIN if module.name.startswith(f"{each}.")), None)
        for each in module.imports:
            if home is None or each.target.partition(".")[0] != module.package:
                continue
            if not any(f"{each.target}.".startswith(f"{may}.") for may in (home, *WITHIN[home])):
                found.append(f'{module.at(each.line)}: "{home}" must not import "{each.target}"')
    return found


def bare_imports(modules: Sequence[Module]) -> list[str]:
    """A package has one name, below halide_core: by another it would be a second module."""
    found = []
    for module in modules:
        for node in ast.walk(module.tree):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            bare = [n for n in names if n.partition(".")[0] in MAY_IMPORT.keys() - {"halide_core"}]
            found += [f'{module.path}:{node.lineno}: "{n}" is "halide_core.{n}"' for n in bare]
    return found


def import_cycles(modules: Sequence[Module]) -> list[str]:
    """No module imports itself through others, not for annotations either; the lazy imports don't count."""
    return [f"import cycle: {trail}" for trail in _circles(_edges(modules, lambda name: name))]


def package_cycles(modules: Sequence[Module]) -> list[str]:
    """No sub-package imports itself through others; a package's own modules stand each for itself."""
    packages = {m.name for m in modules if m.path.name == "__init__.py"}

    def unit(name: str) -> str:
        parts = name.split(".")
        return ".".join(parts[:2]) if ".".join(parts[:2]) in packages else name

    return [f"cycle of packages: {trail}" for trail in _circles(_edges(modules, unit))]


def _edges(modules: Sequence[Module], unit: Callable[[str], str]) -> dict[str, list[str]]:
    """The imports of each unit when it is loaded, or for annotations."""
    names = dict.fromkeys(m.name for m in modules)
    edges: dict[str, set[str]] = {unit(name): set() for name in names}
    for m in modules:
        edges[unit(m.name)].update(unit(i.target) for i in m.imports if i.at_top and i.target in names)
    return {name: sorted(targets - {name}) for name, targets in edges.items()}


def _circles(edges: Mapping[str, Sequence[str]]) -> list[str]:
    """A trail for each way back that a walk of a graph meets."""
    found: list[str] = []
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            found.append(" -> ".join([*trail[trail.index(name) :], name]))
        elif name not in done:
            for target in edges[name]:
                visit(target, (*trail, name))
            done.add(name)

    for name in edges:
        visit(name, ())
    return found


def late_patches(modules: Sequence[Module]) -> list[str]:
    """No module sets an attribute of a class or a module that it imports."""
    found = []
    for module in modules:
        imported = {each.asname or each.name for node in module.tree.body for each in _names(node)}
        for node in module.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets += [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []
            set_here = [t for t in targets if isinstance(t, ast.Attribute) and _root(t) in imported]
            found += [f"{module.at(node.lineno)}: sets {ast.unparse(t)}, which is another module's" for t in set_here]
    return found


def _names(node: ast.stmt) -> list[ast.alias]:
    return node.names if isinstance(node, ast.Import | ast.ImportFrom) else []


def _root(target: ast.expr) -> str:
    while isinstance(target, ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def late_imports(modules: Sequence[Module]) -> list[str]:
    """Imports stand at the top of their module, or are in LAZY."""
    return [
        f'{module.at(each.line)}: "{each.target}" is imported inside a function or a class'
        for module in modules
        for each in module.imports
        if not each.at_top and each.target not in LAZY.get(module.name, ())
    ]


def imports_by_name(modules: Sequence[Module]) -> list[str]:
    """No import hides in a call, except in BY_NAME."""
    return [
        f"{module.at(node.lineno)}: imports a module by its name at run time"
        for module in modules
        if module.name not in BY_NAME
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and _callee(node.func) in ("import_module", "__import__")
    ]


def _callee(func: ast.expr) -> str:
    match func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def foreign_engines(modules: Sequence[Module]) -> list[str]:
    """Each heavy library is imported by its owners only."""
    found = []
    for module in modules:
        for each in module.imports:
            owners = OWNERS.get(each.target.partition(".")[0], frozenset({module.name}))
            if module.name not in owners:
                may = " and ".join(f'"{o}"' for o in sorted(owners))
                found.append(f'{module.at(each.line)}: only {may} may import "{each.target}"')
    return found


def star_imports(modules: Sequence[Module]) -> list[str]:
    """No star imports."""
    return [f'{m.at(i.line)}: imports "*" from "{i.target}"' for m in modules for i in m.imports if i.star]


def wide_handlers(modules: Sequence[Module]) -> list[str]:
    """No handler catches everything."""
    found = []
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler) and _is_wide(node.type):
                found.append(f"{module.at(node.lineno)}: catches every exception; name the ones that are meant")
            elif isinstance(node, ast.Call) and _callee(node.func) == "suppress" and any(map(_is_wide, node.args)):
                found.append(f"{module.at(node.lineno)}: suppresses every exception; name the ones that are meant")
    return found


def _is_wide(caught: ast.expr | None) -> bool:
    match caught:
        case None:
            return True
        case ast.Tuple(elts=several):
            return any(map(_is_wide, several))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _TOO_WIDE
    return False


def long_files(modules: Sequence[Module]) -> list[str]:
    """One idea per file, and room for it."""
    counts = [(m.path, len(m.text.splitlines())) for m in modules]
    return [f"{path}: {lines} lines, at most {MOST_LINES}" for path, lines in counts if lines > MOST_LINES]


def full_folders(modules: Sequence[Module]) -> list[str]:
    """A folder is a list that can be read at a glance."""
    counts = Counter(m.path.parent for m in modules if m.path.name != "__init__.py")
    return [f"{path}: {n} modules, at most {MOST_MODULES}" for path, n in counts.items() if n > MOST_MODULES]


def repeated_classes(modules: Sequence[Module]) -> list[str]:
    """A class has a name of its own, so that a name means one thing."""
    homes: dict[str, list[str]] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module.at(node.lineno))
    return [f'{", ".join(at)}: class "{name}" is defined more than once' for name, at in homes.items() if len(at) > 1]


def missing_docstrings(modules: Sequence[Module]) -> list[str]:
    """Every module says what it is."""
    return [f"{m.path}: has no docstring" for m in modules if not ast.get_docstring(m.tree)]


PROSE = frozenset({"halide_core", "bounds", "scheduling", "lowering", "runtime"})
"""The packages whose docstrings open with a noun phrase or a verb in the third person."""
_QUESTIONS = ("What", "Whether", "How", "Which")


def question_openings(modules: Sequence[Module]) -> list[str]:
    """A docstring names its thing: it opens with no question word."""
    found = []
    for m in modules:
        for node in ast.walk(m.tree) if m.package in PROSE else ():
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))) if text.split(" ", 1)[0] in _QUESTIONS:
                    found.append(f'{m.path}:{node.lineno}: a docstring opens with "{text.split()[0]}"')
    return found


RULES: tuple[Rule, ...] = (
    upward_imports,
    imports_within,
    bare_imports,
    import_cycles,
    package_cycles,
    late_patches,
    late_imports,
    imports_by_name,
    foreign_engines,
    star_imports,
    wide_handlers,
    long_files,
    full_folders,
    repeated_classes,
    missing_docstrings,
    question_openings,
)


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    return read_modules(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_packages_keep_the_rule(rule: Rule, modules: list[Module]) -> None:
    found = rule(modules)
    if found:
        pytest.fail("\n".join([rule.__doc__ or "", *found]), pytrace=False)


def test_packages_are_all_there(modules: list[Module]) -> None:
    names = {module.name for module in modules}
    folders = {m.name if m.path.name == "__init__.py" else m.name.rpartition(".")[0] for m in modules}
    assert names >= folders | MAY_IMPORT.keys(), "a package without __init__.py is not installed"
    owners = {name for each in OWNERS.values() for name in each}
    packages = {m.name for m in modules if m.path.name == "__init__.py"}
    assert WITHIN.keys() <= packages, "a sub-package of WITHIN is gone"
    assert {may for each in WITHIN.values() for may in each} <= names
    on_first_use = owners | ON_DEMAND | CHOOSING | MEASURING | BUILDING | STORING
    assert {name for lazy in LAZY.values() for name in lazy} <= on_first_use


# ---------------------------------------------------------------------------------------------------------
# The rules can fail.


def _tree(root: Path, files: dict[str, str]) -> list[Module]:
    """A made-up repository; each file gets a docstring unless it brings its own first line."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text if text.startswith(('"', "#")) else f'"""A module."""\n{text}', encoding="utf-8")
    return read_modules(root)


SOUND = {
    "halide_core/__init__.py": "from .func import Func\nfrom . import ir",
    "halide_core/ir.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .types import Type",
    "halide_core/types.py": "import re",
    "halide_core/func.py": "from . import ir\nimport numpy\ntry:\n    pass\nexcept (OSError, ValueError):\n    pass",
    "halide_core/run/implementation.py": "import importlib\ndef backend():\n    return importlib.import_module('x')",
    "scheduling/loops.py": "import sys\nif sys.platform == 'linux':\n    from halide_core.ir import Expr",
    "bounds/engines/polyhedral.py": "import islpy as isl\nfrom halide_core import ir\nfrom .interface import engine",
    "bounds/smt/prover.py": "import z3",
    "bounds/engines/registry.py": "def engine():\n    from . import polyhedral",
    "bounds/oracle.py": "import re",
    "bounds/engines/interface.py": "import re",
    "lowering/passes/__init__.py": "",
    "lowering/passes/b.py": "",
    "lowering/passes/unroll.py": "from ..provenance import record\nimport halide_core.ir",
    "lowering/provenance.py": "import re",
    "lowering/driver.py": "import halide_core.scheduling.loops, halide_core.bounds.oracle",
    "runtime/jit.py": "from halide_core.lowering import driver\nimport re as c\nwith c.suppress(OSError):\n    pass",
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_accepts_a_sound_tree(rule: Rule, tmp_path: Path) -> None:
    assert rule(_tree(tmp_path, SOUND)) == []


@pytest.mark.parametrize(
    ("rule", "path", "text", "message"),
    [
        (upward_imports, "halide_core/a.py", "import halide_core.runtime.c", '2: "halide_core" must not import "ru'),
        (upward_imports, "scheduling/a.py", "from halide_core.bounds import oracle", 'not import "bounds.oracle"'),
        (upward_imports, "bounds/a.py", "def f():\n    import halide_core.scheduling", 'a.py:3: "bounds" must'),
        (upward_imports, "lowering/a.py", "if TYPE_CHECKING:\n    from halide_core.runtime.j import J", '"runtime.j"'),
        (upward_imports, "bounds/a/b.py", "from halide_core.lowering import driver", 'not import "lowering.driver"'),
        (imports_within, "runtime/compile/a.py", "from halide_core.runtime import jit", 'not import "runtime.jit"'),
        (imports_within, "halide_core/ir/a.py", "from halide_core import func", 'must not import "halide_core.func"'),
        (bare_imports, "lowering/a.py", "from bounds.a import x", '"bounds.a" is "halide_core.bounds.a"'),
        (import_cycles, "halide_core/ir.py", "from .func import Func", "halide_core.func -> halide_core.ir -> halide"),
        (import_cycles, "halide_core/ir.py", "from halide_core import Func", "halide_core -> halide_core.func -> "),
        (import_cycles, "lowering/provenance.py", "from .passes import unroll", "lowering.passes.unroll -> lowering.p"),
        (import_cycles, "halide_core/ir.py", "if TYPE_CHECKING:\n    from . import func", "halide_core.func -> halide"),
        (package_cycles, "lowering/provenance.py", "from .passes import b", "lowering.passes -> lowering.provenance"),
        (late_patches, "lowering/a.py", "from halide_core.func import Func\nFunc._of = 3", "sets Func._of, which is"),
        (late_imports, "halide_core/a.py", "def f():\n    if True:\n        import re", 'a.py:4: "re" is imported'),
        (late_imports, "lowering/a.py", "class A:\n    from halide_core import ir", '"halide_core.ir" is imported'),
        (late_imports, "bounds/oracle.py", "def f():\n    import sympy", '"sympy" is imported inside'),
        (imports_by_name, "lowering/a.py", "def f():\n    return __import__('z3')", "a.py:3: imports"),
        (imports_by_name, "runtime/a.py", "import importlib as i\nx = i.import_module('sympy')", "by its name"),
        (foreign_engines, "bounds/oracle.py", "import islpy._isl", 'may import "islpy._isl"'),
        (foreign_engines, "lowering/a.py", "from z3 import Int", '"bounds.smt.z3_api" may import "z3"'),
        (star_imports, "scheduling/a.py", "from halide_core.ir import *", 'imports "*" from "halide_core.ir"'),
        (wide_handlers, "runtime/a.py", "try:\n    pass\nexcept:\n    pass", "a.py:4: catches every exception"),
        (wide_handlers, "runtime/a.py", "try:\n    pass\nexcept (OSError, Exception):\n    pass", "a.py:4: catches"),
        (wide_handlers, "runtime/a.py", "with contextlib.suppress(Exception):\n    pass", "a.py:2: suppresses every"),
        (long_files, "bounds/a.py", "x = 1\n" * MOST_LINES, "bounds/a.py: 601 lines, at most 600"),
        (repeated_classes, "bounds/a.py", "class A:\n    pass\nclass A:\n    pass", 'class "A" is defined more'),
        (question_openings, "bounds/a.py", 'x = 1\n"""What x is."""', 'bounds/a.py:3: a docstring opens with "What"'),
        (missing_docstrings, "bounds/a.py", "# no docstring\nx = 1", "bounds/a.py: has no docstring"),
    ],
)
def test_rule_finds_the_violation(rule: Rule, path: str, text: str, message: str, tmp_path: Path) -> None:
    found = rule(_tree(tmp_path, SOUND | {path: text}))
    assert len(found) == 1
    assert message in found[0]


def test_full_folder_is_found(tmp_path: Path) -> None:
    files = {f"bounds/query/a{i}.py": "" for i in range(MOST_MODULES)}
    assert full_folders(_tree(tmp_path, SOUND | files)) == []
    more = _tree(tmp_path, {"bounds/query/b.py": ""})
    assert full_folders(more) == ["bounds/query: 21 modules, at most 20"]


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "examples", "docs"])
def test_docstrings_beside_the_packages_open_with_no_question(folder: str) -> None:
    opening = re.compile(r'^ *"""(?:What|Whether|How|Which)\b', re.MULTILINE)
    files = (path for path in (ROOT / folder).rglob("*.py") if "out" not in path.parts)
    assert [path for path in files if opening.search(path.read_text(encoding="utf-8"))] == []
