"""The check report in the terminal: a result document rendered with rich.

Student text is passed as `Text`, never as markup, so that `x[b, t]` is printed as it is.
"""

from collections.abc import Callable, Iterable, Mapping

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from autograder.documents.reading import Document
from autograder.report import error_map, styles
from autograder.report.console import break_before_command
from autograder.report.value_words import worst_value_text
from autograder.report.wording import (
    INTERNAL_ERROR,
    LABELS,
    MAX_FAILURES,
    MAX_WARNINGS,
    STATUS_MARKS,
    affected_text,
    all_checks,
    broken_file,
    check_counts,
    failed_checks,
    first_failures,
    headline,
    likely_cause,
    location_text,
    next_step,
    one_per_finding,
    panel_title,
    points_text,
    remaining_text,
    shortened,
    total_points_text,
)

# Mark and color of each status.
STATUS_STYLES = {
    status: (STATUS_MARKS[status], color)
    for status, color in {
        "passed": styles.GREEN,
        "failed": styles.VERMILION,
        "error": styles.VERMILION,
        "timeout": styles.PINK,
        "blocked": styles.ORANGE,
        "not_started": "dim",
    }.items()
}
BAR_GLYPHS = {"passed": "█", "failed": "▒", "error": "▒", "timeout": "▒", "blocked": "▓", "not_started": "░"}
BAR_WIDTH = 20
MIN_BAR_WIDTH = 5  # A shorter bar is left out.
SUMMARY_WIDTH = 24  # columns for the statuses of an assignment; longer ones have two lines
WIDTH = 80  # columns of a panel that its title may use, in a wider terminal too
TITLE_MARGIN = 8  # as many of them belong to the border


def render(
    document: Document,
    console: Console,
    *,
    all_panels: bool = False,
    when_passed: str | None = None,
    notebooks: Mapping[str, str] | None = None,
) -> None:
    """Print a result document, with all failed checks or the first few.

    Args:
        when_passed: what to do if none failed.
        notebooks: the path of each assignment that is written in a notebook.
    """
    console.print(_overview(document, console.width))
    findings = one_per_finding(failed_checks(document))
    shown = findings if all_panels else [{**finding, "also": []} for finding in first_failures(findings)[:MAX_FAILURES]]
    for finding in shown:
        console.print(check_panel(finding, width=console.width))
    left = sum(1 + len(finding["also"]) for finding in findings) - len(shown)
    if not all_panels and left:
        console.print(Text(f"{remaining_text(left)}; show all of them with --all", "dim"))
    console.print(_summary(document, next_step(document, when_passed, notebooks), console.width))


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
        points = points_text(assignment["points"], assignment["functions"])
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
    return Text(", ").join(status_counts(entry for entry in check_counts(checks) if entry[0] != "passed"))


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

    row(LABELS["mistake"], likely_cause(check, separator="\n"))
    row(LABELS["inputs"], check["inputs"])
    row(*worst_value_text(check))
    row(LABELS["map"], error_map.render(check) if check["error_map"] and with_map else None)
    row(LABELS["stage"], check["first_wrong_stage"])
    row(LABELS["help"], check["help"])
    row(LABELS["warnings"], "\n".join(check["warnings"][:MAX_WARNINGS]))
    place = "stopped_in" if check["status"] == "timeout" else "location"
    row(LABELS[place], _location(check["location"], link))
    row(LABELS["called_from"], _location(check["called_from"], link))
    row(LABELS["also"], "\n".join(check.get("also", ())))
    row(LABELS["affected"], affected_text(check))
    row(LABELS["output"], shortened(check["output"]))  # last but one: where there is no room, its end is cut off
    row("next", f"headway hint {check['function']}" if commands and not broken_file(check) else None)
    subject, check_title = panel_title(check)
    title = Text.assemble((f" {mark} {subject}", f"bold {style}"), " ", overflow="ellipsis")
    fits = title.cell_len + len(check_title) <= min(width, WIDTH) - TITLE_MARGIN
    if fits and check_title:
        title.append_text(Text.assemble("· ", check_title, " "))
    return Panel(
        Group(*([] if fits else [Text(check_title)]), Text(headline(check), "bold"), grid),
        title=title,
        title_align="left",
        subtitle=Text(f" {points_text(check['points'])} points "),
        subtitle_align="right",
        border_style=style,
    )


def _location(where: Document | None, link: Callable[[str, int], str] | None) -> Text | None:
    if not where:
        return None
    text = Text(location_text(where))
    if link is not None:
        text.stylize(Style(link=link(where["file"], where["line"])))
    return text.append(f"   {where['text']}") if where["text"] else text


def _summary(document: Document, following: str, width: int) -> RenderableType:
    entries = check_counts(all_checks(document))
    # The mark of "not started" is also the separator.
    texts = zip(entries, status_counts(entries), strict=True)
    counts = [text[2:] if status == "not_started" else text for (status, _, _), text in texts]
    total = Text(f"{total_points_text(document)} points", "bold")
    lines = Text(" · ").join([total, *counts, Text(f"{document['seconds']:.1f} s", "dim")])
    for problem in document["internal_errors"]:
        lines.append(f"\n{INTERNAL_ERROR}{problem}", "bold red")
    for line in following.splitlines():
        lines.append("\n" + break_before_command(line, width))
    return Group(Text(), lines)
