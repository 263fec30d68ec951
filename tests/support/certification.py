"""Certification in the test suite: what a test compiles is certified too, once a run and program.

In: the folder of a test. Out: HL_CERTIFY=1 for the tests of the folders listed here, so that a claim that is refuted or
left open fails the test; programs of one text are certified once, and those that are too large not at all.

    with certified(): f.realize([8])   ->   CertificateError, where the certificate of f fails
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import halide_core.lowering.certify
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Query
from halide_core.bounds.verify.certificate import PipelineCertificate
from halide_core.ir import Stmt
from halide_core.ir.printer import format_stmt
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lowering.certify import certify_program

FOLDERS = ("apps", "lowering", "property", "runtime", "scheduling")
"""Below ``tests``: each test in them certifies what it compiles, unless it is marked ``uncertified``."""

LARGEST = 1500
"""Programs of more expressions and statements can take many seconds to certify; other tests certify large ones."""

_certified: set[str] = set()


def size(tree: Stmt) -> int:
    """The number of distinct expressions and statements of a program."""
    stmts = list(walk(tree))
    return len(stmts) + sum(1 for _ in subexpressions([e for s in stmts for e in stmt_exprs(s)]))


def _digest(query: Query, tree: Stmt) -> str:
    """A program's text, and the types of what it names."""
    algorithm = query.program.algorithm
    types = [f"{c.name}: {c.types}" for c in (*algorithm.functions, *algorithm.images)]
    types += [f"{p.name}: {p.type} {p.low} {p.high}" for p in algorithm.params]
    return hashlib.sha256("\n".join([*types, format_stmt(tree)]).encode()).hexdigest()


def certify_once(name: str, query: Query, answers: Answers, tree: Stmt) -> PipelineCertificate:
    """The certificate of a program; an empty one where the program is too large, or was certified before."""
    digest = _digest(query, tree)
    if digest in _certified or size(tree) > LARGEST:
        return PipelineCertificate(name, (), {})
    certificate = certify_program(name, query, answers, tree)
    if certificate.ok:
        _certified.add(digest)
    return certificate


@contextmanager
def certified() -> Iterator[None]:
    """Meanwhile every compile is certified, each program once a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HL_CERTIFY", "1")
        patch.setattr(halide_core.lowering.certify, "certify_program", certify_once)
        yield
