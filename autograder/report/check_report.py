"""The check report in the terminal and in notebooks: a result document rendered with rich.

Student text is passed as `Text`, never as markup, so that `x[b, t]` is printed as it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from autograder.documents.reading import Document
from autograder.documents.results import SubmissionResult
from autograder.report import styles, value_words, wording
from autograder.report.console import break_before_command, text_console
from autograder.report.wording import LABELS

STATUS_COLORS = {
    "passed": styles.GREEN,
    "failed": styles.VERMILION,
    "error": styles.VERMILION,
    "timeout": styles.PINK,
    "blocked": styles.ORANGE,
    "not_started": "dim",
}
STATUS_STYLES = {status: (wording.STATUS_MARKS[status], color) for status, color in STATUS_COLORS.items()}
BAR_GLYPHS = {"passed": "█", "failed": "▒", "error": "▒", "timeout": "▒", "blocked": "▓", "not_started": "░"}
# Of the marks of the map of wrong elements.
COLORS = {"0": styles.GREEN, "1": styles.BLUE, "2": styles.ORANGE, "3": styles.VERMILION, "n": f"bold {styles.PINK}"}
MAX_SLICE = 5  # largest number of rows and columns of a slice whose numbers fit beside the map
BAR_WIDTH = 20
MIN_BAR_WIDTH = 5  # A shorter bar is left out.
SUMMARY_WIDTH = 24  # columns for the statuses of an assignment; longer ones have two lines
WIDTH = 80  # columns of a panel that its title may use, in a wider terminal too
TITLE_MARGIN = 8  # as many of them belong to the border
MAX_LISTED = 12  # functions of a submission that do not pass
NOTEBOOK_WIDTH, NOTEBOOK_PANELS = 96, 3
# Text takes the colors of the notebook's theme, light or dark. Wrapped lines would break the panels' borders.
_STYLE = "white-space:pre;overflow-x:auto;line-height:1.16;font-family:Menlo,'DejaVu Sans Mono',Consolas,monospace"
_HTML = f'<pre style="{_STYLE};margin:0;color:inherit;background:none">{{code}}</pre>'


def render(document: Document, console: Console, *, all_panels: bool = False, next_step: str = "") -> None:
    """Print a result document, with all failed checks or the first few, and what to do next."""
    console.print(_overview(document, console.width))
    if all_panels:
        shown, left = wording.one_per_finding(wording.failed_checks(document)), 0
    else:
        shown, left = wording.first_findings(document, wording.MAX_FAILURES)
    for finding in shown:
        console.print(check_panel(finding, width=console.width))
    if left:
        console.print(Text(f"{wording.remaining_text(left)}; show all of them with --all", "dim"))
    console.print(_summary(document, next_step or wording.next_step(document), console.width))


def status_counts(counts: Iterable[tuple[str, int, str]]) -> list[Text]:
    """Return a text such as `✗ 2 failed` for each status, count and word."""
    styled = [(*STATUS_STYLES[status], count, word) for status, count, word in counts]
    return [Text(f"{mark} {count} {word}", style) for mark, style, count, word in styled]


def _overview(document: Document, width: int) -> RenderableType:
    seed = "" if document["public_seed"] else f" · seed {document['seed']}"
    title = Text.assemble(("Headway", "bold"), f" · {document['submission']['id']}{seed}")
    table = styles.grid("right", "left", "left", "right", "fold", gap=1)
    rows = []
    for assignment in document["assignments"]:
        checks = [check for function in assignment["functions"] for check in function["checks"]]
        statuses = [check["status"] for check in checks]
        points = wording.points_text(assignment["points"], assignment["functions"])
        rows.append((str(assignment["number"]), assignment["name"], statuses, points, _status_summary(checks)))
    others = [(len(number), len(name), len(points), len(summary)) for number, name, _, points, summary in rows]
    widest = [max(widths) for widths in zip(*others, strict=True)] or [0]
    widest[-1] = min(widest[-1], SUMMARY_WIDTH)
    bar_width = min(BAR_WIDTH, width - sum(widest) - len(widest))
    for number, name, statuses, points, summary in rows:
        table.add_row(number, Text(name), _bar(statuses, bar_width), Text(points), summary)
    return Group(Text(), title, Text(), table, Text())


def _bar(statuses: list[str], width: int) -> Text:
    """Return a bar whose parts are proportional to the statuses: passed, failed, blocked, not started."""
    if width < MIN_BAR_WIDTH:
        return Text()
    statuses = sorted(statuses, key=list(BAR_GLYPHS).index)
    marks = [statuses[i * len(statuses) // width] for i in range(width)]
    return Text.assemble(*((BAR_GLYPHS[status], STATUS_STYLES[status][1]) for status in marks))


def _status_summary(checks: list[Document]) -> Text:
    statuses = [check["status"] for check in checks]
    if set(statuses) == {"passed"}:
        return Text("✓ all passed", STATUS_STYLES["passed"][1])
    if set(statuses) == {"not_started"}:
        return Text("· not started", "dim")
    return Text(", ").join(status_counts(entry for entry in wording.check_counts(checks) if entry[0] != "passed"))


def check_panel(
    check: Document,
    *,
    width: int = WIDTH,
    commands: bool = True,
    with_map: bool = True,
    link: Callable[[str, int], str] | None = None,
) -> Panel:
    """Return the panel of one failed check: what is wrong, for which input, where, and what was printed.

    Args:
        width: columns that there are; a title that is too long for the border stands below it.
        commands: show the command to type next; a view that has a key for it does not.
        with_map: show which elements are wrong.
        link: return the address of a line, given file name and line, for terminals that can open it.
    """
    mark, style = STATUS_STYLES[check["status"]]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1)

    def row(label: str, content: RenderableType | None) -> None:
        if content:
            grid.add_row(label, Text(content) if isinstance(content, str) else content)

    row(wording.cause_label(check), wording.likely_cause(check, separator="\n"))
    row(LABELS["inputs"], check["inputs"])
    row(*value_words.worst_value_text(check))
    row(LABELS["map"], _error_map(check) if check["error_map"] and with_map else None)
    row(LABELS["stage"], check["first_wrong_stage"])
    row(LABELS["help"], check["help"])
    row(LABELS["warnings"], "\n".join(check["warnings"][: wording.MAX_WARNINGS]))
    place = "stopped_in" if check["status"] == "timeout" else "location"
    row(LABELS[place], _location(check["location"], link))
    row(LABELS["called_from"], _location(check["called_from"], link))
    row(LABELS["also"], "\n".join(check.get("also", ())))
    row(LABELS["affected"], wording.affected_text(check))
    # The last but one: where there is no room, its end is cut off.
    row(LABELS["output"], wording.shortened(check["output"]))
    row("next", f"headway hint {check['function']}" if commands and not wording.broken_file(check) else None)
    subject, check_title = wording.panel_title(check)
    title = Text.assemble((f" {mark} {subject}", f"bold {style}"), " ", overflow="ellipsis")
    fits = title.cell_len + len(check_title) <= min(width, WIDTH) - TITLE_MARGIN
    if fits and check_title:
        title.append_text(Text.assemble("· ", check_title, " "))
    return Panel(
        Group(*([] if fits else [Text(check_title)]), Text(wording.headline(check), "bold"), grid),
        title=title,
        title_align="left",
        subtitle=Text(f" {wording.points_text(check['points'])} points "),
        subtitle_align="right",
        border_style=style,
    )


def _error_map(check: Document) -> RenderableType:
    """Return the map of a check, a legend of the marks in it, and the values of a small slice."""
    picture = check["error_map"]
    down, across = value_words.map_axes(picture)
    grid = Table.grid(padding=(0, 1))
    for i, row in enumerate(picture["rows"]):
        label = f"{down} ↓" if i == 0 and down and len(picture["rows"]) > 1 else ""
        cells = ((value_words.MAP_GLYPHS[mark] * 2, COLORS[mark]) for mark in row)
        grid.add_row(Text(label, "dim"), Text.assemble(*cells))
    legend = value_words.map_legend(check)
    entries = (Text.assemble((entry.glyph, COLORS[entry.mark]), f" {entry.text}") for entry in legend)
    note = [Text(text, "dim")] if (text := value_words.threshold_note(legend)) else []
    where = " · ".join(filter(None, (picture["at"], across and f"{across} →")))
    is_small = "yours" in picture and max(picture["shape"]) <= MAX_SLICE
    slices = [_Slices(picture)] if is_small else []
    return Group(*([Text(where, "dim")] if where else []), grid, Text("  ").join(entries), *note, *slices)


class _Slices:
    """Slices of the two arrays and of their difference side by side; empty in a terminal that is too narrow."""

    def __init__(self, picture: dict[str, Any]) -> None:
        slices = {LABELS["yours"]: picture["yours"]}
        if "expected" in picture:
            slices[LABELS["expected"]] = picture["expected"]
            rows = zip(picture["yours"], picture["expected"], strict=True)
            slices[LABELS["difference"]] = [list(map(value_words.difference, *pair)) for pair in rows]
        self._blocks = [_block(name, values, picture["rows"]) for name, values in slices.items()]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = sum(console.measure(block, options=options).maximum + 3 for block in self._blocks) - 3
        if width <= options.max_width:
            yield Columns(self._blocks, padding=(0, 3))


def _block(name: str, values: list[list[Any]], marks: list[str]) -> RenderableType:
    table = styles.grid(*["right"] * len(values[0]), gap=1)
    for row, row_marks in zip(values, marks, strict=True):
        colors = ["" if mark == "0" else COLORS[mark] for mark in row_marks]
        table.add_row(*(Text(value_words.short_number(value), color) for value, color in zip(row, colors, strict=True)))
    return Group(Text(name, "dim"), table)


def _location(where: Document | None, link: Callable[[str, int], str] | None) -> Text | None:
    if not where:
        return None
    text = Text(wording.location_text(where))
    if link is not None:
        text.stylize(Style(link=link(where["file"], where["line"])))
    return text.append(f"   {where['text']}") if where["text"] else text


def _summary(document: Document, following: str, width: int) -> RenderableType:
    entries = wording.check_counts(wording.all_checks(document))
    # The mark of "not started" is also the separator.
    texts = zip(entries, status_counts(entries), strict=True)
    counts = [text[2:] if status == "not_started" else text for (status, _, _), text in texts]
    total = Text(f"{wording.total_points_text(document)} points", "bold")
    lines = Text(" · ").join([total, *counts, Text(f"{document['seconds']:.1f} s", "dim")])
    for problem in document["internal_errors"]:
        lines.append(f"\n{wording.INTERNAL_ERROR}{problem}", "bold red")
    for line in following.splitlines():
        lines.append("\n" + break_before_command(line, width))
    return Group(Text(), lines)


def render_submission(about: dict[str, Any], result: SubmissionResult, path: Path, console: Console) -> None:
    """Print what the archive holds, which functions do not pass, and what to do with it."""
    open_functions = {name: status for name, status in about["functions"].items() if status != "passed"}
    head = f"{path}: {len(about['files'])} files, {result.earned:g} points, packed by Headway {about['kit']}"
    console.print(Text(head, "bold"), soft_wrap=True)
    for note in result.notes:
        console.print(Text(note, "dim"))
    if open_functions:
        console.print(Text(f"{len(open_functions)} of {len(about['functions'])} functions do not pass:"))
    else:
        console.print(Text("Everything passes.", STATUS_STYLES["passed"][1]))
    for name, status in list(open_functions.items())[:MAX_LISTED]:
        mark, style = STATUS_STYLES[status]
        console.print(Text.assemble(f"  {name}  ", (f"{mark} {wording.STATUS_WORDS[status]}", style)))
    if len(open_functions) > MAX_LISTED:
        console.print(Text(f"  … and {len(open_functions) - MAX_LISTED} more: headway list --open", "dim"))
    for name in about["gave_up"]:
        console.print(Text(f"  {name}: you saw the solution before your code passed; the archive records this"))
    console.print(Text(f"Submit {path} as it is; do not unpack it."), soft_wrap=True)


@dataclass(frozen=True)
class NotebookReport:
    """The result of a check, as notebooks display it: the panels of the terminal as HTML, or as plain text."""

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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        console = text_console(NOTEBOOK_WIDTH, False, record=True, force_jupyter=False, color_system="truecolor")
        console.print(Group(*self._parts()))
        html = console.export_html(inline_styles=True, code_format=_HTML, clear=False)
        return {"text/html": html, "text/plain": console.export_text(styles=False)}

    def _parts(self) -> list[RenderableType]:
        checks = wording.all_checks(self.document)
        shown, left = wording.first_findings(self.document, NOTEBOOK_PANELS)
        parts: list[RenderableType] = [self._headline(checks)]
        parts += [check_panel(check, commands=False) for check in shown]
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
        counts = status_counts(wording.check_counts(checks))
        return Text("   ").join([name, *counts, Text(f"{wording.total_points_text(self.document)} points")])

    def _progress_line(self) -> Text:
        """Return one mark for each function of the assignments, and how many pass."""
        modules = dict.fromkeys(name.partition(".")[0] for name in self.progress)
        statuses = list(self.progress.values())
        marks = [STATUS_STYLES[status] if status else ("·", "dim") for status in statuses]
        count = f" {statuses.count('passed')} of {len(statuses)} functions pass"
        return Text.assemble((", ".join(modules) + " ", "dim"), *marks, (count, "dim"))
