"""Well-formedness of definitions (definitions 2.7 to 2.10), checked when they are written.

In: a Func and the parts of a new stage. Out: nothing, or a DefinitionError that names the variable and the Func.

    f(x) = g(x);  f(x) = f(x + 1)
    -> DefinitionError: … "x" is a pure variable of this update, so every f[…] in it must have it as argument 1 …
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from halide_core import ir
from halide_core.algorithm.model import Function, ReductionDomain
from halide_core.errors import DefinitionError, TypeMismatchError
from halide_core.ir import BufferField, ExprNode, RVarRef, Variable
from halide_core.ir.types import Type
from halide_core.ir.visitor import accesses_to, subexpressions


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{n}"' for n in names)


def _has(name: str, args: Sequence[str]) -> str:
    return f'Func "{name}" has the variables {_quoted(args)}' if args else f'Func "{name}" has no variables'


def ordinal(stage: int) -> str:
    """The name of a stage in words: update 0 is stage 1, as in ``f.update(0)``."""
    return "the pure definition" if stage == 0 else f"update definition {stage - 1}"


def pure_arguments(name: str, args: Sequence[ExprNode]) -> tuple[str, ...]:
    """The pure variables that a first definition binds: distinct Vars, one for each dimension.

    Raises:
        DefinitionError: an argument that is no Var, or a Var that stands twice.
    """
    names: list[str] = []
    for i, arg in enumerate(args):
        if not isinstance(arg, Variable):
            raise DefinitionError(
                f'Argument {i + 1} of the first definition of Func "{name}", {arg!r}, is not a Var. '
                f"The first definition gives every point a value; updates of single points come after it."
            )
        if arg.name in names:
            raise DefinitionError(
                f'In the first definition of Func "{name}" the variable "{arg.name}" is both '
                f"argument {names.index(arg.name) + 1} and argument {i + 1}."
            )
        names.append(arg.name)
    return tuple(names)


def check_pure_values(name: str, args: tuple[str, ...], values: Sequence[ExprNode]) -> None:
    """Raises DefinitionError for a variable that the left-hand side doesn't bind, or any reduction variable."""
    for e in subexpressions(values):
        match e:
            case Variable(name=variable) if variable not in args:
                raise DefinitionError(f'The variable "{variable}" is not defined: {_has(name, args)}.')
            case RVarRef(domain=domain, index=index):
                raise DefinitionError(
                    f'The reduction variable "{domain.names[index]}" stands in the first definition of Func '
                    f'"{name}". Only update definitions run over an RDom: give "{name}" a first value, then update it.'
                )


def domain_of(what: str, exprs: Sequence[ExprNode]) -> ReductionDomain | None:
    """The reduction domain that a stage runs over, the one of its reduction variables.

    Raises:
        DefinitionError: reduction variables of several RDoms.
    """
    found: dict[ir.Domain, str] = {}
    for e in subexpressions(exprs):
        if isinstance(e, RVarRef):
            found.setdefault(e.domain, e.domain.names[e.index])
    for domain in tuple(found):
        assert isinstance(domain, ReductionDomain)
        for e in subexpressions((domain.predicate,)):
            if isinstance(e, RVarRef):
                found.setdefault(e.domain, e.domain.names[e.index])
    if len(found) > 1:
        raise DefinitionError(
            f"{what} mixes the variables {_quoted(found.values())} of {len(found)} RDoms. "
            f"A stage runs over one: make a single RDom with all the dimensions."
        )
    only = next(iter(found), None)
    assert only is None or isinstance(only, ReductionDomain)
    return only


def check_update_type(function: Function, stage: int, types: Sequence[Type]) -> None:
    """Raises TypeMismatchError unless an update gives as many values as the Func has, and of its own types."""
    what = f'{ordinal(stage).capitalize()} of Func "{function.name}"'
    if len(types) != len(function.types):
        has = f"but the Func has {_counted(len(function.types))} at each point, of {types_text(function.types)}."
        hint = f" An update gives all of them: one that stays is {function.name}[…][i]."
        raise TypeMismatchError(f"{what} gives {_counted(len(types))}, {has}{hint if len(function.types) > 1 else ''}")
    for k, (given, needed) in enumerate(zip(types, function.types, strict=True)):
        if given is not needed:
            which = "" if len(types) == 1 else f" for component {k}"
            raise TypeMismatchError(
                f"{what} gives a value of {given}{which}, but the Func is of {needed}"
                f"{' there' if which else ''}. Convert it with hl.cast(…)."
            )


def _counted(values: int) -> str:
    return "1 value" if values == 1 else f"{values} values"


def types_text(types: Sequence[Type]) -> str:
    """Types as messages show them: ``int32``, or ``(int32, float32)`` of a Tuple."""
    return str(types[0]) if len(types) == 1 else f"({', '.join(map(str, types))})"


def reads_itself(function: Function, exprs: Sequence[ExprNode]) -> bool:
    """True where a stage reads the Func that it updates."""
    return bool(accesses_to(function, exprs))


def check_separation(function: Function, stage: int, args: Sequence[ExprNode], exprs: Sequence[ExprNode]) -> None:
    """The syntactic separation restriction (definition 2.7), and that no foreign variable occurs.

    Args:
        args: the coordinates on the left-hand side.
        exprs: every expression of the stage, ``args`` among them.

    Raises:
        DefinitionError: a variable that is none of the Func's, or one that stands in another place than its own.
    """
    what = f'{ordinal(stage).capitalize()} of Func "{function.name}"'
    used = [e for e in subexpressions(exprs) if isinstance(e, Variable)]
    for variable in used:
        if variable.name not in function.args:
            raise DefinitionError(
                f'{what} uses the variable "{variable.name}", which is not defined: '
                f"{_has(function.name, function.args)}."
            )
        place = function.args.index(variable.name)
        rule = f'"{variable.name}" is a pure variable of this update, so'
        if args[place] is not variable:
            raise DefinitionError(
                f"{what}: {rule} it must be argument {place + 1} on the left-hand side, as it is in the first "
                f"definition; there stands {args[place]!r}. Use a reduction variable for other places."
            )
        for access in accesses_to(function, exprs):
            if access.args[place] is not variable:
                raise DefinitionError(
                    f"{what}: {rule} every {function.name}[…] in it must have it as argument {place + 1}; "
                    f"{access!r} does not. An update can't move along a pure dimension: use an RDom."
                )


def check_names(function: Function, domain: ReductionDomain | None) -> None:
    """Raises DefinitionError where a reduction variable is called like a pure variable of the Func."""
    for name in domain.names if domain is not None else ():
        if name in function.args:
            raise DefinitionError(
                f'Func "{function.name}" has a pure variable and a reduction variable called "{name}". '
                f"Give the RDom another name: hl.RDom([…], name)."
            )


def hides_all(function: Function, args: Sequence[ExprNode], domain: ReductionDomain | None, own: bool) -> bool:
    """True where an update replaces every value there was: all pure, no reduction, no reference to itself (``own``)."""
    pure = all(a is ir.pure_variable(n) for a, n in zip(args, function.args, strict=True))
    return pure and domain is None and not own


def check_shapes(name: str, exprs: Sequence[ExprNode], domain: ReductionDomain | None) -> None:
    """A definition says the same whatever is asked of it: it can't depend on the shape of an output."""
    bounds = () if domain is None else tuple(end for i in domain.bounds for end in (i.min, i.len))
    for e in subexpressions((*exprs, *bounds)):
        if isinstance(e, BufferField) and isinstance(e.buffer, Function):
            raise DefinitionError(
                f'Func "{name}" is defined by the shape of output "{e.buffer.name}". What is asked of an output must '
                f"not change its values: only directives can use output_buffer(); use a Param here."
            )
