"""The page of one assignment: its lesson with the stub of each function as a cell."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from autograder.course import Assignment
from autograder.web.site.highlighting import highlight
from autograder.web.site.lesson import Lesson, LessonPart, LessonSection
from autograder.web.site.links import Term
from autograder.web.site.markdown import Markdown, PageText


@dataclass(frozen=True)
class SectionHtml:
    """A section of a page, ready for its template."""

    id: str
    heading: str  # HTML, empty for the text below the title
    body: str
    function: str = ""
    folded: bool = False


@dataclass(frozen=True)
class PageHtml:
    """The content of the page of a lesson or a guide, ready for its template."""

    title: str
    sections: list[SectionHtml]
    terms: Sequence[Term] = ()  # that are linked on the page of a lesson


def render_lesson(lesson: Lesson, assignment: Assignment, markdown: Markdown, page: PageText) -> PageHtml:
    """Return the HTML of a lesson's parts."""
    page.ids.update(function.qualified for function in assignment.functions)
    title = markdown.render_inline(lesson.title, page)
    sections = [_section(section, markdown, page) for section in lesson.sections]
    used = sorted(page.used.values(), key=lambda term: term.text.lower())
    return PageHtml(title, [section for section in sections if section.heading or section.body], used)


def _section(section: LessonSection, markdown: Markdown, page: PageText) -> SectionHtml:
    page.begin_section(section.function)
    heading = markdown.render_inline(section.heading, page) if section.heading else ""
    name = section.function or (page.new_id(section.heading) if heading else "")
    body = "".join(map(partial(_part, markdown=markdown, page=page), section.parts))
    return SectionHtml(name, heading, body, section.function, section.folded)


def _part(part: LessonPart, markdown: Markdown, page: PageText) -> str:
    if part.kind == "text":
        return markdown.render(part.text, page)
    code = highlight(part.text)
    if part.kind == "code":
        given = f'<pre class="code given"><code>{code}</code></pre>'
        if part.experiment is None:
            return f"{given}\n"
        return f'<div class="experiment" data-experiment="{html.escape(part.experiment)}">{given}</div>\n'
    shared = f' data-shared="{html.escape(" ".join(part.functions))}"' if len(part.functions) > 1 else ""
    return (
        f'<div class="cell" data-function="{html.escape(part.functions[0])}"{shared}>'
        f'<pre class="code"><code class="stub">{code}</code></pre></div>\n'
    )
