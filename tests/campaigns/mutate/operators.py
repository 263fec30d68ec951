"""The operators: every edit that a file allows.

In: a file's path and text. Out: its Mutants, in the order of the text.

    if a and b < 1: checks.append(c)
    ->  relation: b <= 1;  offset: 2, 0;  conjunct: if b < 1, if a;  obligation: pass
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.campaigns.mutate.mutant import Edit, Mutant, Operator
from tests.campaigns.mutate.reached import blocks
from tests.campaigns.mutate.regions import places
from tests.campaigns.mutate.source import Source
from tests.campaigns.mutate.statements import dropped_elements, dropped_statement, swapped_statements

_RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
# The operators of the programs that are compiled: functions that build them, and members of BinaryOp.
_BUILT_RELATIONS = {"less": "less_equal", "less_equal": "less", "LT": "LE", "LE": "LT", "EQ": "NE", "NE": "EQ"}
_BUILT_SIGNS = {"add": "sub", "sub": "add", "ADD": "SUB", "SUB": "ADD"}
_BUILT_OFFSETS = {"ONE": "ZERO", "ZERO": "ONE"}
_EXTREMES = {"min": "max", "max": "min"}
_BUILT_EXTREMES = {"minimum": "maximum", "maximum": "minimum", "MIN": "MAX", "MAX": "MIN"}
_BUILDERS = frozenset({"ir", "BinaryOp", "simplifier", "Simplifier"})
_SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)
_ANY = "*"

_Found = tuple[Operator, Edit]


def mutants(path: str, text: bytes) -> list[Mutant]:
    """Every mutant of a file."""
    source = Source(text)
    inside = [(source.start(first), source.end(last), first.lineno) for first, last in blocks(source.tree)]
    found: list[Mutant] = []
    for place in places(source.tree):
        counts = dict.fromkeys(Operator, 0)
        edits = [each for node in place.nodes for each in _edits(node, source)]
        for operator, edit in sorted(edits, key=lambda e: (e[1].start, e[1].end, e[1].new)):
            counts[operator] += 1
            line = text.count(b"\n", 0, edit.start) + 1
            around = [(start, first) for start, end, first in inside if start <= edit.start and edit.end <= end]
            reached = f"{path}:{max(around)[1]}" if around else None
            found.append(Mutant(path, place.name, operator, counts[operator], line, edit, reached))
    return found


def _edits(node: ast.AST, source: Source) -> Iterator[_Found]:
    match node:
        case ast.Compare():
            yield from _relations(node, source)
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            for other in (value + 1, value - 1):
                if value or other > 0 or id(node) not in source.indices:  # a[-1] counts from the other end
                    yield Operator.OFFSET, source.replaced(node, str(other))
        case ast.BinOp(left=a, op=ast.Add() | ast.Sub() as op, right=b) if not _joins(a, b):
            yield Operator.SIGN, source.between(a, b, "-" if isinstance(op, ast.Add) else "+")
        case ast.AugAssign(target=a, op=ast.Add() | ast.Sub() as op, value=b) if not _joins(b):
            yield Operator.SIGN, source.between(a, b, "-=" if isinstance(op, ast.Add) else "+=")
        case ast.Attribute(attr=attr):
            yield from _built(node, attr, source)
        case ast.Name(id=name) if name in _EXTREMES:
            yield Operator.EXTREME, source.replaced(node, _EXTREMES[name])
        case ast.BoolOp() | ast.comprehension() | ast.match_case() | ast.Call():
            yield from ((Operator.CONJUNCT, edit) for edit in _conjuncts(node, source))
        case ast.List() | ast.Tuple():
            yield from ((Operator.OBLIGATION, edit) for edit in dropped_elements(node, source))
    if isinstance(node, ast.stmt):
        yield from ((Operator.OBLIGATION, edit) for edit in dropped_statement(node, source))
        yield from ((Operator.SWAP, edit) for edit in swapped_statements(node, source))


def _relations(node: ast.Compare, source: Source) -> Iterator[_Found]:
    left = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        # ``is None`` tells types apart: the other way round it fails at once, wherever it is.
        if not (isinstance(right, ast.Constant) and right.value is None):
            yield Operator.RELATION, source.between(left, right, _RELATIONS[type(op)])
        left = right


def _joins(*operands: ast.expr) -> bool:
    """True where ``+`` puts lists or texts together."""
    texts = [o for o in operands if isinstance(o, ast.Constant) and isinstance(o.value, str)]
    return bool(texts) or any(isinstance(o, _SEQUENCES) for o in operands)


def _built(node: ast.Attribute, attr: str, source: Source) -> Iterator[_Found]:
    """An operator of the compiled program: ``ir.less``, ``BinaryOp.LT``, ``simplifier.minimum``."""
    for operator, table in (
        (Operator.RELATION, _BUILT_RELATIONS),
        (Operator.SIGN, _BUILT_SIGNS),
        (Operator.OFFSET, _BUILT_OFFSETS),
        (Operator.EXTREME, _BUILT_EXTREMES),
    ):
        if attr in table and _is_builder(node.value):
            yield operator, source.attribute(node, table[attr])


def _is_builder(owner: ast.expr) -> bool:
    match owner:
        case ast.Name(id=name):
            return name in _BUILDERS
        case ast.Attribute(attr=name):
            return name.lstrip("_") in _BUILDERS
        case ast.Call(func=ast.Name(id=name)):
            return name in _BUILDERS
    return False


def _conjuncts(node: ast.AST, source: Source) -> Iterator[Edit]:
    match node:
        case ast.BoolOp(values=values):
            for i in range(len(values)):
                yield source.without(values, i)
        case ast.comprehension(iter=over, ifs=[*conditions]):
            before: ast.expr = over
            for condition in conditions:
                yield source.cut(before, condition)
                before = condition
        case ast.match_case(pattern=pattern, guard=ast.expr() as guard):
            yield source.cut(pattern, guard)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="ir"), attr="conjunction"), args=[a, b]):
            yield source.replaced(node, source.of(a))
            yield source.replaced(node, source.of(b))
