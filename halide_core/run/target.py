"""Targets of code: an architecture, an operating system, and features.

In: a text such as ``x86-64-linux-avx2-fma`` or ``host``, or the parts. Out: a Target that can be asked and compiled
for; what is compiled for this machine with some of its features runs here.

    Target("host").has_feature(TargetFeature.AVX2)   ->   True on most machines of today
    Target("x86-64-linux-avx2").natural_vector_size(Float(32))   ->   8
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Sequence

from halide_core.checks import integer, items, member, of_kind, shown
from halide_core.errors import DefinitionError, NotAvailableError, PipelineError
from halide_core.ir.types import Type
from halide_core.lang.expr import Expr
from halide_core.own_name import package_name
from halide_core.run.implementation import implementation
from halide_core.run.target_names import DeviceAPI, TargetArch, TargetFeature, TargetOS, TargetProcessorTune

_F = TargetFeature
_ARCHS, _SYSTEMS = {a.value: a for a in TargetArch}, {s.value: s for s in TargetOS}
_TUNES = {t.value: t for t in TargetProcessorTune}
_FEATURES = {f.value: f for f in TargetFeature if f is not _F.FeatureEnd}
_BITS = {"32": 32, "64": 64}
_TRACE_ALL = "trace_all"
"""The word of a text that stands for all features of ``_TRACES``."""

_VECTOR_BITS = re.compile(r"vector_bits_([0-9]+)")
"""The word of a text that gives the length of vectors."""

_SKYLAKE = ("avx512f", "avx512cd", "avx512vl", "avx512bw", "avx512dq")
_CANNONLAKE = (*_SKYLAKE, "avx512ifma", "avx512vbmi")
INSTRUCTIONS: dict[TargetFeature, tuple[str, ...]] = {
    _F.SSE41: ("sse4_1",),
    _F.AVX: ("avx",),
    _F.AVX2: ("avx2",),
    _F.AVXVNNI: ("avx_vnni",),
    _F.FMA: ("fma",),
    _F.FMA4: ("fma4",),
    _F.F16C: ("f16c",),
    _F.AVX512: ("avx512f", "avx512cd"),
    _F.AVX512_Skylake: _SKYLAKE,
    _F.AVX512_Cannonlake: _CANNONLAKE,
    _F.AVX512_SapphireRapids: (*_CANNONLAKE, "avx512_bf16", "avx512_vnni", "avx_vnni"),
    _F.AVX512_Zen4: (*_CANNONLAKE, "avx512_bf16", "avx512_vnni", "avx512_bitalg", "avx512_vbmi2", "avx512_vpopcntdq"),
}
"""The x86 instructions that a feature stands for, by the kernel's names for them."""

_OF_OTHERS: dict[TargetArch, frozenset[TargetFeature]] = {
    TargetArch.ARM: frozenset(f for f in _F if f.value.startswith("armv8"))
    | {_F.ARMv7s, _F.NoNEON, _F.SoftFloatABI, _F.ARMDotProd, _F.ARMFp16, _F.SVE, _F.SVE2},
    TargetArch.RISCV: frozenset({_F.RVV}),
    TargetArch.WebAssembly: frozenset({_F.WasmSimd128}),
}
"""The features about instructions of other architectures than x86."""
_SCALABLE = {TargetArch.ARM: (_F.SVE2,), TargetArch.RISCV: (_F.RVV,)}
"""The features about vectors whose length is the machine's."""

_LARGEST = (1 << 63) - 1
# What compiled code does anyway: 64-bit coordinates, no contraction of floats (what a schedule may ask for all the same
# is refused under StrictFloat), and a JIT where it is loaded. About files are NoRuntime (``carries_runtime``), the
# context and the names of functions (``runtime.codegen.linkage``), NoBoundsQuery (``runtime.ahead.queries``), as what
# runs here asks for bounds itself, and Profile, as ``profile`` measures what runs here.
# Debug, EnableBacktraces and EnableLLVMLoopOpt are about how LLVM makes code. NoAsserts lets checks be left out: they
# are kept, as a check changes no answer.
_ABOUT_CALLS = frozenset({_F.UserContext, _F.CPlusPlusMangling, _F.NoBoundsQuery, _F.Profile})
_TRACES = frozenset({_F.TraceLoads, _F.TraceStores, _F.TraceRealizations})
_SHOWN = _TRACES | {_F.TracePipeline}
_NO_DIFFERENCE = frozenset({_F.JIT, _F.LargeBuffers, _F.Debug, _F.EnableBacktraces, _F.EnableLLVMLoopOpt, _F.NoAsserts})
_ALWAYS = _NO_DIFFERENCE | {_F.StrictFloat, _F.NoRuntime} | _ABOUT_CALLS | _SHOWN
_DEVICES = frozenset({_F.CUDA, _F.OpenCL, _F.Metal, _F.D3D12Compute, _F.Vulkan, _F.WebGPU})
_MACHINES = {
    "x86_64": (TargetArch.X86, 64),
    "amd64": (TargetArch.X86, 64),
    "i386": (TargetArch.X86, 32),
    "i686": (TargetArch.X86, 32),
    "aarch64": (TargetArch.ARM, 64),
    "arm64": (TargetArch.ARM, 64),
    "riscv64": (TargetArch.RISCV, 64),
    "ppc64le": (TargetArch.POWERPC, 64),
}
_HOSTS = {"linux": TargetOS.Linux, "darwin": TargetOS.OSX, "win32": TargetOS.Windows}


_MADE = "hl.Target() has incompatible constructor arguments: hl.Target(os, arch, bits, features)"


def _feature(feature: object, call: str) -> TargetFeature:
    """The feature, or an error where it is none: a misspelt one would be taken for one that the target lacks."""
    return member(feature, TargetFeature, call)


def _features(features: Iterable[object], call: str) -> set[TargetFeature]:
    return {member(f, TargetFeature, f"A list in {call}") for f in items(features, f"{call} takes hl.TargetFeatures")}


def _type(type: object, call: str) -> Type:
    return of_kind(type, Type, f"{call} takes a hl.Type, such as hl.Float(32)")


class Target:
    """A machine. ``Target()`` is an unknown one; ``Target(text)``; ``Target(os, arch, bits, features)``;
    ``Target(os, arch, bits, tune, features)``.

    ``vector_bits`` is the length of a vector where an instruction set leaves it to the machine (SVE2, RVV), from the
    word ``vector_bits_512``; 0 where nothing is known of it.

    Raises:
        DefinitionError: a word of the text that names nothing.
    """

    def __init__(
        self,
        os: str | TargetOS = TargetOS.OSUnknown,
        arch: TargetArch = TargetArch.ArchUnknown,
        bits: int = 0,
        tune: TargetProcessorTune | Sequence[TargetFeature] = TargetProcessorTune.TuneGeneric,
        features: Sequence[TargetFeature] = (),
    ) -> None:
        processor = tune if isinstance(tune, TargetProcessorTune) else TargetProcessorTune.TuneGeneric
        if not isinstance(tune, TargetProcessorTune):
            features = tune
        vector_bits = 0
        if isinstance(os, str):
            parsed = _parse(os)
            os, arch, bits, processor = parsed.os, parsed.arch, parsed.bits, parsed.processor_tune
            features = [*parsed._features]
            vector_bits = parsed.vector_bits
        self.os: TargetOS = member(os, TargetOS, _MADE)
        self.arch: TargetArch = member(arch, TargetArch, _MADE)
        self.bits: int = integer(bits, "The bits of a Target are an integer")
        self.processor_tune: TargetProcessorTune = processor
        self.vector_bits: int = vector_bits
        self._features: set[TargetFeature] = _features(features, _MADE)

    # Features.

    def has_feature(self, feature: TargetFeature) -> bool:
        """True where the target has a feature."""
        return _feature(feature, "has_feature()") in self._features

    def features(self) -> frozenset[TargetFeature]:
        """All features."""
        return frozenset(self._features)

    def features_all_of(self, features: Iterable[TargetFeature]) -> bool:
        """True where the target has all of these."""
        return self._features >= _features(features, "features_all_of()")

    def features_any_of(self, features: Iterable[TargetFeature]) -> bool:
        """True where the target has one of these."""
        return not self._features.isdisjoint(_features(features, "features_any_of()"))

    def set_feature(self, f: TargetFeature, value: bool = True) -> None:
        """Adds a feature, or takes it away."""
        (self._features.add if value else self._features.discard)(_feature(f, "set_feature()"))

    def set_features(self, features: Iterable[TargetFeature], value: bool = True) -> None:
        """Adds features, or takes them away."""
        for f in _features(features, "set_features()"):
            self.set_feature(f, value)

    def with_feature(self, feature: TargetFeature) -> Target:
        """A copy that has a feature."""
        return self._with([*self._features, _feature(feature, "with_feature()")])

    def without_feature(self, feature: TargetFeature) -> Target:
        """A copy that does not have a feature."""
        without = _feature(feature, "without_feature()")
        return self._with([f for f in self._features if f is not without])

    def _with(self, features: Sequence[TargetFeature]) -> Target:
        """A copy with these features instead."""
        target = Target(self.os, self.arch, self.bits, self.processor_tune, features)
        target.vector_bits = self.vector_bits
        return target

    # What follows from it.

    def natural_vector_size(self, type: Type) -> int:
        """The number of values of a type in the widest vector register that suits the type."""
        type = _type(type, "natural_vector_size()")
        wide = self.features_any_of(f for f in INSTRUCTIONS if "avx512f" in INSTRUCTIONS[f])
        wide_integers = self.features_any_of(f for f in INSTRUCTIONS if "avx512bw" in INSTRUCTIONS[f])
        if self.arch is TargetArch.WebAssembly and not self.has_feature(_F.WasmSimd128):
            width = 1
        elif self.vector_bits and self.features_any_of(_SCALABLE.get(self.arch, ())):
            width = self.vector_bits // 8
        elif self.arch is not TargetArch.X86:
            width = 16
        elif wide_integers or (wide and (type.is_float() or type.bits() >= 32)):
            width = 64
        elif self.has_feature(_F.AVX2) or (self.has_feature(_F.AVX) and type.is_float()):
            width = 32
        else:
            width = 16
        return max(1, width // type.bytes())

    def has_large_buffers(self) -> bool:
        """True where LargeBuffers is among the features. Code of this compiler can do with large buffers anyway."""
        return self.bits == 64 and self.has_feature(_F.LargeBuffers)

    def maximum_buffer_size(self) -> int:
        """Bytes that a buffer has at most."""
        return _LARGEST if self.has_large_buffers() else (1 << 31) - 1

    def has_gpu_feature(self) -> bool:
        """True where a feature names a device. No code is made for one."""
        return self.features_any_of(_DEVICES)

    def supports_device_api(self, api: DeviceAPI) -> bool:
        """True where the target's features name such a device; on the host loops run anywhere. No code is made for a
        device all the same: ``supported()`` says that."""
        if member(api, DeviceAPI, "supports_device_api()") in (DeviceAPI.None_, DeviceAPI.Host):
            return True
        feature = _FEATURES_OF_DEVICES.get(api)
        return self.has_gpu_feature() if api is DeviceAPI.Default_GPU else feature in self._features

    def supports_type(self, type: Type, device: DeviceAPI = DeviceAPI.Host) -> bool:
        """True where code for the target, or for a device of its, can compute with a type."""
        type, device = _type(type, "supports_type()"), member(device, DeviceAPI, "supports_type()")
        on_metal = device is DeviceAPI.Metal or (device is DeviceAPI.Host and self.has_feature(TargetFeature.Metal))
        if on_metal and type.is_float() and type.bits() == 64:
            return False
        return not type.is_handle() or type.is_scalar()

    def supported(self) -> bool:
        """True where code can be made for this target, here."""
        return not _unsupported(self)

    @staticmethod
    def validate_target_string(name: str) -> bool:
        """True where a text names a target."""
        if not isinstance(name, str):
            raise DefinitionError(f"validate_target_string() takes a text, not {shown(name)}.")
        try:
            _parse(name)
        except DefinitionError:
            return False
        return True

    def to_string(self) -> str:
        """The target's text; ``Target(text)`` is an equal one."""
        words = [self.arch.value, str(self.bits), self.os.value]
        if self.processor_tune is not TargetProcessorTune.TuneGeneric:
            words.append(self.processor_tune.value)
        every = self._features >= _TRACES
        named = [f.value for f in self._features if not (every and f in _TRACES)]
        sized = [f"vector_bits_{self.vector_bits}"] if self.vector_bits else []
        return "-".join([*words, *sorted([*named, _TRACE_ALL] if every else named), *sized])

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"<{package_name()}.Target {self.to_string()}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())


def _parse(text: str) -> Target:
    """The target of a text: ``host`` first, or words in any order; what is left out is this machine's."""
    words = text.split("-")
    host = get_host_target()
    if words[0] == "host" or text == "":
        target, words = host, words[1:]
    else:
        target = Target(host.os, host.arch, host.bits)
    for word in words:
        if word in _ARCHS:
            target.arch = _ARCHS[word]
        elif word in _BITS:
            target.bits = _BITS[word]
        elif word in _SYSTEMS:
            target.os = _SYSTEMS[word]
        elif word in _TUNES:
            target.processor_tune = _TUNES[word]
        elif word in _FEATURES:
            target.set_feature(_FEATURES[word])
        elif word == _TRACE_ALL:
            target.set_features(_TRACES)
        elif sized := _VECTOR_BITS.fullmatch(word):
            target.vector_bits = int(sized[1])
        else:
            raise DefinitionError(
                f'"{word}" in the target "{text}" names nothing. A target is arch-bits-os-feature-… or host-…: '
                f"arch is {', '.join(_ARCHS)}; bits are 32 or 64; os is {', '.join(_SYSTEMS)}; "
                f"features are {', '.join(sorted(_FEATURES))}; vector_bits_512 tells the length of vectors."
            )
    return target


def get_host_target() -> Target:
    """This machine, with the features that its processor has."""
    unknown = (TargetArch.ArchUnknown, 64 if sys.maxsize > 1 << 32 else 32)
    arch, bits = _MACHINES.get(platform.machine().lower(), unknown)
    target = Target(_HOSTS.get(sys.platform, TargetOS.OSUnknown), arch, bits)
    if arch is TargetArch.X86:
        has: frozenset[str] = implementation().cpu_features()
        target.set_features(f for f, needed in INSTRUCTIONS.items() if has.issuperset(needed))
    return target


def get_target_from_environment() -> Target:
    """The target that HL_TARGET names, else this machine."""
    return Target(os.environ.get("HL_TARGET") or "host")


def get_jit_target_from_environment() -> Target:
    """The target that HL_JIT_TARGET names, else this machine; with the feature JIT."""
    return Target(os.environ.get("HL_JIT_TARGET") or "host").with_feature(_F.JIT)


# Halide gives these as expressions, so that definitions can mention them. They tell of this machine, whichever target a
# pipeline is compiled for: what they are good for, choosing a schedule or an algorithm, is done before.


def target_has_feature(feature: TargetFeature) -> Expr:
    """True where this machine has a feature."""
    return Expr(get_host_target().has_feature(feature))


def target_arch_is(arch: TargetArch) -> Expr:
    """True where this machine has an instruction set."""
    return Expr(get_host_target().arch is member(arch, TargetArch, "target_arch_is()"))


def target_os_is(os: TargetOS) -> Expr:
    """True where this machine has an operating system."""
    return Expr(get_host_target().os is member(os, TargetOS, "target_os_is()"))


def target_bits() -> Expr:
    """The bits of an address on this machine."""
    return Expr(get_host_target().bits)


def target_natural_vector_size(type: Type) -> Expr:
    """The number of values of a type in a vector register of this machine."""
    return Expr(get_host_target().natural_vector_size(type))


# Compiling for a target.


def is_this_machine(target: Target) -> bool:
    """True where a target is this machine but for its instructions."""
    host = get_host_target()
    return (target.arch, target.bits, target.os) == (host.arch, host.bits, host.os)


def _unsupported(target: Target) -> str:
    """Why no code can be made for a target here; empty where it can."""
    if not is_this_machine(target):
        reason: str = implementation().unreached(target)
        if reason:
            return reason
    instructions = INSTRUCTIONS if target.arch is TargetArch.X86 else _OF_OTHERS.get(target.arch, frozenset())
    others = sorted(f.value for f in target.features() - _ALWAYS - frozenset(instructions))
    return f"these features are not available yet: {', '.join(others)}" if others else ""


def checked_target(target: object, *, runs_here: bool) -> Target | None:
    """The target to compile for: None for this machine as it is. Where no target is given, HL_JIT_TARGET names the one
    of code that runs here, and HL_TARGET that of files. Code that runs here knows its machine: ``Target()``, which is
    what Halide's calls have where none is given, is none here too.

    Raises:
        NotAvailableError: a machine that is not reached, or a feature that does something which is not here yet.
        PipelineError: no Target; or another machine, or instructions that this one doesn't have, where the code is to
            run here.
    """
    if target is None or (runs_here and isinstance(target, Target) and target == Target()):
        target = os.environ.get("HL_JIT_TARGET" if runs_here else "HL_TARGET") or None
    if target is None:
        return None
    if isinstance(target, str):
        target = Target(target)
    if isinstance(target, int):
        raise PipelineError("The sizes of a realization are a list: realize([width, height]).")
    if not isinstance(target, Target):
        raise PipelineError(f"A target is a hl.Target, not {target!r}.")
    reason = _unsupported(target)
    if runs_here and target.has_feature(_F.Profile):
        reason = "what runs here is measured by hl.profile(f, sizes), or in a whole program by HL_PROFILE=1"
    if reason:
        raise NotAvailableError(f'No code can be made for the target "{target}": {reason}.')
    if runs_here and not is_this_machine(target):
        raise PipelineError(f'Code for the target "{target}" can\'t run here: this machine is {get_host_target()}.')
    wanted, has = target.features() & frozenset(INSTRUCTIONS), get_host_target().features()
    if runs_here and not wanted <= has:
        raise PipelineError(
            f'Code for the target "{target}" can\'t run here: this machine does not have '
            f"{', '.join(sorted(f.value for f in wanted - has))}."
        )
    plain = (runs_here or not target.features() & _ABOUT_CALLS) and not target.features() & _SHOWN
    return None if is_this_machine(target) and wanted == has and plain and not wants_strict_floats(target) else target


def wants_strict_floats(target: Target | None) -> bool:
    """True where no schedule may change how floats are rounded, not even on the user's word."""
    return target is not None and target.has_feature(_F.StrictFloat)


def traces_pipeline(target: Target | None) -> bool:
    """True where a pipeline shows its begin and its end, even if nothing of it is traced."""
    return target is not None and target.has_feature(_F.TracePipeline)


def carries_runtime(target: Target | str | None) -> bool:
    """True where a library for a target carries the runtime: unless it has NoRuntime."""
    target = os.environ.get("HL_TARGET") or None if target is None else target
    made_for = Target(target) if isinstance(target, str) else target
    return made_for is None or not made_for.has_feature(_F.NoRuntime)


_FEATURES_OF_DEVICES = {
    DeviceAPI.CUDA: _F.CUDA,
    DeviceAPI.Vulkan: _F.Vulkan,
    DeviceAPI.OpenCL: _F.OpenCL,
    DeviceAPI.Metal: _F.Metal,
    DeviceAPI.Hexagon: _F.HVX_128,
}


def target_feature_for_device_api(api: DeviceAPI) -> TargetFeature:
    """The feature of targets that have such a device; FeatureEnd where none stands for it."""
    return _FEATURES_OF_DEVICES.get(member(api, DeviceAPI, "target_feature_for_device_api()"), _F.FeatureEnd)


def host_supports_target_device(target: Target) -> bool:
    """True where this machine has the devices that a target names: where it names none."""
    return not of_kind(target, Target, "host_supports_target_device() takes a hl.Target").has_gpu_feature()
