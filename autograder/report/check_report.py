"""The report in the terminal: the result document rendered with rich.

Student text goes in as `Text`, never as markup, so that `x[b, t]` stays what it is.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from autograder.report import error_map, styles

STATUS_STYLES = {
    "passed": ("✓", styles.GREEN),
    "failed": ("✗", styles.VERMILION),
    "error": ("!", styles.VERMILION),
    "timeout": ("⧖", styles.PINK),
    "blocked": ("◌", styles.ORANGE),
    "not_started": ("·", "dim"),
}
STATUS_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "error": "stopped by an error",
    "timeout": "out of time",
    "blocked": "blocked",
    "not_started": "not started",
}
BAR = 20
MAX_PANELS = 5
HEAD = 72  # columns for a title in the head of a check_panel of 80
MAX_OUTPUT_LINES = 12

Document = dict[str, Any]


def render(document: Document, console: Console, *, all_panels: bool = False, when_passed: str | None = None) -> None:
    """Print the whole report.

    Args:
        document: a `headway.result/1` document.
        all_panels: show every failed check, not only the first few.
        when_passed: what to do when everything that was checked passes.
    """
    console.print(_overview(document))
    checks = [check for check in all_checks(document) if check["status"] in ("failed", "error", "timeout")]
    shown = checks if all_panels else first_failures(checks)[:MAX_PANELS]
    for check in shown:
        console.print(check_panel(check))
    if len(checks) > len(shown):
        console.print(Text(f"… and {more(len(checks) - len(shown))}: --all shows them", "dim"))
    console.print(_summary(document, when_passed, console.width))


def all_checks(document: Document) -> list[dict[str, Any]]:
    """Every check of a document in course order."""
    return [check for a in document["assignments"] for f in a["functions"] for check in f["checks"]]


def first_failures(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first failed check of each function: the others usually have the same cause."""
    return list({check["function"]: check for check in reversed(checks)}.values())[::-1]


def more(count: int) -> str:
    """How many checks are left out."""
    return "1 more check that is not passed" if count == 1 else f"{count} more checks that are not passed"


def _overview(document: Document) -> RenderableType:
    seed = "public inputs" if document["public_seed"] else f"seed {document['seed']}"
    title = Text.assemble(("Headway", "bold"), f" · {document['submission']['id']} · {seed}")
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()  # only this one is folded where the terminal is narrow
    for assignment in document["assignments"]:
        table.add_row(
            str(assignment["number"]),
            Text(assignment["name"]),
            _bar(assignment),
            Text(points_text(assignment["points"], assignment["functions"])),
            _counts(assignment),
        )
    return Group(Text(), title, Text(), table, Text())


def _bar(assignment: dict[str, Any]) -> Text:
    """One mark per part of the checks, in the order passed, wrong, blocked, not started."""
    checks = [check for function in assignment["functions"] for check in function["checks"]]
    order = ("passed", "failed", "error", "timeout", "blocked", "not_started")
    glyphs = {"passed": "█", "failed": "▓", "error": "▓", "timeout": "▓", "blocked": "▒", "not_started": "░"}
    statuses = sorted((check["status"] for check in checks), key=order.index)
    bar = Text()
    for i in range(BAR):
        status = statuses[i * len(statuses) // BAR]
        bar.append(glyphs[status], STATUS_STYLES[status][1])
    return bar


def _counts(assignment: dict[str, Any]) -> Text:
    statuses = [check["status"] for function in assignment["functions"] for check in function["checks"]]
    if set(statuses) == {"passed"}:
        return Text("✓ all passed", STATUS_STYLES["passed"][1])
    if set(statuses) == {"not_started"}:
        return Text("· not started", "dim")
    text = Text()
    for status in ("failed", "error", "timeout", "blocked", "not_started"):
        count = statuses.count(status)
        if count:
            mark, style = STATUS_STYLES[status]
            text.append(f"{', ' if text else ''}{mark} {count} {STATUS_WORDS[status]}", style)
    return text


def check_panel(
    check: dict[str, Any],
    *,
    commands: bool = True,
    with_picture: bool = True,
    link: Callable[[str, int], str] | None = None,
) -> Panel:
    """One failed check: what is wrong, for which inputs, where, and what was printed meanwhile.

    Args:
        commands: say what to type next; a view that has keys for it does not.
        with_picture: show which elements are wrong.
        link: makes an address of a file's name and a line, for terminals that can follow one.
    """
    mark, style = STATUS_STYLES[check["status"]]
    points = check["points"]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1)

    def row(name: str, text: str | Text | None) -> None:
        if text:
            grid.add_row(name, Text(text) if isinstance(text, str) else text)

    if check["mistake"]:
        reason = check["mistake"].get("reason")
        row("looks like", check["mistake"]["title"] + (f"\n({reason})" if reason else ""))
    row("case", check["case"])
    row("wrong", _wrong(check))
    row("worst", _worst(check))
    if check["picture"] and with_picture:
        grid.add_row("picture", error_map.render(check["picture"]))
    row("stages", check["departure"])
    row("help", check["help"])
    row("NumPy says", "\n".join(check["hints"][:3]))
    row("where", _where(check, link))
    row("printed", _printed(check["output"]))  # behind all that is short: where there is no room, its end is cut off
    if commands:
        row("again", f"headway check {check['function']}")
        row("stuck?", f"headway hint {check['function']}")
    title = Text.assemble((f" {mark} {check['function']}", f"bold {style}"), " ", overflow="ellipsis")
    about = Text(check["title"])
    fits = title.cell_len + about.cell_len <= HEAD
    if fits:  # else it would be cut where the check_panel ends
        title.append_text(Text.assemble("· ", about, " "))
    return Panel(
        Group(*([] if fits else [about]), Text(check["message"], "bold"), grid),
        title=title,
        title_align="left",
        subtitle=Text(f" {points_text(points)} points "),
        subtitle_align="right",
        border_style=style,
    )


def _wrong(check: dict[str, Any]) -> str | None:
    wrong = check["wrong"]
    return f"{wrong['count']:,} of {wrong['total']:,} values" if wrong and wrong["total"] > 1 else None


def _worst(check: dict[str, Any]) -> str | None:
    worst = check["worst"]
    if not worst:
        return None
    at = ", ".join(
        str(index) if axis.startswith("axis ") else f"{axis} {index}"
        for axis, index in zip(worst["axes"], worst["index"], strict=True)
    )
    allowed = f" (allowed ±{worst['allowed']:.2g})" if worst["allowed"] else ""
    place = f"[{at}]: " if at else ""
    return f"{place}yours {number_text(worst['yours'])}, expected {number_text(worst['expected'])}{allowed}"


def _printed(output: str) -> str:
    lines = output.strip("\n").split("\n")
    if len(lines) > MAX_OUTPUT_LINES:
        half = MAX_OUTPUT_LINES // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} lines left out …", *lines[-half:]]
    return "\n".join(line[:300] for line in lines)


def _where(check: dict[str, Any], link: Callable[[str, int], str] | None) -> Text | None:
    where = check["where"]
    if not where:
        return None
    text = Text(f"{where['file']}:{where['line']}")
    if link is not None:
        text.stylize(Style(link=link(where["file"], where["line"])))
    return text.append(f"   {where['text']}") if where.get("text") else text


def number_text(value: Any) -> str:
    """A number short enough to compare by eye; two that differ late keep the digits that differ."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def points_text(points: dict[str, float], functions: Sequence[Document] = ()) -> str:
    """`3 / 5`, without needless decimals.

    Args:
        functions: what the points are of. Bonus work counts as earned only; by itself it has its own sum.
    """
    if not points["possible"] and functions:
        return f"{points['earned']:g} / {sum(f['points']['possible'] for f in functions):g} bonus"
    bonus = " with bonus" if points["earned"] > points["possible"] else ""
    return f"{points['earned']:g} / {points['possible']:g}{bonus}"


def sum_text(document: Document) -> str:
    """The points of all that was checked."""
    functions = [function for assignment in document["assignments"] for function in assignment["functions"]]
    return points_text(document["points"], functions)


def _summary(document: Document, when_passed: str | None, width: int) -> RenderableType:
    checks = all_checks(document)
    lines = Text()
    lines.append(f"{sum_text(document)} points", "bold")
    counts = [(status, sum(check["status"] == status for check in checks)) for status in STATUS_STYLES]
    for status, count in counts:
        if count:
            mark, style = STATUS_STYLES[status]
            lines.append(" · ")
            lines.append("" if mark == "·" else f"{mark} ", style)  # beside the dots between the parts it is no mark
            lines.append(f"{count} {STATUS_WORDS[status]}", style)
    lines.append(f" · {document['seconds']:.1f} s", "dim")
    for problem in document["problems"]:
        lines.append(f"\nThe kit itself failed: {problem}", "bold red")
    for line in next_step(document, when_passed).splitlines():
        lines.append("\n" + break_before_command(line, width))
    return Group(Text(), lines)


def break_before_command(line: str, width: int) -> str:
    """A line too long for the terminal breaks before its command, so that one can copy it."""
    before, headway, after = line.rpartition(" headway ")
    return f"{before}\n   {headway}{after}" if headway and len(line) > width else line


def next_step(document: Document, when_passed: str | None = None) -> str:
    """The one thing to do next: the first function of the course that is not passed and not blocked.

    Args:
        when_passed: what comes after all of these.
    """
    every = [(a, f) for a in document["assignments"] for f in a["functions"]]
    functions = [(a, f) for a, f in every if not f["bonus"]] or every  # bonus work can wait, unless it was asked for
    for assignment, function in functions:
        if function["status"] in ("passed", "blocked"):
            continue
        name = f"{assignment['name']}.{function['name']}"
        if function["status"] == "not_started":
            message = function["checks"][0]["message"]
            if message.startswith(("there is no file ", f"{assignment['name']}.py defines no function ")):
                return f"Next: {message}. Its stub comes back with: headway update"
            return (
                f"Next: write {function['name']} in {assignment['name']}.py, then: headway check {name}"
                f"\nStuck? headway hint {name}"
            )
        first = next(check for check in function["checks"] if check["status"] != "passed")
        where = first["where"]
        place = f"{where['file']}, line {where['line']}" if where else f"{assignment['name']}.py"
        return f"Next: mend {function['name']} ({place}), then: headway check {name}"
    blocked = next((f["checks"][0] for _, f in functions if f["status"] == "blocked"), None)
    if blocked:
        needs = next(c["blocked_by"] for c in all_checks(document) if c["status"] == "blocked")
        return f"Next: {needs[0]}, which {blocked['function']} needs: headway check {needs[0]}"
    checks = [check["status"] for check in all_checks(document)]
    right = checks.count("passed")
    told = f"All {right} checks passed" if right > 1 else "The check passed"
    if right < len(checks):
        told = f"All checks passed but for {len(checks) - right} of bonus work"
    return f"{told}.\n{when_passed or 'What is open: headway list --open'}"
