"""Build the site of a course: every page and asset, by path."""

import hashlib
import importlib.resources
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

from autograder.course import Curriculum
from autograder.web.site import pyodide_bundle
from autograder.web.site.guides import CommandHelp
from autograder.web.site.site_pages import SitePages

Backend = Literal["server", "browser", "none"]
PYODIDE_CDN = "https://cdn.jsdelivr.net"
# What a site loads that can only be read. A site that checks code has everything else, too.
_READING = (
    *("dom.js", "icon.svg", "search.js", "service_worker.js", "site.js", "theme.js", "print.css", "search.css"),
    *("site.css", "start.css", "text.css", "try.js", "report.js", "error_map.js", "status_mark.js", "report.css"),
    *("example.json", "vendor/LICENSES.txt", "vendor/minisearch.js", "vendor/source-serif-4.woff2"),
)
# A quarter of the scripts, above all types, which no browser needs.
_COMMENT = re.compile(rb"^ *//.*\n|/\*\*[^\0]*?\*/\s*", re.MULTILINE)
_ONLY_SERVER = ("backend_server.",)
_ONLY_BROWSER = ("backend_browser.", "browser_", "pyodide_", "service_worker.")
_HEADINGS = ("h1", "h2", "h3", "dt")
_SKIPPED = ("script", "style", "pre", "math", "nav", "aside")  # for the search


def pages(
    curriculum: Curriculum,
    backend: Backend,
    *,
    commands: Sequence[CommandHelp] = (),
    repository: str = "",
    pyodide: Path | None = None,
) -> dict[str, bytes]:
    """Return every file of the site by its path.

    Args:
        curriculum: the course.
        backend: what checks code: "server" (`headway serve`), "browser" (Pyodide) or "none" (nothing does).
        commands: the help of the command line; without it, there is no page about it.
        repository: the address below which the files of Headway's repository are, for links to files that the site
            does not contain; without it, such links become plain text.
        pyodide: a folder with Pyodide and NumPy, which become part of the site; without it, the browser loads them
            from the public network.
    """
    assets = static_files(backend)
    policy = content_security_policy(backend, local_pyodide=pyodide is not None)
    site = SitePages(curriculum, backend, policy, assets, commands, repository)
    texts = {name: text.encode() for name, text in site.pages().items()}
    contents = texts | {name: text.encode() for name, text in site.figures.items()}
    digests: dict[str, str] = {}
    if backend == "browser":
        local = pyodide_bundle.folder_files(pyodide) if pyodide else {}
        assets |= pyodide_bundle.browser_files(curriculum, local)
        contents |= {f"{pyodide_bundle.FOLDER}/{name}": data for name, data in local.items()}
        digests |= {entry["url"]: entry["sha256"] for entry in pyodide_bundle.from_cdn() if not local}
    course_map = importlib.resources.files(curriculum.package).joinpath("common/figures/map.svg")
    if backend != "none" and course_map.is_file():
        assets["map.svg"] = course_map.read_bytes()
    contents |= {f"assets/{name}": data for name, data in assets.items()}
    contents["assets/search.json"] = search_index(texts)
    if worker := contents.pop("assets/service_worker.js", b""):
        digests |= {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
        files = json.dumps(digests, sort_keys=True).encode()
        version = hashlib.sha256(files).hexdigest().encode()
        contents["service_worker.js"] = b'const FILES = %s, VERSION = "%s";\n' % (files, version) + worker
    return contents


def static_files(backend: Backend) -> dict[str, bytes]:
    """Return the style sheets and scripts that a site with this back end needs, by path below `assets/`."""
    every = _all_static_files()
    if backend == "none":
        return {name: every[name] for name in _READING if name in every}
    needless = _ONLY_SERVER if backend == "browser" else _ONLY_BROWSER
    return {name: data for name, data in every.items() if not name.startswith(needless)}


@cache
def _all_static_files() -> Mapping[str, bytes]:
    root = Path(str(importlib.resources.files("autograder.web.site"))) / "static"
    paths = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".ts")
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    scripts = [path for path in files if path.endswith(".js") and "/" not in path]
    return files | {path: _COMMENT.sub(b"", files[path]) for path in scripts}


def content_security_policy(backend: Backend, local_pyodide: bool = False) -> str:
    """Return the policy of a page for its `<meta>` element; empty with a server, which sends a policy as a header."""
    if backend == "server":
        return ""
    public = f" {PYODIDE_CDN}" if backend == "browser" and not local_pyodide else ""
    wasm = " 'wasm-unsafe-eval'" if backend == "browser" else ""
    workers = "; worker-src 'self'" if backend == "browser" else ""
    return (
        f"default-src 'none'; script-src 'self'{wasm}{public}; style-src 'self'; connect-src 'self'{public}; "
        f"font-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'{workers}"
    )


def search_index(pages: Mapping[str, bytes]) -> bytes:
    """Return the search index as JSON: for each heading, [page, anchor, title of the page, heading, text below it]."""
    entries: list[list[str]] = []
    for name, page in pages.items():
        reader = _PageReader(name)
        reader.feed(page.decode())
        entries += reader.entries
    for entry in entries:
        entry[2:] = [" ".join(text.split()) for text in entry[2:]]
    return json.dumps([entry for entry in entries if entry[3]], ensure_ascii=False, separators=(",", ":")).encode()


class _PageReader(HTMLParser):
    """Collects the headings inside `<main>`, with the nearest id before each, and the text that follows it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.entries: list[list[str]] = []
        self._name, self._title, self._anchor = name, "", ""
        self._main = self._in_heading = False
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "main":
            self._main = True
        elif not self._main:
            return
        if tag == "section":
            self._anchor = values.get("id") or ""
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag in _HEADINGS and not self._skipped:
            self._in_heading = True
            self.entries.append([self._name, values.get("id") or self._anchor, self._title, "", ""])

    def handle_endtag(self, tag: str) -> None:
        if tag == "main":
            self._main = False
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _HEADINGS:
            if tag == "h1" and self._in_heading:
                self._title = self.entries[-1][2] = self.entries[-1][3]
            self._in_heading = False
        if self._main and self.entries and tag in ("p", "li", "td", "dd", "th"):
            self.entries[-1][4] += " "

    def handle_data(self, data: str) -> None:
        if self._main and self.entries and not self._skipped:
            self.entries[-1][3 if self._in_heading else 4] += data


def write(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder."""
    for name, data in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
