"""The expressions of one definition as straight-line Python on the functions of ``halide_core.reference.scalar_ops``.

In: expressions, and where the values come from that they only name (inputs and stages). Out: a Python function of the
pure variables' values, the reduction variables' values, the stage's state and the depth; a shared node is evaluated
once.

    f.s0(x0) = g(x0 - 1)*2   ->   t0 = sub(x0, 1);  t1 = (t0, );  t2 = memo.get(t1)
                                  if t2 is None: t2 = compute(t1, depth);  t4 = mul(t2, (2))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

from halide_core import ir
from halide_core.algorithm.model import Function, Image, ReductionDomain
from halide_core.errors import InternalError, PromiseError
from halide_core.ir.types import INT32
from halide_core.ir.visitor import parts
from halide_core.reference.inputs import Inputs, Table
from halide_core.reference.scalar_ops import binary_function, call_function, cast_function, logical_not, select
from halide_core.reference.stack import Code
from halide_core.reference.stages import Scan, StageValues


def kept(promise: ir.Promise, value: int, low: int, high: int) -> int:
    """A value that was promised to lie in [low, high]. Raises: PromiseError where it does not."""
    if not low <= value <= high:
        raise PromiseError(f"{promise!r} is {value}, which does not lie in [{low}, {high}].", promise.location)
    return value


class Translator:
    """Straight-line Python for the expressions of one definition: an assignment per distinct node."""

    def __init__(
        self,
        inputs: Inputs,
        stages: Mapping[ir.Callee, Sequence[StageValues]],
        function: Function,
        stage: int,
        *,
        pure: Sequence[int] = (),
        domain: ReductionDomain | None = None,
    ) -> None:
        self._inputs = inputs
        self._stages = stages
        self._function = function
        self._stage = stage
        self._location = function.definitions[stage].location
        self._domain = domain
        self._names: dict[ir.ExprNode, str] = {}
        self._globals: dict[str, object] = {}
        self._bound: dict[int, str] = {}
        self._lines: list[str] = []
        for dim in pure:
            self._names[ir.pure_variable(function.args[dim])] = f"x{dim}"

    # Text -------------------------------------------------------------------------------------------------

    def bind(self, value: object) -> str:
        """A global name for an object."""
        name = self._bound.get(id(value))
        if name is None:
            name = self._bound[id(value)] = f"g{len(self._globals)}"
            self._globals[name] = value
        return name

    def line(self, text: str) -> None:
        """Adds a statement."""
        self._lines.append(text)

    def let(self, text: str) -> str:
        """A new local name for the value of ``text``."""
        name = f"t{len(self._lines)}"
        self.line(f"{name} = {text}")
        return name

    def tuple_of(self, names: Sequence[str]) -> str:
        """A tuple display."""
        return f"({''.join(f'{name}, ' for name in names)})"

    def code(self, pure: Sequence[int], variables: int, result: str) -> Code:
        """The function ``(pure, r, state, depth) -> result`` of the lines so far."""
        head = ["def code(pure, r, state, depth):"]
        if pure:
            head.append(f"{self.tuple_of([f'x{dim}' for dim in pure])} = pure")
        if variables:
            head.append(f"{self.tuple_of([f'r{i}' for i in range(variables)])} = r")
        text = "\n    ".join([*head, "depth += 1", *self._lines, f"return {result}"])
        where = f"<semantics of {self._function.name}.s{self._stage}>"
        exec(compile(text, where, "exec"), self._globals)  # noqa: S102  # the text is made of nodes and numbers
        return cast(Code, self._globals["code"])

    # Expressions ------------------------------------------------------------------------------------------

    def expr(self, root: ir.ExprNode) -> str:
        """The name of an expression's value; a shared part is evaluated once."""
        stack = [root]
        while stack:
            e = stack[-1]
            missing = [] if e in self._names else [p for p in parts(e) if p not in self._names]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if e not in self._names:
                self._names[e] = self._node(e)
        return self._names[root]

    def _node(self, e: ir.ExprNode) -> str:
        a = [self._names[p] for p in parts(e)]
        match e:
            case ir.IntImm():
                return str(bool(e.value)) if e.type.is_bool() else f"({e.value})"
            case ir.FloatImm():
                return self.bind(e.value)
            case ir.ParamRef():
                return self.bind(self._inputs.param(e.param))
            case ir.BufferField():
                return f"({self._inputs.buffer_field(e)})"
            case ir.Binary():
                return self.let(f"{self.bind(binary_function(e.op, e.a.type))}({a[0]}, {a[1]})")
            case ir.Not():
                return self.let(f"{self.bind(logical_not)}({a[0]})")
            case ir.Select():
                return self.let(f"{self.bind(select)}({a[0]}, {a[1]}, {a[2]})")
            case ir.Cast():
                return self.let(f"{self.bind(cast_function(e.a.type, e.type))}({a[0]})")
            case ir.Call():
                return self.let(f"{self.bind(call_function(e.function, e.args[0].type, e.type))}({', '.join(a)})")
            case ir.Promise():
                return self.let(f"{self.bind(partial(kept, e))}({a[0]}, {a[1]}, {a[2]})")
            case ir.Print():
                return a[0]
            case ir.Access():
                return self._access(e, a)
            case ir.RVarRef() if e.domain is self._domain:
                return f"r{e.index}"
        raise InternalError(f'"{e!r}" has no meaning in the definition of "{self._function.name}".')

    def name(self, e: ir.Access, value: str) -> None:
        """Says where the value of an access is, before it is translated."""
        self._names[e] = f"{value}[{e.component}]" if len(e.callee.types) > 1 else value

    def coordinate(self, e: ir.ExprNode) -> str:
        """A coordinate of a Func's point, as an int32."""
        name = self.expr(e)
        if INT32.can_represent(e.type):
            return name
        return self.let(f"{self.bind(cast_function(e.type, INT32))}({name})")

    def _access(self, e: ir.Access, args: list[str]) -> str:
        if isinstance(e.callee, Image):
            return self._load(self._inputs.table(e.callee), args)
        point = self.tuple_of([self.coordinate(arg) for arg in e.args])
        if e.callee is self._function:
            value = self._own_value(e, point)
        else:
            # Stage.at, written out: this is where the time goes.
            stage = self._stages[e.callee][e.stage]
            value = self.let(point)
            point, memo, compute = value, self.bind(stage.memo), self.bind(stage.compute)
            value = self.let(f"{memo}.get({point})")
            self.line(f"if {value} is None: {value} = {compute}({point}, depth)")
        return f"{value}[{e.component}]" if len(e.callee.types) > 1 else value

    def _own_value(self, e: ir.Access, point: str) -> str:
        """The Func's own value just before this iteration."""
        own = self._stages[self._function][self._stage]
        if not isinstance(own, Scan):
            raise InternalError(f'The pure definition of "{self._function.name}" reads "{e!r}".', self._location)
        return self.let(f"{self.bind(own.just_before)}({point}, state, depth)")

    def _load(self, table: Table, args: list[str]) -> str:
        inside = [
            f"{low} <= {a} < {low + extent}" for a, low, extent in zip(args, table.mins, table.extents, strict=True)
        ]
        if inside:
            outside = self.bind(partial(table.outside, self._location))
            self.line(f"if not ({' and '.join(inside)}): {outside}({self.tuple_of(args)})")
        index, stride = "0", 1
        for a, low, extent in zip(args, table.mins, table.extents, strict=True):
            index += f" + ({a} - ({low}))*{stride}"
            stride *= extent
        return self.let(f"{self.bind(table.values)}[{index}]")
