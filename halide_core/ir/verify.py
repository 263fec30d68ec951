"""The verifier of the IR: a tree keeps the grammar's rules after each pass.

In: a tree, the form that the pass leaves it in, what the pipeline's arguments are. Out: nothing, or an InternalError
that names the pass, the rule and the node.

1. Each node may stand in a tree of this form, and its types go together (``grammar``).
2. A variable is used where a let or a loop binds it, and bound once there.
3. Memory is read and written where it is allocated, as of the type that it has; inputs are only read.

    After "flatten", a rule of the IR is broken: node Access may stand in a tree of forms HOLES to UNROLLED, not FLAT.

What is known of a node does not depend on where it stands: its uses of names that it does not bind itself, the names
that it binds, and the forms that it may be part of. Nodes don't change, so each is looked at once in a process, and a
pass that leaves a part of a tree as it was costs nothing there.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from halide_core.errors import UNKNOWN_LOCATION, InternalError
from halide_core.ir import (
    Access,
    Acquire,
    Allocate,
    AllocateFlat,
    Block,
    BufferField,
    Callee,
    ExprNode,
    For,
    Fork,
    Label,
    Let,
    Load,
    LoopName,
    ParamRef,
    PrefetchLine,
    PrefetchRegion,
    Provide,
    Release,
    Remember,
    Scalar,
    Stmt,
    Store,
    Variable,
    WriteFile,
)
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.grammar import RULES, STANDS, Form
from halide_core.ir.printer import format_stmt
from halide_core.ir.types import Type
from halide_core.ir.visitor import parts, stmt_exprs, sub_stmts, subexpressions, walk

BOUND_BEFORE_USE = "a variable is used where a let or a loop binds it"
BOUND_ONCE = "a name is bound once in its scope"
READ_WHERE_ALLOCATED = "memory is read where it is allocated or an argument, as of its type"
WRITTEN_WHERE_ALLOCATED = "memory is written where it is allocated or an output, as of its type"
LIVES_WITHIN = "memory lives within other memory of its type that is allocated before it in its block"
DEAD_IS_DEAD = "what is in memory that serves another buffer is not used any more"
SHAPE_OF_ARGUMENTS = "only an argument has a shape that is known at start-up"
PARAMETER_IS_ARGUMENT = "a parameter is an argument"
SEMAPHORE_OF_FORK = "a semaphore is one of a fork around"
LOOPS_ARE_NAMED_APART = "each loop has a name of its own (lemma 2.4)"


class Use(NamedTuple):
    """The use of a name: the rule that wants it to be there, and what is used: a node of the grammar, or flat memory
    by its name and the type of its elements."""

    rule: str
    of: Variable | Callee | Scalar | str
    type: Type | None = None


class PipelineArguments(NamedTuple):
    """The arguments of a pipeline: buffers that are read, buffers that are written, scalars."""

    inputs: tuple[Callee, ...]
    outputs: tuple[Callee, ...]
    scalars: tuple[Scalar, ...]

    def uses(self) -> frozenset[Use]:
        """Everything that a tree may use without binding it: the scope that ``verify`` starts from."""
        found = [Use(PARAMETER_IS_ARGUMENT, p) for p in self.scalars]
        found += [Use(SHAPE_OF_ARGUMENTS, b) for b in (*self.inputs, *self.outputs)]
        found += [use for b in self.inputs for use in _memory(b) if use.rule is READ_WHERE_ALLOCATED]
        found += [use for b in self.outputs for use in _memory(b)]
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class _NodeFacts:
    """Facts about a node wherever it stands. ``forms``: a bit for each form that it may be part of."""

    forms: int
    uses: frozenset[Use]
    binds: frozenset[str] = frozenset()


class _BrokenError(Exception):
    """A rule that a node breaks."""

    def __init__(self, says: str, node: ExprNode | Stmt) -> None:
        super().__init__(says)
        self.says = says
        self.node = node


_known_stmts: weakref.WeakKeyDictionary[Stmt, _NodeFacts] = weakref.WeakKeyDictionary()
_ALL = (1 << len(Form)) - 1


def verify(stmt: Stmt, form: Form, scope: frozenset[Use], after: str) -> None:
    """Checks a tree that the pass ``after`` made, in the scope of the pipeline's arguments
    (``PipelineArguments.uses``).

    Raises: InternalError with the pass, the rule and the node that breaks it.
    """
    try:
        known = _stmt(stmt)
        if not known.forms >> form & 1:
            _blame_form(stmt, form)
        if not known.uses <= scope:
            _blame_scope(stmt, scope)
        if form is Form.HOLES:
            _check_loop_names(stmt)
    except _BrokenError as broken:
        node = broken.node
        line = _head(node) if isinstance(node, Stmt) else f"{node!r}{_standing(stmt, node)}"
        text = f'After "{after}", a rule of the IR is broken: {broken.says}.\n  {line}'
        raise InternalError(text, UNKNOWN_LOCATION) from None


# ---------------------------------------------------------------------------------------------------------
# What is known of a node.


def _expr(e: ExprNode) -> _NodeFacts:
    if isinstance(e, Variable):  # its use holds it, so that it would never be forgotten
        return _NodeFacts(_forms_of(e), _uses_of_expr(e))
    return _expr_with_parts(e)


@remembered("_facts")
def _expr_with_parts(e: ExprNode) -> _NodeFacts:
    operands = [_expr(p) for p in parts(e)]
    _check_alone(e)
    forms, uses = _forms_of(e), _uses_of_expr(e)
    for each in operands:
        forms &= each.forms
        uses = uses if each.uses <= uses else each.uses if uses <= each.uses else uses | each.uses
    return _NodeFacts(forms, uses)


def _stmt(s: Stmt) -> _NodeFacts:
    known = _known_stmts.get(s)
    if known is None:
        direct = [_expr(e) for e in _exprs_of(s)]
        _check_alone(s)
        inside = _in_order(s) if isinstance(s, Block) else [_stmt(each) for each in sub_stmts(s)]
        forms = _forms_of(s)
        for each in (*direct, *inside):
            forms &= each.forms
        binds = frozenset().union(*(each.binds for each in inside))
        uses = frozenset().union(*(each.uses for each in inside))
        if isinstance(s, For):
            if s.var.name in binds:
                raise _BrokenError(BOUND_ONCE, s)
            binds |= {s.var.name}
            uses -= {Use(BOUND_BEFORE_USE, s.var)}
        if isinstance(s, Fork):
            uses -= _semaphores(s)
        uses = uses.union(_uses_of_stmt(s), *(each.uses for each in direct))
        known = _known_stmts[s] = _NodeFacts(forms, uses, binds)
    return known


def _in_order(block: Block) -> list[_NodeFacts]:
    """Facts about a block's statements, where a let or an allocation scopes over those that follow it."""
    forms, binds, uses = _ALL, frozenset[str](), frozenset[Use]()
    later: dict[str, frozenset[str]] = {}
    for s in reversed(block.stmts):
        known = _stmt(s)
        own = _bound_by(s)
        if isinstance(s, AllocateFlat):
            _check_dead(s, uses, later)
        if own and not binds.isdisjoint(own[0]):
            raise _BrokenError(BOUND_ONCE, s)
        if own:
            binds, uses = binds | own[0], uses - own[1]
        forms, binds, uses = forms & known.forms, binds | known.binds, uses | known.uses
    if any(use.rule is LIVES_WITHIN for use in uses):
        raise _BrokenError(LIVES_WITHIN, block)
    return [_NodeFacts(forms, uses, binds)]


def _check_dead(s: AllocateFlat, uses: frozenset[Use], later: dict[str, frozenset[str]]) -> None:
    """Nothing after an allocation within other memory uses what was there; ``uses`` are those after it, ``later`` the
    buffers used after the first allocation within each memory, of those that follow."""
    memory = s.buffer if s.within is None else s.within
    if s.buffer in later.get(memory, ()):
        raise _BrokenError(DEAD_IS_DEAD, s)
    if s.within is not None:
        used = frozenset(use.of for use in uses if use.rule is not LIVES_WITHIN and isinstance(use.of, str))
        if memory in used:
            raise _BrokenError(DEAD_IS_DEAD, s)
        later[memory] = later.get(memory, frozenset()) | used


def _bound_by(s: Stmt) -> tuple[frozenset[str], frozenset[Use]] | None:
    """The names that a statement binds for those that follow it, and the uses that are right there."""
    match s:
        case Let(var=var):
            return frozenset((var.name,)), frozenset((Use(BOUND_BEFORE_USE, var),))
        case Allocate(func=func):
            return frozenset((func.name,)), frozenset(_memory(func))
        case AllocateFlat(buffer=buffer, type=type):
            return frozenset((buffer,)), frozenset(_flat_memory(buffer, type))
    return None


def _semaphores(fork: Fork) -> frozenset[Use]:
    """The uses of a fork's own semaphores."""
    return frozenset(Use(SEMAPHORE_OF_FORK, name) for name, _ in fork.semaphores)


def _memory(callee: Callee) -> Iterator[Use]:
    """The uses of a callee's memory, of points and flat."""
    for rule in (READ_WHERE_ALLOCATED, WRITTEN_WHERE_ALLOCATED):
        yield Use(rule, callee)
    for k, type in enumerate(callee.types):
        yield from _flat_memory(callee.component_name(k), type)


def _flat_memory(buffer: str, type: Type) -> Iterator[Use]:
    """The uses of flat memory; prefetching asks for no type."""
    yield Use(READ_WHERE_ALLOCATED, buffer)
    yield Use(READ_WHERE_ALLOCATED, buffer, type)
    yield Use(WRITTEN_WHERE_ALLOCATED, buffer, type)
    yield Use(LIVES_WITHIN, buffer, type)


def _check_alone(node: ExprNode | Stmt) -> None:
    for rule in RULES.get(type(node), ()):
        if not rule.holds(node):
            raise _BrokenError(rule.says, node)


def _forms_of(node: ExprNode | Stmt) -> int:
    """The forms that a node itself may be part of."""
    stands = STANDS[node.kind if isinstance(node, For) else type(node)]
    if stands is None:
        return 0
    first, last = stands
    if isinstance(node, ExprNode) and node.type.is_vector():
        first = Form.VECTORS
    return ((2 << last) - 1) & ~((1 << first) - 1)


def _exprs_of(s: Stmt) -> tuple[ExprNode, ...]:
    if isinstance(s, Let) and s.within is not None:
        return (s.value, s.within.min, s.within.len)
    return stmt_exprs(s)


def _uses_of_expr(e: ExprNode) -> frozenset[Use]:
    match e:
        case Variable():
            return frozenset((Use(BOUND_BEFORE_USE, e),))
        case ParamRef(param=param):
            return frozenset((Use(PARAMETER_IS_ARGUMENT, param),))
        case BufferField(buffer=buffer):
            return frozenset((Use(SHAPE_OF_ARGUMENTS, buffer),))
        case Access(callee=callee):
            return frozenset((Use(READ_WHERE_ALLOCATED, callee),))
        case Load(buffer=name):
            return frozenset((Use(READ_WHERE_ALLOCATED, name, e.type.element_of()),))
    return frozenset()


def _uses_of_stmt(s: Stmt) -> list[Use]:
    match s:
        case Provide(func=func) | Label(func=func):
            return [Use(WRITTEN_WHERE_ALLOCATED, func)]
        case Store(buffer=buffer, value=value):
            return [Use(WRITTEN_WHERE_ALLOCATED, buffer, value.type.element_of())]
        case AllocateFlat(within=memory, type=type) if memory is not None:
            return [Use(LIVES_WITHIN, memory, type)]
        case Acquire(semaphore=name) | Release(semaphore=name):
            return [Use(SEMAPHORE_OF_FORK, name)]
        case PrefetchRegion(func=func):
            return [Use(READ_WHERE_ALLOCATED, func)]
        case PrefetchLine(buffer=buffer):
            return [Use(READ_WHERE_ALLOCATED, buffer)]
        case WriteFile(func=func) | Remember(func=func):
            return [Use(READ_WHERE_ALLOCATED, func.component_name(k), type) for k, type in enumerate(func.types)]
    return []


# ---------------------------------------------------------------------------------------------------------
# Which node is to blame.


def _nodes(stmt: Stmt) -> Iterator[ExprNode | Stmt]:
    """Every statement in program order, and after each its expressions, operands first."""
    yield stmt
    yield from subexpressions(_exprs_of(stmt))
    for s in sub_stmts(stmt):
        yield from _nodes(s)


def _blame_form(stmt: Stmt, form: Form) -> None:
    for node in _nodes(stmt):
        if not _forms_of(node) >> form & 1:
            raise _BrokenError(_stands_where(node, form), node)


def _stands_where(node: ExprNode | Stmt, form: Form) -> str:
    what = f"a loop of kind {node.kind.value}" if isinstance(node, For) else f"node {type(node).__name__}"
    stands = STANDS[node.kind if isinstance(node, For) else type(node)]
    if stands is None:
        return f"{what} may stand in no tree"
    if stands[0] <= form <= stands[1]:
        return f"a value of several lanes may stand in a tree of form {Form.VECTORS.name}, not {form.name}"
    return f"{what} may stand in a tree of forms {stands[0].name} to {stands[1].name}, not {form.name}"


def _blame_scope(stmt: Stmt, scope: frozenset[Use]) -> None:
    """Finds the first use of what is not in scope."""
    own = list(_uses_of_stmt(stmt))
    own += [use for e in _exprs_of(stmt) for use in _expr(e).uses]
    missing = next((use for use in own if use not in scope), None)
    if missing is not None:
        name = missing.of if isinstance(missing.of, str) else missing.of.name
        raise _BrokenError(f'{missing.rule}; "{name}" is not in scope', stmt)
    if isinstance(stmt, For):
        scope |= {Use(BOUND_BEFORE_USE, stmt.var)}
    if isinstance(stmt, Fork):
        scope |= _semaphores(stmt)
    for s in sub_stmts(stmt):
        _blame_scope(s, scope)
        bound = _bound_by(s)
        if bound:
            scope |= bound[1]


def _check_loop_names(stmt: Stmt) -> None:
    seen: set[LoopName] = set()
    for s in walk(stmt):
        if isinstance(s, For):
            if s.loop in seen:
                raise _BrokenError(LOOPS_ARE_NAMED_APART, s)
            seen.add(s.loop)


def _standing(stmt: Stmt, e: ExprNode) -> str:
    """The statement that an expression stands in."""
    holder = next((s for s in walk(stmt) if any(each is e for each in subexpressions(_exprs_of(s)))), None)
    return "" if holder is None else f"\n  in: {_head(holder)}"


def _head(stmt: Stmt) -> str:
    """A statement's own line."""
    return format_stmt(stmt).partition("\n")[0]
