"""The command line of Generators, with Halide's flags.

In: the words after the script's name. Out: files in a folder.

    python brighten.py -g brighten -o out target=host by=20   ->   out/brighten.a, out/brighten.h, …
"""

from __future__ import annotations

import contextlib
import re
import runpy
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from halide_core.errors import DefinitionError, HalideError, NotAvailableError, user_location
from halide_core.generate.context import AutoschedulerParams, GeneratorContext
from halide_core.generate.registry import create, names
from halide_core.run.automatic import load_plugin
from halide_core.run.output_files import OutputFileType, compile_standalone_runtime, write_versions
from halide_core.run.target import Target, get_target_from_environment

EXTENSIONS = {
    OutputFileType.assembly: ".s",
    OutputFileType.c_header: ".h",
    OutputFileType.c_source: ".halide_generated.c",
    OutputFileType.conceptual_stmt: ".conceptual.stmt",
    OutputFileType.conceptual_stmt_html: ".conceptual.stmt.html",
    OutputFileType.featurization: ".featurization",
    OutputFileType.hlpipe: ".hlpipe",
    OutputFileType.object: ".o",
    OutputFileType.python_extension: ".abi3.so",
    OutputFileType.pytorch_wrapper: ".pytorch.h",
    OutputFileType.registration: ".registration.cpp",
    OutputFileType.schedule: ".schedule.py",
    OutputFileType.static_library: ".a",
    OutputFileType.stmt: ".stmt",
    OutputFileType.stmt_html: ".stmt.html",
}
"""The endings of files' names, by their types: those that ``-e`` can ask for."""

_DEFAULT = "c_header,static_library,registration"

USAGE = f"""usage: [-g GENERATOR] [-f FUNCTION] [-o FOLDER] [-n FILE_NAME] [-e KIND,KIND…] [-r RUNTIME]
       [-p PLUGIN,…] [-t SECONDS] [-v 0|1] [target=TARGET] [autoscheduler=NAME] [PARAMETER=VALUE …]

  -g  the Generator; it may be left out where there is one only
  -f  the name of the C function; else that of the Generator
  -o  the folder for the files
  -n  what the files' names begin with; else the name of the function
  -e  the files to write, of
      {", ".join(kind.name for kind in EXTENSIONS)};
      else {_DEFAULT.replace(",", ", ")}
  -r  the name of a runtime to write (object, static_library), for libraries whose target has no_runtime
  -p  plugins of Halide's with autoschedulers, which are here anyway
  -t  end with an error after so many seconds
  -v  1: list the files

  target=TARGET,TARGET…  a function for several targets: the first whose instructions the processor has is called
  PARAMETER=VALUE sets a GeneratorParam; NAME.type=uint8 and NAME.dim=2 say what an input or an output leaves open.
"""


def main() -> None:
    """Writes the files that the command line of a script with Generators asks for: the script's last line.

    Raises:
        SystemExit: with status 1, after a message, where that can't be done.
    """
    status = run(sys.argv[1:])
    if status:
        sys.exit(status)


def generate_from(words: Sequence[str]) -> int:
    """``python -m halide_core generate FILE_OR_MODULE flags…``: loads the Generators of a file or a module first."""
    if words[:1] == ["-r"]:
        return run(words)  # the runtime is no Generator's
    if not words or words[0].startswith("-"):
        sys.stderr.write(f"generate needs a Python file, or a module, with Generators.\n\n{USAGE}")
        return 2
    try:
        if words[0].endswith(".py"):
            sys.path.insert(0, str(Path(words[0]).resolve().parent))
            runpy.run_path(words[0], run_name=Path(words[0]).stem)
        else:
            sys.path.insert(0, "")
            runpy.run_module(words[0])
    except (OSError, ImportError, HalideError) as error:
        sys.stderr.write(f"{words[0]} can't be loaded: {error}\n")
        return 1
    return run(words[1:])


def run(words: Sequence[str]) -> int:
    """Does what the words say. Returns: 0, or 1 after a message on stderr."""
    if set(words) & {"-h", "-help", "--help"}:
        sys.stdout.write(f"{USAGE}\nGenerators: {', '.join(names()) or 'none'}\n")
        return 0
    here = user_location()
    try:
        asked = _parse(words)
        with _time_limit(asked.seconds):
            _write(asked)
    except HalideError as error:
        told = error.message if error.location == here else str(error)  # the line that calls main() is no fault
        sys.stderr.write(f"Error: {told}\n")
        return 1
    return 0


@dataclass
class _CommandLine:
    """A parsed command line."""

    flags: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The greatest time it may take, in seconds; 0 for as long as it takes."""
        try:
            return float(self.flags.get("t", "0"))
        except ValueError:
            raise DefinitionError(f"-t takes a number of seconds, not {self.flags['t']!r}.") from None


_KNOWN = frozenset("gfonertvpsd")


def _parse(words: Sequence[str]) -> _CommandLine:
    asked, rest = _CommandLine(), iter(words)
    for word in rest:
        if word.startswith("-"):
            flag = word[1:]
            if flag not in _KNOWN:
                raise DefinitionError(f"Unknown flag: {word}\n\n{USAGE}")
            value = next(rest, None)
            if value is None:
                raise DefinitionError(f"{word} needs a value.\n\n{USAGE}")
            asked.flags[flag] = value
            continue
        name, equals, value = word.partition("=")
        if not equals:
            raise DefinitionError(f'"{word}" is no flag, and no PARAMETER=VALUE.\n\n{USAGE}')
        if name in asked.parameters:
            raise DefinitionError(f'"{name}" is set twice.')
        asked.parameters[name] = value
    if asked.flags.get("d", "0") != "0":
        raise NotAvailableError("Gradients (-d) are not available yet.")
    for plugin in filter(None, asked.flags.get("p", "").split(",")):
        load_plugin(plugin)
    return asked


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises HalideError inside of the block when so many seconds have passed, where the system can."""
    if seconds <= 0 or not hasattr(signal, "setitimer"):
        yield
        return

    def ended(*_: object) -> None:
        raise HalideError(f"The time that -t gives, {seconds:g} s, is over.")

    before = signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _write(asked: _CommandLine) -> None:
    flags, parameters = asked.flags, dict(asked.parameters)
    if "g" not in flags and "r" not in flags and len(names()) != 1:
        told = f"-g names a Generator, or -r a runtime to write. The Generators are: {', '.join(names()) or 'none'}."
        raise DefinitionError(f"{told}\n\n{USAGE}")
    if not flags.get("o"):
        raise DefinitionError(f"-o names the folder for the files.\n\n{USAGE}")
    folder, targets = Path(flags["o"]), _targets(parameters.pop("target", ""))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HalideError(f"The folder {folder} can't be made: {error.strerror}.") from error
    written: list[Path] = []
    if "r" in flags:
        chosen = [k for k in _kinds(flags.get("e", "static_library")) if k in _OF_RUNTIME]
        files = {kind: folder / f"{flags['r']}{EXTENSIONS[kind]}" for kind in chosen}
        compile_standalone_runtime({kind: str(path) for kind, path in files.items()}, targets[-1])
        written += files.values()
    if "g" in flags or "r" not in flags:
        written += _write_generator(flags, parameters, folder, targets)
    if flags.get("v", "0") != "0":
        sys.stdout.write("".join(f"{path}\n" for path in written))


_OF_RUNTIME = (OutputFileType.object, OutputFileType.static_library)


def _write_generator(
    flags: dict[str, str], parameters: dict[str, str], folder: Path, targets: Sequence[Target]
) -> list[Path]:
    autoscheduler = AutoschedulerParams(parameters.pop("autoscheduler", "") or flags.get("s", ""))
    for name in [n for n in parameters if n.startswith("autoscheduler.")]:
        autoscheduler.extra[name.partition(".")[2]] = parameters.pop(name)
    name = flags.get("g") or names()[0]
    function = flags.get("f") or re.sub(r"\W", "_", name, flags=re.ASCII)
    base = flags.get("n") or function.split("::")[-1]
    files = {kind: folder / f"{base}{EXTENSIONS[kind]}" for kind in _kinds(flags.get("e", _DEFAULT))}
    outputs = {kind: str(path) for kind, path in files.items()}
    modules = []
    for target in targets:  # a Generator asks for its target's registers
        generator = create(name, GeneratorContext(target, autoscheduler), parameters)
        modules.append(generator._build_pipeline().compile_to_module(generator._inputs(), function, target))
    if len(modules) > 1:
        write_versions(modules, outputs)
    else:
        modules[0].compile(outputs)
    return list(files.values())


def _kinds(text: str) -> list[OutputFileType]:
    """The kinds of files that a text lists.

    Raises:
        DefinitionError: a word that is no kind of file. NotAvailableError: one that can't be written.
    """
    kinds = []
    for word in text.split(","):
        if word not in OutputFileType.__members__:
            raise DefinitionError(f'"{word}" is no kind of file for -e; these are: {_listed()}.')
        kind = OutputFileType[word]
        if kind not in EXTENSIONS:
            raise NotAvailableError(f'A file of the kind "{word}" can\'t be written; these can: {_listed()}.')
        kinds.append(kind)
    return kinds


def _listed() -> str:
    return ", ".join(kind.name for kind in EXTENSIONS)


def _targets(text: str) -> list[Target]:
    return [Target(each) for each in text.split(",")] if text else [get_target_from_environment()]
