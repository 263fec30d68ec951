"""One function compiled for several targets, and a choice among them when it is first called.

In: how the function is called, the versions' suffixes and targets, their arguments. Out: C text of a unit that defines
the function, which calls the first version whose instructions the processor has.

    emit_choice("blur", …, ["avx2", "sse41"], …)
    ->   int blur(…) { switch (chosen()) { case 0: return blur_avx2(…); … } }
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halide_core.errors import PipelineError
from halide_core.run.backend import Argument, Request
from halide_core.run.target import INSTRUCTIONS, Target, get_host_target
from halide_core.run.target_names import TargetArch
from halide_core.runtime.codegen.linkage import Linkage
from halide_core.runtime.codegen.names import RUNTIME_INCLUDES, Names, string

SUPPORT = Path(__file__).resolve().parent / "processor.h"
BITS = {
    "sse4_1": "1, 0, ECX, 19",
    "fma": "1, 0, ECX, 12",
    "avx": "1, 0, ECX, 28",
    "f16c": "1, 0, ECX, 29",
    "avx2": "7, 0, EBX, 5",
    "avx512f": "7, 0, EBX, 16",
    "avx512dq": "7, 0, EBX, 17",
    "avx512ifma": "7, 0, EBX, 21",
    "avx512cd": "7, 0, EBX, 28",
    "avx512bw": "7, 0, EBX, 30",
    "avx512vl": "7, 0, EBX, 31",
    "avx512vbmi": "7, 0, ECX, 1",
    "avx512_vbmi2": "7, 0, ECX, 6",
    "avx512_vnni": "7, 0, ECX, 11",
    "avx512_bitalg": "7, 0, ECX, 12",
    "avx512_vpopcntdq": "7, 0, ECX, 14",
    "avx_vnni": "7, 1, EAX, 4",
    "avx512_bf16": "7, 1, EAX, 5",
    "fma4": "0x80000001, 0, ECX, 16",
}
"""Where cpuid tells of instructions: leaf, part of it, register, bit."""


def suffixes_of(targets: Sequence[Target]) -> list[str]:
    """A name for each version: the features that it has and not all of them have."""
    common = frozenset.intersection(*(t.features() for t in targets))
    return ["_".join(sorted(f.value for f in t.features() - common)) or "plain" for t in targets]


def check_versions(requests: Sequence[Request]) -> list[Target]:
    """The targets of the versions of one function.

    Raises:
        PipelineError: targets of several machines; one that is there twice; more than one where the processor can't be
            asked when the program runs.
    """
    targets = [request.target or get_host_target() for request in requests]
    first = targets[0]
    for t in targets:
        if (t.arch, t.bits, t.os) != (first.arch, first.bits, first.os):
            raise PipelineError(f'Versions of one function are for one machine; "{first}" and "{t}" are two.')
        if targets.count(t) > 1:
            raise PipelineError(f'The target "{t}" is given twice.')
    if len(targets) > 1 and first.arch is not TargetArch.X86:
        raise PipelineError(f'A version can be chosen at run time on x86 only; the target "{first}" is for another.')
    if len({request.runtime for request in requests}) > 1:
        raise PipelineError("All targets of one function have no_runtime, or none has.")
    return targets


def emit_choice(
    name: str, linkage: Linkage, arguments: Sequence[Argument], suffixes: Sequence[str], targets: Sequence[Target]
) -> str:
    """The unit with the function, its ``_argv`` and its ``_metadata``."""
    function, names = linkage.function, Names()
    versions = [linkage.version(suffix).function for suffix in suffixes]
    for called in (function, *versions, "chosen"):  # no argument stands before what is called
        names.reserve(called)
    signature, passed = linkage.parameters(arguments, names), linkage.passed(arguments, names)
    missing = string(f'Pipeline "{name}": no version of it is for this processor.')
    fail = f"return halide_core_error(halide_core_error_assertion_failed, {missing});"
    body = _choosing(targets)
    for suffix, given, values in (("", signature, passed), ("_argv", "void **_arguments", "_arguments")):
        body += "".join(f"int {version}{suffix}({given});\n" for version in versions)
        body += f"int {function}{suffix}({given}) {{\n{_switch(versions, suffix, values, fail)}}}\n\n"
    head = "const struct halide_filter_metadata_t *{}_metadata(void)"
    body += "".join(f"{head.format(version)};\n" for version in (*versions, function))
    # Of a processor that can run none, the last one's: it tells as well what arguments there are.
    last = f"return {versions[-1]}_metadata();"
    body += f"{head.format(function)} {{\n{_switch(versions, '_metadata', '', last)}}}\n"
    declared = Linkage(function, context=linkage.context).declared(arguments)
    return f'{linkage.labels(arguments)}{RUNTIME_INCLUDES}{declared}\n{body}'


def _switch(versions: Sequence[str], suffix: str, passed: str, otherwise: str) -> str:
    cases = "".join(f"    case {i}: return {version}{suffix}({passed});\n" for i, version in enumerate(versions))
    return f"    switch (chosen()) {{\n{cases}    default: {otherwise}\n    }}\n"


def _choosing(targets: Sequence[Target]) -> str:
    """The function that tells the version; what it finds is kept, and two threads find the same."""
    tests = []
    for i, target in enumerate(targets):
        needed = dict.fromkeys(i for f, those in INSTRUCTIONS.items() if target.has_feature(f) for i in those)
        states = {"SAVES_AVX512" if i.startswith("avx512") else "SAVES_AVX" for i in needed if i != "sse4_1"}
        has = [f"system_saves({state})" for state in sorted(states)]
        has += [f"processor_has({BITS[i]})" for i in needed]
        condition = " && ".join(has) or "1"
        tests.append(f"{condition}\n            ? {i}")
    choice = "\n            : ".join(tests)
    return (
        f"{SUPPORT.read_text(encoding='utf-8')}\n"
        "static int chosen(void) {\n    static atomic_int kept = -2;\n"
        "    int version = atomic_load_explicit(&kept, memory_order_relaxed);\n"
        "    if (version == -2) {\n"
        f"        version = {choice}\n            : -1;\n"
        "        atomic_store_explicit(&kept, version, memory_order_relaxed);\n    }\n    return version;\n}\n\n"
    )
