"""The release of Pyodide that the site uses: its files, where they come from, and their digests.

The core files on the CDN are those of the npm package `pyodide`; the digests of the wheels are those that
`pyodide-lock.json` in that package states. A page uses nothing whose digest differs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from autograder.errors import UsageError

VERSION, PYTHON = "0.28.3", "3.13"
CORE_URL = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
WHEELS_URL = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
FOLDER = "pyodide"  # of the site, beside its pages, with the files of `headway site --pyodide DIR`
_WHEEL_TAGS = "cp313-cp313-pyodide_2025_0_wasm32.whl"


@dataclass(frozen=True)
class Download:
    """One file of Pyodide: its name, its address, relative to `assets/` or absolute, and what it must be."""

    name: str
    url: str
    sha256: str
    bytes: int
    wheel: bool = False


# Name, size and SHA-256 of each file.
CORE = (
    ("pyodide.mjs", 16_347, "635a6da3218fe4e5668da595acfe8b5ce77453d597d602f19a423dd250653441"),
    ("pyodide.asm.js", 1_073_033, "b22e5831eade9ff10e6fe2c811c68688cd91f10154377b4f80debcf5bafa1e56"),
    ("pyodide.asm.wasm", 8_645_967, "5effb6a1a6cc4a1a85bec4622701aa797c031e1de923cbbaf2ad47abdc4ab325"),
    ("python_stdlib.zip", 2_416_866, "71fee17f88a6260ec8c9c7c063533ee59c021fdc88a1ce76247378d3c4a35f4c"),
)
# The lock file does not state the sizes of wheels: these are about right, and only the progress on the page uses them.
WHEELS = (
    (f"numpy-2.2.5-{_WHEEL_TAGS}", 3_640_000, "3db3c4f3e0448f4d62a85c262692f1260ccd8a91335442bd2442f21ffeddb558"),
    (f"regex-2024.11.6-{_WHEEL_TAGS}", 210_000, "7404d1b5686a79d52bbd556e5337bb81e3582ee94e4b3e3581dd5d7ff11a7348"),
)


def from_cdn() -> list[Download]:
    """Return the files on the public CDN."""
    core = [Download(name, CORE_URL + name, digest, size) for name, size, digest in CORE]
    return core + [Download(name, WHEELS_URL + name, digest, size, wheel=True) for name, size, digest in WHEELS]


def from_files(files: Mapping[str, bytes]) -> list[Download]:
    """Return the files of a folder that the user gave, with their own digests."""
    return [
        Download(name, f"../{FOLDER}/{name}", sha256(content).hexdigest(), len(content), wheel=name.endswith(".whl"))
        for name, content in files.items()
    ]


def folder_files(folder: Path) -> dict[str, bytes]:
    """Return the content of the files that the site needs from a folder with Pyodide.

    Raises UsageError if one is missing, or is of another version. Only `regex` may be missing, which one assignment
    needs.
    """
    names = [name for name, _, _ in (*CORE, *WHEELS)]
    missing = [name for name in names if not (folder / name).is_file() and not name.startswith("regex-")]
    if missing:
        advice = f"Take the core files from npm's pyodide@{VERSION} and the wheels from {WHEELS_URL}"
        raise UsageError(f"{folder} has no {missing[0]}. {advice}")
    try:
        files = {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    except OSError as error:
        raise UsageError(f"cannot read {folder} ({error.strerror}). Check its permissions") from None
    if not re.search(rb'"' + re.escape(VERSION.encode()) + rb'"', files["pyodide.mjs"]):
        raise UsageError(f"{folder} has another version of Pyodide than {VERSION}. Take npm's pyodide@{VERSION}")
    return files
