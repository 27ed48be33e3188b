"""The reference pages: documents of the repository (`docs/*.md`), exercises besides the course, the command line."""

import inspect
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import click

from autograder.course.stubs import bundled
from autograder.web.site.lesson import PageHtml, SectionHtml, lesson_text, split_headings
from autograder.web.site.markdown import Markdown, PageText
from autograder.workspace.file_cells import split_cells


@dataclass(frozen=True)
class Guide:
    """A guide and the page that it becomes."""

    page: str  # without .html
    name: str  # in menus
    about: str
    any_course: bool = False  # whether it holds for every course, not only for the built-in one
    path: str = ""  # in the repository, if it is not the file in `docs/` with the name of the page
    text: str = ""  # if it is not in a file

    @property
    def file(self) -> str:
        """The file in the repository."""
        return self.path or f"docs/{self.page}.md"


GUIDES = (
    Guide("students", "For students", "The workspace, notebooks, training, plots"),
    Guide("instructors", "For instructors", "Grading a class, policies, reports, gradebooks, nbgrader, clusters", True),
    Guide("week_canvas", "One week with Canvas", "From the download to grades and feedback in the gradebook", True),
    Guide("week_moodle", "One week with Moodle", "From the download to the grading worksheet and feedback files", True),
    Guide("week_gradescope", "One week with Gradescope", "Headway as the autograder, and grading its export", True),
    Guide("week_nbgrader", "One week with nbgrader", "Notebooks, the exchange, formgrader", True),
    Guide("week_github_classroom", "One week with GitHub Classroom", "A report for each push, grades of clones", True),
    Guide("sandbox", "The sandbox", "What isolates the code of students", True),
    Guide("security", "Security", "What is promised against whom, and what is not", True, "SECURITY.md"),
    Guide("courses", "Your own course", "What a package with a course contains", True),
    Guide("same_model_in_pytorch", "The same model in PyTorch", "Each function beside its PyTorch call"),
    Guide("symbols", "Symbols", "What each letter of the lessons stands for"),
    Guide("sources", "Where the parts of five models are", "The well-known forms of the transformer, part by part"),
)


def exercises(sources: Mapping[str, str]) -> list[Guide]:
    """Return guides that show modules with cell markers, given by file name, as text and code."""
    found = []
    for file, source in sources.items():
        head, *cells = split_cells(source)
        parts = [f"{lesson_text(c)}\n" if c.is_lesson else f"```python\n{c.text.strip()}\n```\n" for c in cells]
        about = head.text.strip('"').partition("\n")[0]
        title = next((line[2:] for line in parts[0].splitlines() if line.startswith("# ")), file) if parts else file
        found.append(Guide(file.removesuffix(".py"), title, about, path=file, text="\n".join(parts)))
    return found


def text_of(guide: Guide) -> str:
    """Return the text of a guide, from the wheel or from a clone."""
    if guide.text:
        return guide.text
    folder = bundled("docs")
    path = folder / Path(guide.file).name
    return (path if path.is_file() else folder.parent / guide.file).read_text("utf-8")


def render_guide(guide: Guide, markdown: Markdown, resolve: Callable[[str], str]) -> PageHtml:
    """Return the HTML of a guide; `resolve` returns the addresses of its links."""
    page = PageText(resolve=resolve)
    title, sections = guide.name, []
    for level, heading, text in split_headings(text_of(guide)):
        page.begin_section()
        if level == 1:
            title = markdown.render_inline(heading, page)
        name = page.new_id(heading) if level == 2 else ""
        body = markdown.render(text, page)
        if name or body:
            sections.append(SectionHtml(name, markdown.render_inline(heading, page) if name else "", body))
    return PageHtml(title, sections)


def link_resolver(
    guide: Guide, guides: Iterable[Guide], figures: Iterable[str], repository: str
) -> Callable[[str], str]:
    """Return what finds the address in the site of a link in a guide.

    Links to files that the site does not contain go to `repository`; without one, they become plain text.
    """
    pages = {other.file: f"{other.page}.html" for other in guides}
    known = pages | {f"solutions/{name}": name for name in figures}

    def resolve(target: str) -> str:
        if target.startswith(("#", "https://", "http://", "mailto:")):
            return target
        file, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(guide.file), file))
        if path in known:
            return known[path] + mark + anchor
        return f"{repository.rstrip('/')}/{path}{mark}{anchor}" if repository else ""

    return resolve


@dataclass(frozen=True)
class CommandHelp:
    """What `headway NAME --help` says."""

    name: str  # such as "grade" or "data fetch"
    section: str  # of the commands, such as "Teach"
    usage: str
    summary: str
    paragraphs: tuple[str, ...]
    options: tuple[tuple[str, str], ...]  # each with its explanation

    @property
    def anchor(self) -> str:
        """Return the id of its section."""
        return "headway-" + self.name.replace(" ", "-")


def describe_commands(group: click.Group, sections: Mapping[str, Iterable[str]]) -> tuple[CommandHelp, ...]:
    """Return the help of all commands, by the sections of the help."""
    context = click.Context(group, info_name="headway")
    return tuple(
        command_help
        for section, names in sections.items()
        for name in names
        if (command := group.get_command(context, name)) and not command.hidden
        for command_help in _describe(name, section, command, context)
    )


def _describe(name: str, section: str, command: click.Command, parent: click.Context) -> Iterator[CommandHelp]:
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent, **command.context_settings)
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.replace("\b", ""))]
    usage = f"headway {name} {' '.join(command.collect_usage_pieces(context))}"
    records = filter(None, (parameter.get_help_record(context) for parameter in command.get_params(context)))
    explained = [(option, " ".join(text.split())) for option, text in records if not option.endswith("--help")]
    options = tuple(filter(itemgetter(1), explained))
    yield CommandHelp(name, section, usage, paragraphs[0], tuple(filter(None, paragraphs[1:])), options)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            if subcommand := command.get_command(context, child):
                yield from _describe(f"{name} {child}", section, subcommand, context)
