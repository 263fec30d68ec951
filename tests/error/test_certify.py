"""Certificates on demand: HL_CERTIFY, and what a failing claim tells the user."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.verify.certificate import failure_text
from halide_core.bounds.verify.vc import Status
from halide_core.ir.visitor import walk
from halide_core.lowering import driver
from halide_core.lowering.certify import demand
from tests.support.blame import refused
from tests.support.certifying import certified, compiled, replaced

x, y, xo, xi = (hl.Var(n) for n in "x y xo xi".split())


def shifted() -> hl.Func:
    source = hl.ImageParam(hl.Int(32), 1, "source")
    source.set(np.arange(20, dtype=np.int32))
    f = hl.Func("f")
    f[x] = source[x + 3]
    return f


def without_checks(tree: ir.Stmt) -> ir.Stmt:
    for s in [s for s in walk(tree) if isinstance(s, ir.Assert)]:
        tree = replaced(tree, s, ir.NOTHING)
    return tree


def test_setting_certifies_every_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_CERTIFY", "1")
    assert np.asarray(shifted().realize([4])).tolist() == [3, 4, 5, 6]


def test_setting_without_a_meaning_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_CERTIFY", "yes")
    f = shifted()
    refused(hl.HalideError, lambda: f.realize([4]), 'HL_CERTIFY="yes"', "1", at="f.realize([4])")


def broken_fill(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """A compiler whose programs lack their start-up checks; with a cache of its own, since its key is the usual."""
    monkeypatch.setenv("HL_CACHE_DIR", str(cache))
    original = driver.check_layouts

    def dropping(stmt: ir.Stmt, algorithm: object) -> ir.Stmt:
        return without_checks(original(stmt, algorithm))  # type: ignore[arg-type]

    monkeypatch.setattr(driver, "check_layouts", dropping)


def test_wrong_compile_is_refused_when_a_certificate_is_demanded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken_fill(monkeypatch, tmp_path)
    f = shifted()
    assert np.asarray(f.realize([4])).tolist() == [3, 4, 5, 6]  # nobody asked
    monkeypatch.setenv("HL_CERTIFY", "1")
    error = refused(hl.CertificateError, lambda: f.realize([4]), '"source"', "f.min.0", at="f[x] = source[x + 3]")
    assert "refuted" in error.message and "It fails for" in error.message


def test_cache_does_not_stand_for_a_certificate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken_fill(monkeypatch, tmp_path)
    shifted().compile_jit()
    monkeypatch.setenv("HL_CERTIFY", "1")
    with pytest.raises(hl.CertificateError):
        shifted().compile_jit()


def test_files_are_not_written_without_the_certificate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken_fill(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("HL_CERTIFY", "1")
    source = hl.ImageParam(hl.Int(32), 1, "source")
    f = hl.Func("f")
    f[x] = source[x]
    with pytest.raises(hl.CertificateError):
        f.compile_to_c(str(tmp_path / "f.c"), [source])
    assert list(tmp_path.iterdir()) == []


def test_failing_claim_names_access_line_values_and_remedy() -> None:
    parts = compiled(shifted())
    certificate = certified(parts, tree=without_checks(parts.tree))
    assert not certificate.ok
    with pytest.raises(hl.CertificateError) as caught:
        demand(certificate)
    for part in ('"source"', "What can help", "hl.clamp", "It fails for", "f.min.0 = "):
        assert part in caught.value.message, part
    texts = [failure_text(r) for r in certificate.failures]
    assert any('"source" has the region' in t for t in texts)


def test_missing_solver_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "halide_core.bounds.smt.prover", raising=False)
    monkeypatch.setitem(sys.modules, "z3", None)
    f = shifted()
    with pytest.raises(hl.HalideError, match=r'z3 .* pip install "halide-core\[bounds\]"'):
        f.certify()


def test_certificate_is_the_same_twice() -> None:
    def statuses() -> list[tuple[str, Status]]:
        return [(r.claim.told(), r.status) for r in certified(compiled(shifted())).results]

    assert statuses() == statuses()
