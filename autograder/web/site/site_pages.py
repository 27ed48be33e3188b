"""The pages of a site: lessons, glossary, reference pages and the start page, from templates that escape all text."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from math import nan
from operator import attrgetter
from typing import Any

from autograder import __version__
from autograder.core.text import counted
from autograder.course import Assignment, Curriculum, registry
from autograder.course.model import duration
from autograder.errors import HeadwayError, missing_package
from autograder.report.html import safe_environment
from autograder.web.site import guides
from autograder.web.site.lesson import PageHtml, points_of, render_lesson
from autograder.web.site.markdown import CourseLinks, Markdown, PageText
from autograder.workspace.files import stub_text
from autograder.workspace.finished import CARD_STEP, READ_STEP

EXAMPLE = "static/example.json"  # edits and their reports, for the start page; `make picture` writes it
_STYLES = ("site.css", "text.css", "search.css")  # of every page
# The script of a kind of page, and its style sheets: a site whose back end runs them has them.
_EXTRA = {
    "lesson": ("lesson.js", ("lesson.css", "report.css", "plot.css")),
    "train": ("training.js", ("training.css", "plot.css")),
    "index": ("home.js", ()),
}
_IMPORT = re.compile(rb' from "\./(.+)";')


class SitePages:
    """Makes the pages of one site. `assets` are the style sheets and scripts that it has, by name."""

    def __init__(
        self,
        curriculum: Curriculum,
        backend: str,
        policy: str,
        assets: Mapping[str, bytes],
        commands: Sequence[guides.CommandHelp],
        repository: str,
    ) -> None:
        self.figures = registry.figure_texts(curriculum)
        self._course, self._assets, self._commands, self._repository = curriculum, assets, commands, repository
        self._built_in = curriculum.is_built_in
        exercises = guides.exercises(registry.extra_texts(curriculum.package))
        anchors = {command.name: command.anchor for command in commands}
        self._links = CourseLinks(curriculum, anchors, [exercise.page for exercise in exercises])
        try:
            self._templates = safe_environment("autograder.web.site", "templates")
            self._markdown = Markdown(self._links)
        except ImportError as error:
            raise missing_package(f"the website needs {error.name}", "site") from None
        self._points = points_of(curriculum)
        self._guides = [d for d in guides.GUIDES if self._built_in or d.any_course] + exercises
        self._shared = {
            "backend": backend,
            "policy": policy,
            "version": __version__,
            "course": curriculum,
            "built_in": self._built_in,
            "possible": sum(self._points.get(f.qualified) or nan for f in curriculum.functions.values() if not f.bonus),
            "site_name": "Headway" if self._built_in else curriculum.title,
            "has_commands": bool(commands),
            **self._menus(),
        }

    def pages(self) -> dict[str, str]:
        """Return the text of every page by its file name."""
        reserved = {"index", "glossary", "commands", "train", *(guide.page for guide in self._guides)}
        if taken := sorted(reserved & self._course.modules.keys()):
            raise HeadwayError(f"an assignment cannot have the name of a page of the site: {taken[0]}")
        texts = {module: PageText(module, self.figures) for module in self._course.modules}
        lessons = {
            module: render_lesson(stub_text(module, self._course), assignment, self._markdown, texts[module])
            for module, assignment in self._course.modules.items()
        }
        result = {"index.html": self._start_page(lessons)}
        for number, assignment in enumerate(self._course.assignments):
            result[f"{assignment.module}.html"] = self._lesson_page(number, assignment, lessons[assignment.module])
        if self._built_in:
            result["train.html"] = self._render("Train your model", "train")
        if self._links.terms:
            terms = sorted(self._links.terms.values(), key=lambda term: term.text.lower())
            introduced = {module: text.ids for module, text in texts.items()}
            result["glossary.html"] = self._render("Glossary", "glossary", terms=terms, introduced=introduced)
        for guide in self._guides:
            resolve = guides.link_resolver(guide, self._guides, self.figures, self._repository)
            document = guides.render_guide(guide, self._markdown, resolve)
            page = self._render(guide.name, guide.page, "document", description=guide.about, document=document)
            result[f"{guide.page}.html"] = page
        if commands := self._commands:
            sections = groupby(commands, key=attrgetter("section"))
            result["commands.html"] = self._render("The command line", "commands", commands=commands, sections=sections)
        return result

    def _menus(self) -> dict[str, list[tuple[str, str]]]:
        """Return the addresses and names in the menu of each page, and those of all pages."""
        lists = [("train.html", "Train")] if self._built_in else []
        lists += [("glossary.html", "Glossary")] if self._links.terms else []
        lists += [("commands.html", "Commands")] if self._commands else []
        readers = [(f"{d.page}.html", d.name[4:].capitalize()) for d in self._guides if d.name.startswith("For ")]
        lessons = [(f"{a.module}.html", f"{a.number}. {a.title}") for a in self._course.assignments]
        documents = [(f"{d.page}.html", d.name) for d in self._guides]
        return {
            "menu": [("index.html#course", "Lessons"), *readers, *lists],
            "all_pages": [*lessons, *documents, *lists],
        }

    def _start_page(self, lessons: dict[str, PageHtml]) -> str:
        example = json.loads(files(__package__).joinpath(EXAMPLE).read_text("utf-8")) if self._built_in else None
        minutes = sum(function.minutes for function in self._course.functions.values())
        title = "Headway: learn the transformer by writing it" if self._built_in else self._course.title
        return self._render(
            title,
            "index",
            example=example,
            hours=round(minutes / 60),
            gives={module: _without_topic(lesson) for module, lesson in lessons.items()},
            card=CARD_STEP[1],
            paper=READ_STEP,
            duration=duration,
            counted=counted,
        )

    def _lesson_page(self, number: int, assignment: Assignment, lesson: PageHtml) -> str:
        neighbors = self._course.assignments
        return self._render(
            lesson.name.replace("`", ""),
            "lesson",
            description=lesson.summary,
            assignment=assignment,
            lesson=lesson,
            functions=self._course.functions,
            points=self._points,
            previous=neighbors[number - 1] if number else None,
            following=neighbors[number + 1] if number + 1 < len(neighbors) else None,
        )

    def _render(self, title: str, page: str, template: str = "", *, description: str = "", **values: Any) -> str:
        script, extra_styles = _EXTRA.get(page, ("", ()))
        available = script in self._assets
        scripts = ["site.js", *[script] * available]
        backend = [f"backend_{self._shared['backend']}.js"] * (available and page != "index")
        return self._templates.get_template(f"{template or page}.html.j2").render(
            title=title,
            page=page,
            description=description,
            styles=[*_STYLES, *["start.css", "report.css"] * (page == "index"), *(extra_styles if available else ())],
            scripts=scripts,
            imported=[name for name in self._with_imports(scripts + backend) if name not in scripts],
            **self._shared,
            **values,
        )

    def _with_imports(self, scripts: Iterable[str]) -> list[str]:
        """Return modules and all that they import, so that a page can ask for them at once."""
        found = list(scripts)
        for name in found:  # It grows meanwhile.
            found.extend(other for line in _IMPORT.findall(self._assets[name]) if (other := line.decode()) not in found)
        return found


def _without_topic(lesson: PageHtml) -> str:
    """Return what a lesson is about: the second half of a title such as "Softmax: from scores to probabilities"."""
    rest = lesson.name.partition(": ")[2]
    return f"{rest[:1].upper()}{rest[1:]}." if rest else lesson.summary
