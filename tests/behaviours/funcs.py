"""Documented behaviours of Funcs, updates, reductions, inputs and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.behaviours.values import Shown


def plain(buffer: Any) -> Any:
    """A Buffer as lists; of several as a list of these."""
    return [plain(b) for b in buffer] if isinstance(buffer, tuple) else np.asarray(buffer).tolist()


def x_is_the_last_axis(hl: Any) -> Shown:
    """The first coordinate is the densest: the last axis of the array."""
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func()
    f[x, y] = x + 10 * y
    return [(plain(f.realize([3, 2])), [[0, 1, 2], [10, 11, 12]])]


def updates_run_in_order(hl: Any) -> Shown:
    """Update definitions are done one after another on all of the values."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = x
    f[x] += 1
    f[x] *= 2
    return [(plain(f.realize([3])), [2, 4, 6])]


def update_at_a_point(hl: Any) -> Shown:
    """An update changes the points that it names and leaves the others."""
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func()
    f[x, y] = 0
    f[1, y] = y
    f[x, 0] = f[x, 0] + 5
    return [(plain(f.realize([3, 2])), [[5, 5, 5], [0, 1, 0]])]


def reduction_goes_through_its_domain_in_order(hl: Any) -> Shown:
    """An RDom is gone through in lexicographic order, its first dimension innermost: a scan reads what it wrote."""
    x, f = hl.Var("x"), hl.Func()
    r = hl.RDom([(1, 5)])
    f[x] = 1
    f[r.x] = f[r.x - 1] + f[r.x]
    return [(plain(f.realize([6])), [1, 2, 3, 4, 5, 6])]


def fibonacci_by_update(hl: Any) -> Shown:
    """Recursion along a dimension is an update over an RDom."""
    x, f = hl.Var("x"), hl.Func()
    r = hl.RDom([(2, 8)])
    f[x] = 1
    f[r.x] = f[r.x - 1] + f[r.x - 2]
    return [(plain(f.realize([10])), [1, 1, 2, 3, 5, 8, 13, 21, 34, 55])]


def histogram_scatters(hl: Any) -> Shown:
    """The coordinate of an update may be computed: a histogram."""
    data = hl.Buffer(np.array([1, 3, 1, 0, 3, 3], np.uint8))
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(0, 6)])
    f[x] = 0
    f[hl.clamp(hl.cast(hl.Int(32), data[r]), 0, 3)] += 1
    return [(plain(f.realize([4])), [1, 2, 0, 3])]


def plus_equals_defines(hl: Any) -> Shown:
    """f[x] += e on a Func without definition starts from 0; *= from 1."""
    x, f, g = hl.Var("x"), hl.Func(), hl.Func()
    r = hl.RDom([(1, 4)])
    f[x] += r
    g[x] *= r
    return [(plain(f.realize([1])), [10]), (plain(g.realize([1])), [24])]


def inline_reductions(hl: Any) -> Shown:
    """sum, product, minimum and maximum of an expression over an RDom."""
    x, r = hl.Var("x"), hl.RDom([(1, 4)])
    found = []
    for g in (hl.sum, hl.product, hl.minimum, hl.maximum):
        f = hl.Func()
        f[x] = g(r + x)
        found.append(plain(f.realize([2])))
    return [(found, [[10, 14], [24, 120], [1, 2], [4, 5]])]


def argmax_gives_the_place(hl: Any) -> Shown:
    """argmin and argmax are Tuples of the place, the coordinates, and of the value, the first of equals."""
    data = hl.Buffer(np.array([3, 9, 1, 9, 1], np.int32))
    f, r = hl.Func(), hl.RDom([(0, 5)])
    found = []
    for g in (hl.argmax, hl.argmin):
        f = hl.Func()
        f[()] = g(data[r])
        found.append([int(b[()]) for b in f.realize([])])
    return [(found, [[1, 9], [2, 1]])]


def domains_have_conditions(hl: Any) -> Shown:
    """RDom.where leaves out iterations."""
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func()
    r = hl.RDom([(0, 4), (0, 4)])
    r.where(r.x <= r.y)
    f[x, y] = 0
    f[r.x, r.y] = 1
    return [(plain(f.realize([4, 4])), [[int(i <= j) for i in range(4)] for j in range(4)])]


def tuples_have_components(hl: Any) -> Shown:
    """A Func of a Tuple has a Buffer for each component; updates take in all at once."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = (x, hl.f32(0.5) * x)
    f[x] = (f[x][0] + 1, f[x][1] + f[x][0])
    return [(plain(f.realize([3])), [[1, 2, 3], [0.0, 1.5, 3.0]])]


def zero_dimensional_funcs(hl: Any) -> Shown:
    """f[()] is a Func of one value."""
    f, g, x = hl.Func(), hl.Func(), hl.Var("x")
    f[()] = 42
    g[x] = f[()] + x
    return [(int(f.realize([])[()]), 42), (plain(g.realize([2])), [42, 43])]


def implicit_variables_stand_for_the_rest(hl: Any) -> Shown:
    """hl._ stands for as many dimensions as are left."""
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func(), hl.Func()
    f[x, y] = x + 10 * y
    g[hl._] = f[hl._] * 2
    return [(plain(g.realize([2, 2])), [[0, 2], [20, 22]])]


def coordinates_may_be_negative(hl: Any) -> Shown:
    """Funcs are defined everywhere: a Buffer to fill says where, from its own min on."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = x * x
    b = hl.Buffer(hl.Int(32), [4])
    b.set_min([-2])
    f.realize(b)
    return [(plain(b), [4, 1, 0, 1])]


def pipelines_have_several_outputs(hl: Any) -> Shown:
    """A Pipeline of several Funcs gives a Buffer for each."""
    x, f, g = hl.Var("x"), hl.Func(), hl.Func()
    f[x] = x
    g[x] = f[x] * f[x]
    return [(plain(tuple(hl.Pipeline([f, g]).realize([4]))), [[0, 1, 2, 3], [0, 1, 4, 9]])]


def params_change_between_runs(hl: Any) -> Shown:
    """A Param is an argument: the same code runs with another value."""
    x, f, p = hl.Var("x"), hl.Func(), hl.Param(hl.Int(32))
    f[x] = x * p
    found = []
    for v in (2, 5):
        p.set(v)
        found.append(plain(f.realize([3])))
    return [(found, [[0, 2, 4], [0, 5, 10]])]


def inputs_change_between_runs(hl: Any) -> Shown:
    """An ImageParam is an argument, of any size."""
    x, f, im = hl.Var("x"), hl.Func(), hl.ImageParam(hl.Int(32), 1)
    f[x] = im[x] + im[im.width() - 1 - x]
    found = []
    for n in (3, 4):
        im.set(hl.Buffer(np.arange(n, dtype=np.int32) ** 2))
        found.append(plain(f.realize([n])))
    return [(found, [[4, 2, 4], [9, 5, 5, 9]])]


def input_bounds_are_inferred(hl: Any) -> Shown:
    """infer_input_bounds gives an ImageParam a Buffer of just what is read."""
    x, f, im = hl.Var("x"), hl.Func(), hl.ImageParam(hl.Int(32), 1)
    f[x] = im[x - 1] + im[2 * x + 3]
    f.infer_input_bounds([5])
    b = im.get()
    return [((b.dim(0).min(), b.dim(0).extent()), (-1, 13))]


def borders(hl: Any) -> Shown:
    """The boundary conditions: constant_exterior, repeat_edge, repeat_image, mirror_image, mirror_interior."""
    data = hl.Buffer(np.array([1, 2, 3], np.int32))
    b = hl.BoundaryConditions
    found = []
    for made in (
        b.constant_exterior(data, 9), b.repeat_edge(data), b.repeat_image(data), b.mirror_image(data),
        b.mirror_interior(data),
    ):  # fmt: skip
        x, f = hl.Var("x"), hl.Func()
        f[x] = made[x - 3]
        found.append(plain(f.realize([9])))
    wanted = [
        [9, 9, 9, 1, 2, 3, 9, 9, 9], [1, 1, 1, 1, 2, 3, 3, 3, 3], [1, 2, 3, 1, 2, 3, 1, 2, 3],
        [3, 2, 1, 1, 2, 3, 3, 2, 1], [2, 3, 2, 1, 2, 3, 2, 1, 2],
    ]  # fmt: skip
    return [(found, wanted)]


def undef_leaves_memory_alone(hl: Any) -> Shown:
    """undef in a first definition leaves what the caller's Buffer holds."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = hl.undef(hl.Int(32))
    f[0] = 7
    b = hl.Buffer(np.array([1, 2, 3], np.int32))
    f.realize(b)
    return [(plain(b), [7, 2, 3])]


def buffers_share_numpy_memory(hl: Any) -> Shown:
    """A Buffer of an array is a view."""
    a = np.zeros((2, 3), np.int32)
    b = hl.Buffer(a)
    b[2, 1] = 5
    return [(int(a[1, 2]), 5), ((b.width(), b.height(), b.dimensions()), (3, 2, 2))]


def buffers_are_cropped(hl: Any) -> Shown:
    """A crop shares the memory and keeps the coordinates; translate moves them."""
    b = hl.Buffer(np.arange(12, dtype=np.int32).reshape(3, 4))
    c = b.cropped(0, 1, 2)
    d = b.translated([10, 20])
    return [((c.dim(0).min(), c.dim(0).extent(), c[2, 1]), (1, 2, 6)), (d[11, 21], 5)]


def buffers_are_sliced_and_transposed(hl: Any) -> Shown:
    """sliced fixes a coordinate; transposed exchanges two dimensions."""
    b = hl.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3))
    return [(plain(b.sliced(1, 1)), [3, 4, 5]), (b.transposed(0, 1)[1, 2], 5)]


def strided_arrays_are_taken(hl: Any) -> Shown:
    """Any strides are read, negative ones too."""
    a = np.arange(10, dtype=np.int32)[::-2]
    x, f, im = hl.Var("x"), hl.Func(), hl.ImageParam(hl.Int(32), 1)
    im.dim(0).set_stride(hl.Expr())
    f[x] = im[x] * 2
    im.set(hl.Buffer(a))
    return [(plain(f.realize([5])), (a * 2).tolist())]


def expressions_are_evaluated(hl: Any) -> Shown:
    """evaluate compiles and runs an expression."""
    return [(int(hl.evaluate(hl.Expr(6) * 7)), 42)]


def callables_take_arguments(hl: Any) -> Shown:
    """compile_to_callable gives a function of the arguments in their order, and the output."""
    x, f, p, im = hl.Var("x"), hl.Func(), hl.Param(hl.Int(32)), hl.ImageParam(hl.Int(32), 1)
    f[x] = im[x] * p
    run = f.compile_to_callable([im, p])
    out = hl.Buffer(hl.Int(32), [3])
    run(hl.Buffer(np.arange(3, dtype=np.int32)), 4, out)
    return [(plain(out), [0, 4, 8])]


def wrappers_have_the_same_values(hl: Any) -> Shown:
    """f.in_(g) is read by g in place of f; others read f."""
    x, f, g, h = hl.Var("x"), hl.Func(), hl.Func(), hl.Func()
    f[x] = x * 3
    g[x] = f[x] + 1
    h[x] = f[x] + g[x]
    f.compute_root()
    f.in_(g).compute_root()
    g.compute_root()
    return [(plain(h.realize([3])), [1, 7, 13])]


def clones_are_scheduled_apart(hl: Any) -> Shown:
    """clone_in makes a Func with the same definitions and a schedule of its own."""
    x, f, g, h = hl.Var("x"), hl.Func(), hl.Func(), hl.Func()
    f[x] = x * 3
    f[x] += 1
    g[x] = f[x]
    h[x] = f[x] + g[x]
    f.compute_root()
    f.clone_in(g).compute_at(g, x)
    g.compute_root()
    return [(plain(h.realize([3])), [2, 8, 14])]


def specialized_funcs_are_the_same(hl: Any) -> Shown:
    """specialize makes versions of the loops that a run chooses from."""
    x, f, p = hl.Var("x"), hl.Func(), hl.Param(hl.Int(32))
    f[x] = x * p
    f.specialize(p == 1)
    f.specialize(p > 4).vectorize(x, 4)
    found = []
    for v in (1, 3, 7):
        p.set(v)
        found.append(plain(f.realize([5])))
    return [(found, [[k * v for k in range(5)] for v in (1, 3, 7)])]


def requirements_end_a_run(hl: Any) -> Shown:
    """Pipeline.add_requirement: a run whose condition does not hold is an error."""
    x, f, p = hl.Var("x"), hl.Func(), hl.Param(hl.Int(32))
    f[x] = x + p
    pipeline = hl.Pipeline(f)
    pipeline.add_requirement(p > 0)
    p.set(1)
    fine = plain(pipeline.realize([2]))
    p.set(-1)
    try:
        pipeline.realize([2])
    except Exception:  # noqa: BLE001  # each package has an error of its own
        return [(fine, [1, 2])]
    return [("no error", "an error")]


def small_inputs_are_an_error(hl: Any) -> Shown:
    """Reading an input outside its bounds is an error before anything is computed."""
    x, f, im = hl.Var("x"), hl.Func(), hl.ImageParam(hl.Int(32), 1)
    f[x] = im[x + 1]
    im.set(hl.Buffer(hl.Int(32), [3]))
    try:
        f.realize([3])
    except Exception as error:  # noqa: BLE001
        return [("3" in str(error), True)]
    return [("no error", "an error")]
