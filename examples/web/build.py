"""A page that blurs a photograph in a browser: one file, with the pipeline as WebAssembly in it.

    python examples/web/build.py                  examples/out/blur.html
    python examples/web/build.py --screenshot     examples/out/page.png too, by a headless Chromium, and looks at it

Needs the ziglang wheel, which makes the WebAssembly: pip install 'halide-core[examples,zig]'.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import imageio.v3 as iio
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from blur_photo import RADIUS, algorithm, root_vectors  # noqa: E402  # the folder of the examples is known only here
from photograph import OUTPUT, photograph  # noqa: E402

TARGET = "wasm-32-wasmrt-wasm_simd128"


def module() -> bytes:
    """The pipeline and what the page calls, as a module without a main()."""
    blur = algorithm()
    root_vectors(blur)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        blur.mean.compile_to_static_library(str(folder / "blur"), [blur.image, blur.radius], "blur", TARGET)
        zig = [sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi", "-mexec-model=reactor", "-O2", "-s"]
        files = [str(HERE / "page.c"), str(folder / "blur.a"), "-o", str(folder / "blur.wasm")]
        subprocess.run([*zig, f"-I{folder}", *files], check=True)
        return (folder / "blur.wasm").read_bytes()


def page(wasm: bytes, picture: np.ndarray) -> str:
    """The page, with all that it needs."""
    text = (HERE / "page.html").read_text(encoding="utf-8")
    png = iio.imwrite("<bytes>", picture, extension=".png")
    values = {"WASM_IN_BASE64": wasm, "PNG_IN_BASE64": png}
    for name, value in values.items():
        text = text.replace(name, base64.b64encode(value).decode("ascii"))
    return text.replace("RADIUS", str(RADIUS))


def blurred(picture: np.ndarray) -> np.ndarray:
    """The picture that the page should show, computed by this machine."""
    planar = np.ascontiguousarray(picture.transpose(2, 0, 1))
    blur = algorithm()
    root_vectors(blur)
    blur.image.set(planar)
    height, width, channels = picture.shape
    return np.asarray(blur.mean.realize([width, height, channels])).transpose(1, 2, 0)


def shows(screen: np.ndarray, picture: np.ndarray) -> bool:
    """True where a part of the screen is the picture, pixel by pixel."""
    screen, (height, width, _) = screen[:, :, :3], picture.shape
    starts = (screen[: 1 - height or None, : 1 - width or None] == picture[0, 0]).all(axis=2)
    return any(np.array_equal(screen[y : y + height, x : x + width], picture) for y, x in np.argwhere(starts))


def checksum(picture: np.ndarray) -> int:
    """The page's sum over a blurred picture's values, as JavaScript computes it there."""
    total = 0
    for value in picture.ravel().tolist():
        total = (total * 31 + value) % 2**32
    return total


_LOOKS = 5
"""The number of looks for the end of a page: a picture is decoded in real time, for which virtual time doesn't wait."""


def browse(path: Path, picture: np.ndarray) -> Path:
    """A screenshot of the page, whose bytes and whose pixels are what this machine computes.

    Raises: SystemExit where they are others, or there is no Chromium.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("There is no Chromium on $PATH: apt-get install chromium.")
    shot = path.with_name("page.png")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", *quiet]
        command += [f"--user-data-dir={profile}", "--virtual-time-budget=10000", "--window-size=1120,760"]
        mean = blurred(picture)
        wanted = f"<title>status 0 sum {checksum(mean)}</title>"
        for _ in range(_LOOKS):
            shown = subprocess.run(
                [*command, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=300, check=True
            ).stdout
            if "<title>status" in shown:
                break
        if wanted not in shown:
            start = shown.find("<title>")
            raise SystemExit(f"The page shows {shown[start : start + 80]}, and not {wanted}.")
        shooting = [*command, f"--screenshot={shot}", path.as_uri()]
        for _ in range(_LOOKS):
            shot.unlink(missing_ok=True)
            subprocess.run(shooting, capture_output=True, timeout=300, check=True)
            if shows(iio.imread(shot), mean):
                return shot
    raise SystemExit(f"{shot} does not show the blurred picture.")


def main() -> None:
    """Writes the page, and looks at it where that is asked for."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--screenshot", action="store_true", help="open it in a headless Chromium")
    options = arguments.parse_args()
    picture = photograph()
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / "blur.html"
    path.write_text(page(module(), picture), encoding="utf-8")
    print(path)
    if options.screenshot:
        print(browse(path, picture))
        print("the page and its screenshot show the bytes of realize: yes")


if __name__ == "__main__":
    main()
