"""Funcs that copy another one between the host and a device.

In: a Func that is said to be a copy. Out: an error where it is none, or where there is no such device. On the host
alone nothing is copied: the Func stays the plain stage that it is.

    f[x, y] = g[y, x];  f.copy_to_host()   ->   ScheduleError: copy_to_host(): Func "f" is g[y, x] at a point. …
"""

from __future__ import annotations

from halide_core.algorithm.model import Function
from halide_core.errors import ScheduleError
from halide_core.ir import Access, pure_variable
from halide_core.run.target_names import DeviceAPI
from halide_core.unsupported import NotAvailableDirective


def check_copy(directive: str, f: Function) -> None:
    """Refuses a Func that is anything but another one's, or an input's, values at the same points.

    Raises: ScheduleError.
    """
    legal = "A copy is a Func of one value, which is another Func or an input at the same coordinates: copy[x] = f[x]."
    if not f.definitions:
        raise ScheduleError(f'{directive}(): Func "{f.name}" is not defined. {legal}')
    if f.extern is not None:
        raise ScheduleError(f'{directive}(): Func "{f.name}" is an extern stage. {legal}')
    if len(f.definitions) > 1:
        raise ScheduleError(f'{directive}(): Func "{f.name}" has updates. {legal}')
    if len(f.types) > 1:
        raise ScheduleError(f'{directive}(): Func "{f.name}" has {len(f.types)} values at a point. {legal}')
    value = f.definitions[0].values[0]
    if not isinstance(value, Access) or value.args != tuple(map(pure_variable, f.args)):
        raise ScheduleError(f'{directive}(): Func "{f.name}" is {value!r} at a point. {legal}')


def check_device(directive: str, api: DeviceAPI) -> None:
    """Refuses all but the host.

    Raises: ScheduleError; NotAvailableDirective, which is one, for a device.
    """
    if not isinstance(api, DeviceAPI):
        raise ScheduleError(f"{directive}() takes a DeviceAPI, not {api!r}.")
    if api not in (DeviceAPI.Host, DeviceAPI.None_):
        raise NotAvailableDirective(
            f"{directive}() of {api.name}: code for devices is not available yet. "
            f"The legal choices: {directive}(hl.DeviceAPI.Host), which copies nothing, or no {directive}()."
        )
