"""The applications as users of other libraries write them, where that is natural: numpy, scipy, OpenCV, numba, torch.

    python -m benchmarks.libraries scipy     # a worker, as benchmarks.worker is, for one library

Each function takes the inputs and answers with a function of no arguments, so that what is prepared once (kernels,
tensors, the compiler of numba) is not timed. Results are compared with numpy's, within the same tolerance.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.apps import APPS
from benchmarks.apps.app import Array, Inputs, Size
from benchmarks.worker import Worker, load_inputs, private_stdout, serve

Prepare = Callable[[Any, Inputs, Size], Callable[[], Array]]
"""The library, the inputs and the size, to what is timed."""


def _numpy_sgemm(_: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    a, b = (np.asarray(i) for i in inputs)
    out = np.empty((len(a), b.shape[1]), np.float32)
    return lambda: np.matmul(a, b, out=out)


def _scipy_max_filter(scipy: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    (image,), radius = inputs, size[2]
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    disc = x * x + y * y <= (radius + 0.25) ** 2
    ndimage = importlib.import_module("scipy.ndimage")
    return lambda: np.stack([ndimage.maximum_filter(p, footprint=disc, mode="nearest") for p in np.asarray(image)])


def _scipy_unsharp(scipy: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    image = np.asarray(inputs[0])
    ndimage = importlib.import_module("scipy.ndimage")
    unsharp = importlib.import_module("benchmarks.apps.unsharp")
    kernel = np.array([unsharp._KERNEL[abs(k)] for k in range(-3, 4)], np.float32)
    weights = np.array([unsharp._RED, unsharp._GREEN, unsharp._BLUE], np.float32)

    def run() -> Array:
        gray = np.tensordot(weights, image, 1)
        soft = ndimage.correlate1d(ndimage.correlate1d(gray, kernel, 0, mode="nearest"), kernel, 1, mode="nearest")
        return np.asarray((2 * gray - soft) / gray * image)

    return run


def _cv2_unsharp(cv2: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    image = np.asarray(inputs[0])
    unsharp = importlib.import_module("benchmarks.apps.unsharp")
    kernel = np.array([unsharp._KERNEL[abs(k)] for k in range(-3, 4)], np.float32)
    picture = np.ascontiguousarray(image.transpose(1, 2, 0))
    weights = np.array([[unsharp._RED, unsharp._GREEN, unsharp._BLUE]], np.float32)

    def run() -> Array:
        gray = cv2.transform(picture, weights)
        soft = cv2.sepFilter2D(gray, -1, kernel, kernel, borderType=cv2.BORDER_REPLICATE)
        share = cv2.divide(cv2.addWeighted(gray, 2.0, soft, -1.0, 0.0), gray)
        return np.asarray(cv2.multiply(picture, cv2.merge([share, share, share])).transpose(2, 0, 1))

    return run


def _cv2_sgemm(cv2: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    a, b = inputs
    return lambda: np.asarray(cv2.gemm(a, b, 1.0, None, 0.0))


def _cv2_max_filter(cv2: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    image, radius = np.asarray(inputs[0]), size[2]
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    disc = (x * x + y * y <= (radius + 0.25) ** 2).astype(np.uint8)
    return lambda: np.stack([cv2.dilate(p, disc, borderType=cv2.BORDER_REPLICATE) for p in image])


def _numba_blur(numba: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    image = np.asarray(inputs[0])
    width, height = size
    out = np.empty((height, width), np.uint16)
    three = np.uint16(3)

    def kernel(source: Any, target: Any) -> None:
        for y in numba.prange(target.shape[0]):
            row = np.empty((3, target.shape[1]), np.uint16)
            for k in range(3):
                for x in range(target.shape[1]):
                    total = np.uint16(source[y + k, x] + source[y + k, x + 1] + source[y + k, x + 2])
                    row[k, x] = total // three
            for x in range(target.shape[1]):
                target[y, x] = np.uint16(row[0, x] + row[1, x] + row[2, x]) // three

    compiled = numba.njit(kernel, parallel=True)

    def run() -> Array:
        compiled(image, out)
        return out

    return run


def _torch_sgemm(torch: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    a, b = (torch.from_numpy(np.asarray(i)) for i in inputs)
    return lambda: np.asarray(torch.matmul(a, b).numpy())


def _torch_conv(torch: Any, inputs: Inputs, size: Size) -> Callable[[], Array]:
    image, weights, bias = (torch.from_numpy(np.asarray(i)) for i in inputs)
    channels_last = image.permute(0, 3, 1, 2)
    kernel = weights.permute(3, 0, 1, 2).contiguous(memory_format=torch.channels_last)

    def run() -> Array:
        with torch.no_grad():
            result = torch.relu(torch.nn.functional.conv2d(channels_last, kernel, bias))
        return np.asarray(result.permute(0, 2, 3, 1).numpy())

    return run


def _by_reference(name: str) -> Prepare:
    """numpy's reference itself."""
    return lambda _, inputs, size: lambda: APPS[name].reference(inputs, size)


LIBRARIES: dict[str, dict[str, Prepare]] = {
    "numpy": {**{name: _by_reference(name) for name in APPS}, "sgemm": _numpy_sgemm},
    "scipy": {"unsharp": _scipy_unsharp, "max_filter": _scipy_max_filter},
    "cv2": {"unsharp": _cv2_unsharp, "sgemm": _cv2_sgemm, "max_filter": _cv2_max_filter},
    "numba": {"blur": _numba_blur},
    "torch": {"sgemm": _torch_sgemm, "conv_layer": _torch_conv},
}


class LibraryWorker(Worker):
    """Answers as ``Worker`` does, with one library's version; there is nothing to compile."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._functions = LIBRARIES[name]
        threads = int(os.environ.get("HL_NUM_THREADS", "1"))
        if name == "cv2":
            self._hl.setNumThreads(threads)
        elif name == "torch":
            self._hl.set_num_threads(threads)

    def load(self, order: dict[str, Any]) -> dict[str, Any]:
        """Prepares the application and runs it once."""
        size = APPS[order["app"]].sizes[order["size"]]
        run = self._functions[order["app"]](self._hl, load_inputs(order["inputs"]), size)

        def keep() -> None:
            self._output = run()

        self._run = keep
        self._run()
        return {"compile_s": []}


def main() -> None:
    """Serves one library."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("library", choices=list(LIBRARIES))
    answers = private_stdout()
    worker = LibraryWorker(arguments.parse_args().library)
    answers.write(json.dumps({"ready": True}) + "\n")
    answers.flush()
    serve(worker, sys.stdin, answers)


if __name__ == "__main__":
    main()
