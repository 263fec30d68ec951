"""A Buffer's memory on a device, on a machine that computes on its own processor: there is none.

In: calls of Halide's that move memory. Out: nothing is moved; flags that programs set are theirs to read.

    b.set_host_dirty(); b.copy_to_device(); b.device_sync()   ->   0, 0: what the processor has is all there is
"""

from __future__ import annotations


class DeviceMemory:
    """The calls about devices of a Buffer. Those that return a status return 0, which is success."""

    _host_dirty = False
    _device_dirty = False

    def host_dirty(self) -> bool:
        """The value given to ``set_host_dirty`` last."""
        return self._host_dirty

    def set_host_dirty(self, dirty: bool = True) -> None:
        """Notes that the processor wrote the memory."""
        self._host_dirty = bool(dirty)

    def device_dirty(self) -> bool:
        """The value given to ``set_device_dirty`` last."""
        return self._device_dirty

    def set_device_dirty(self, dirty: bool = True) -> None:
        """Notes that a device wrote its memory."""
        self._device_dirty = bool(dirty)

    def has_device_allocation(self) -> bool:
        """False: no device has memory of it."""
        return False

    def copy_to_host(self) -> int:
        """Nothing is to be copied."""
        return 0

    def copy_to_device(self, *_where: object) -> int:
        """Nothing is copied. A device, a target, or both may be named."""
        return 0

    def device_malloc(self, *_where: object) -> int:
        """Nothing is allocated. A device, a target, or both may be named."""
        return 0

    def device_free(self) -> int:
        """Nothing is freed."""
        return 0

    def device_detach_native(self) -> int:
        """Nothing is detached."""
        return 0

    def device_deallocate(self) -> None:
        """Nothing is freed."""

    def device_sync(self) -> int:
        """Nothing is waited for."""
        return 0
