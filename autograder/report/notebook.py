"""The check report in a notebook: the panels of the terminal as HTML, with a plain-text alternative."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autograder.documents.reading import Document
from autograder.report import check_report, wording
from autograder.report.check_report import STATUS_STYLES
from autograder.report.console import text_console

WIDTH = 96
MAX_PANELS = 3
# Text takes the colors of the notebook's theme, light or dark. Wrapped lines would break the panels' borders.
_STYLE = "white-space:pre;overflow-x:auto;line-height:1.16;font-family:Menlo,'DejaVu Sans Mono',Consolas,monospace"
_FORMAT = f'<pre style="{_STYLE};margin:0;color:inherit;background:none">{{code}}</pre>'


@dataclass(frozen=True)
class NotebookReport:
    """The result of a check, as notebooks display it."""

    document: Document
    progress: Mapping[str, str | None]  # status of each function of the assignments; None if not checked yet
    origins: Mapping[str, str]  # where the earlier assignments that the functions import come from, by module
    note: str = ""  # a remark about this check

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return bool(self.document["passed"])

    def __str__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        console = text_console(WIDTH, False, record=True, force_jupyter=False, color_system="truecolor")
        console.print(Group(*self._parts()))
        html = console.export_html(inline_styles=True, code_format=_FORMAT, clear=False)
        return {"text/html": html, "text/plain": console.export_text(styles=False)}

    def _parts(self) -> list[RenderableType]:
        checks = wording.all_checks(self.document)
        shown, left = wording.first_findings(self.document, MAX_PANELS)
        parts: list[RenderableType] = [self._headline(checks)]
        parts += [check_report.check_panel(check, commands=False) for check in shown]
        if left:
            parts.append(Text(wording.remaining_text(left), "dim"))
        if shown and not wording.broken_file(shown[0]):
            name = shown[0]["function"]
            parts.append(Text(f"Stuck? hint({name.partition('.')[2]}), or in a terminal: headway hint {name}", "dim"))
        parts += [Text(f"◌ {line}", STATUS_STYLES["blocked"][1]) for line in wording.waiting_lines(checks)]
        errors = self.document["internal_errors"]
        parts += [Text(f"{wording.INTERNAL_ERROR}{problem}", "bold red") for problem in errors]
        parts.append(self._progress_line())
        origins = " · ".join(f"{module}: {origin}" for module, origin in self.origins.items())
        return parts + [Text(line, "dim") for line in (origins and f"built on {origins}", self.note) if line]

    def _headline(self, checks: Sequence[Document]) -> Text:
        name = Text(wording.subject(checks), "bold")
        counts = check_report.status_counts(wording.check_counts(checks))
        return Text("   ").join([name, *counts, Text(f"{wording.total_points_text(self.document)} points")])

    def _progress_line(self) -> Text:
        """Return one mark for each function of the assignments, and how many pass."""
        modules = dict.fromkeys(name.partition(".")[0] for name in self.progress)
        statuses = list(self.progress.values())
        marks = [STATUS_STYLES[status] if status else ("·", "dim") for status in statuses]
        count = f" {statuses.count('passed')} of {len(statuses)} functions pass"
        return Text.assemble((", ".join(modules) + " ", "dim"), *marks, (count, "dim"))
