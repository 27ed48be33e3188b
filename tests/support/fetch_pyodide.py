"""Download the release of Pyodide that the site uses into a folder, and check every digest.

python tests/support/fetch_pyodide.py FOLDER
"""

import hashlib
import sys
import urllib.request
from pathlib import Path

from autograder.web.site.pyodide_bundle import from_cdn


def fetch(folder: Path) -> None:
    """Download the files that `folder` does not hold yet; raise ValueError for a wrong digest."""
    folder.mkdir(parents=True, exist_ok=True)
    for download in from_cdn():
        path = folder / download["name"]
        if not path.exists():
            with urllib.request.urlopen(download["url"], timeout=120) as response:
                path.write_bytes(response.read())
        if hashlib.sha256(path.read_bytes()).hexdigest() != download["sha256"]:
            path.unlink()
            raise ValueError(f"{download['url']} has another digest than expected")


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
