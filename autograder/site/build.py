"""Build the site of a course: every page and asset, by path."""

import importlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from autograder import __version__
from autograder.curriculum import Assignment, Curriculum, registry
from autograder.curriculum.stubs import make_stub
from autograder.errors import missing_package
from autograder.site.check_points import points_of
from autograder.site.lesson import Lesson, read_lesson
from autograder.site.lesson_page import effort_text, render_lesson
from autograder.site.links import CourseLinks

if TYPE_CHECKING:
    from jinja2 import Environment

    from autograder.site.markdown import Markdown

Backend = Literal["server", "browser", "none"]
PYODIDE_CDN = "https://cdn.jsdelivr.net"
# What a lesson's page loads besides what every page loads, in this order, where it exists.
_LESSON_STYLES = ("lesson.css", "report.css")
_LESSON_SCRIPT = "lesson.js"
_TRAINING_STYLE, _TRAINING_SCRIPT = "training.css", "training.js"


def pages(curriculum: Curriculum, backend: Backend, *, local_pyodide: bool = False) -> dict[str, bytes]:
    """Return every file of the site by its path.

    `backend` says what checks the code: "server" (`headway serve`), "browser" (Pyodide) or "none" (the site can only
    be read). With `local_pyodide`, Pyodide comes from the site and not from the public network.
    """
    site = _Site(curriculum, backend, local_pyodide)
    contents = {f"assets/{name}": data for name, data in static_files(backend).items()}
    contents |= {name: text.encode() for name, text in site.figures.items()}
    if backend == "browser":
        contents |= {f"assets/{name}": data for name, data in _browser_files(curriculum).items()}
    for number, assignment in enumerate(curriculum.assignments):
        contents[f"{assignment.module}.html"] = site.lesson_page(number, assignment).encode()
    contents["index.html"] = site.render("index.html.j2", title=curriculum.title, page="index").encode()
    if site.links.terms:
        contents["glossary.html"] = site.glossary_page().encode()
    if site.has_training:
        contents["train.html"] = site.render("train.html.j2", title="Train your model", page="train").encode()
    return contents


def _browser_files(curriculum: Curriculum) -> dict[str, bytes]:
    try:
        bundle = importlib.import_module("autograder.site.pyodide_bundle")
    except ModuleNotFoundError:
        return {}
    found: dict[str, bytes] = bundle.browser_files(curriculum)
    return found


@cache
def _all_static_files() -> Mapping[str, bytes]:
    root = Path(str(files("autograder.site"))) / "static"
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def static_files(backend: Backend) -> dict[str, bytes]:
    """Return the style sheets and scripts that a site with this back end needs, by path below `assets/`."""
    needless = {"browser": ("backend_server.js", "training"), "server": ("backend_browser.js", "pyodide_")}
    return {
        name: data for name, data in _all_static_files().items() if not name.startswith(needless.get(backend, ("\0",)))
    }


def content_security_policy(backend: Backend, local_pyodide: bool) -> str:
    """Return the policy of a page as its `<meta>` element has it; empty with a server, which sends it as a header."""
    if backend == "server":
        return ""
    sources = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "font-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if backend == "browser":
        public = "" if local_pyodide else f" {PYODIDE_CDN}"
        sources["script-src"] += f" 'wasm-unsafe-eval'{public}"
        sources["connect-src"] += public
        sources["worker-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in sources.items())


class _Site:
    """What all pages of a site share."""

    def __init__(self, curriculum: Curriculum, backend: Backend, local_pyodide: bool) -> None:
        self.curriculum, self.backend = curriculum, backend
        self.has_training = curriculum.package == registry.default().package  # whose models `headway train` trains
        self.figures = registry.figure_texts(curriculum.package)
        self.links = CourseLinks(curriculum)
        self.points = points_of(curriculum)
        self._templates, self._markdown = _tools(self.links)
        self._policy = content_security_policy(backend, local_pyodide)
        self._local_pyodide = local_pyodide and backend == "browser"
        solutions = registry.solutions(curriculum.package)
        self._lessons = {
            module: _read(solutions / f"{module}.py", assignment, curriculum)
            for module, assignment in curriculum.modules.items()
        }
        self.titles = {module: self._plain(lesson.title) for module, lesson in self._lessons.items()}

    def _plain(self, heading: str) -> str:
        return heading.replace("`", "")

    def lesson_page(self, number: int, assignment: Assignment) -> str:
        from autograder.site.markdown import PageText

        page = PageText(assignment.module, self.figures)
        lesson = render_lesson(self._lessons[assignment.module], assignment, self._markdown, page)
        neighbours = self.curriculum.assignments
        return self.render(
            "lesson.html.j2",
            title=self.titles[assignment.module],
            page="lesson",
            assignment=assignment,
            lesson=lesson,
            functions=self.curriculum.functions,
            points=self.points,
            previous=neighbours[number - 1] if number else None,
            following=neighbours[number + 1] if number + 1 < len(neighbours) else None,
        )

    def glossary_page(self) -> str:
        return self.render("glossary.html.j2", title="Glossary", page="glossary")

    def render(self, template: str, **values: Any) -> str:
        available = static_files(self.backend)
        styles, script = self._assets(values["page"])
        return self._templates.get_template(template).render(
            backend=self.backend,
            policy=self._policy,
            local_pyodide=self._local_pyodide,
            version=__version__,
            site=self,
            course=self.curriculum,
            styles=[name for name in styles if name in available],
            script=script if script in available else "",
            effort_text=effort_text,
            **values,
        )

    def _assets(self, page: str) -> tuple[tuple[str, ...], str]:
        """Return the style sheets and the script that a page needs besides those of every page."""
        if page == "lesson" and self.backend != "none" and _LESSON_SCRIPT in static_files(self.backend):
            return _LESSON_STYLES, _LESSON_SCRIPT
        if page == "train" and self.backend == "server":
            return (_TRAINING_STYLE,), _TRAINING_SCRIPT
        return (), ""


def _read(path: Path, assignment: Assignment, curriculum: Curriculum) -> Lesson:
    return read_lesson(make_stub(path.read_text("utf-8"), assignment.module, curriculum), assignment)


def _tools(links: CourseLinks) -> "tuple[Environment, Markdown]":
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        from autograder.site.markdown import Markdown

        markdown = Markdown(links)
    except ImportError:
        raise missing_package("The site needs packages that are not installed", "site") from None
    templates = Environment(
        loader=PackageLoader("autograder.site"), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    templates.trim_blocks = templates.lstrip_blocks = True
    return templates, markdown


def pyodide_files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder with Pyodide, by their paths in the site."""
    return {f"assets/pyodide/{path.name}": path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def write(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder."""
    for name, data in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
