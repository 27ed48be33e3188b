"""The check report in the terminal: a result document rendered with rich.

Student text is passed as `Text`, never as markup, so that `x[b, t]` is printed as it is.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

from autograder.core.text import counted
from autograder.documents import Document
from autograder.report import error_map, styles

# Mark and colour of each status.
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
    "timeout": "timed out",
    "blocked": "blocked",
    "not_started": "not started",
}
BAR_GLYPHS = {"passed": "█", "failed": "▓", "error": "▓", "timeout": "▓", "blocked": "▒", "not_started": "░"}
FAILED_STATUSES = ("failed", "error", "timeout")
INTERNAL_ERROR = "Internal error (please report it): "
BAR_WIDTH = 20
MAX_PANELS = 5
MAX_TITLE_WIDTH = 72  # columns for the title in the border of a panel of 80 columns
MAX_OUTPUT_LINES = 12


def render(document: Document, console: Console, *, all_panels: bool = False, when_passed: str | None = None) -> None:
    """Print a result document, with all failed checks or the first few; `when_passed` is what to do if none failed."""
    console.print(_overview(document))
    checks = failed_checks(document)
    shown = one_per_finding(checks) if all_panels else first_failures(checks)[:MAX_PANELS]
    for check in shown:
        console.print(check_panel(check))
    if not all_panels and len(checks) > len(shown):
        console.print(Text(f"{remaining_text(len(checks) - len(shown))}; show all of them with --all", "dim"))
    console.print(_summary(document, when_passed, console.width))


def all_checks(document: Document) -> list[Document]:
    """Return every check of a document in course order."""
    return [check for a in document["assignments"] for f in a["functions"] for check in f["checks"]]


def failed_checks(document: Document) -> list[Document]:
    """Return the checks that ran and did not pass, in course order."""
    return [check for check in all_checks(document) if check["status"] in FAILED_STATUSES]


def first_failures(checks: list[Document]) -> list[Document]:
    """Return the first failed check of each function; the others usually have the same cause."""
    return list({check["function"]: check for check in reversed(checks)}.values())[::-1]


def one_per_finding(checks: Iterable[Document]) -> list[Document]:
    """Return the first of the checks of a function that have the same named mistake, and all without one.

    The first stands for all of them; `also` holds the titles of the others.
    """
    found: dict[object, Document] = {}
    for number, check in enumerate(checks):
        mistake = check["mistake"]
        key = (check["function"], mistake.get("id"), mistake["title"]) if mistake else number
        if key in found:
            found[key]["also"].append(check["title"])
        else:
            found[key] = {**check, "also": []}
    return list(found.values())


def remaining_text(count: int) -> str:
    """Return the line that stands for `count` failed checks that are not shown."""
    return f"… and {counted(count, 'more failed check')}"


def status_counts(statuses: Iterable[str]) -> list[Text]:
    """Return a text such as `✗ 2 failed` for each status that occurs."""
    counts = Counter(statuses)
    styled = [(name, *STATUS_STYLES[name]) for name in STATUS_STYLES if counts[name]]
    return [Text(f"{mark} {counts[name]} {STATUS_WORDS[name]}", style) for name, mark, style in styled]


def _overview(document: Document) -> RenderableType:
    seed = "public inputs" if document["public_seed"] else f"seed {document['seed']}"
    title = Text.assemble(("Headway", "bold"), f" · {document['submission']['id']} · {seed}")
    table = styles.grid("right", "left", "left", "right", "fold", gap=1)
    for assignment in document["assignments"]:
        statuses = [check["status"] for function in assignment["functions"] for check in function["checks"]]
        points = Text(points_text(assignment["points"], assignment["functions"]))
        number, name = str(assignment["number"]), Text(assignment["name"])
        table.add_row(number, name, _bar(statuses), points, _status_summary(statuses))
    return Group(Text(), title, Text(), table, Text())


def _bar(statuses: list[str]) -> Text:
    """Return a bar whose parts are proportional to the statuses: passed, failed, blocked, not started."""
    statuses = sorted(statuses, key=list(BAR_GLYPHS).index)
    marks = [statuses[i * len(statuses) // BAR_WIDTH] for i in range(BAR_WIDTH)]
    return Text.assemble(*((BAR_GLYPHS[status], STATUS_STYLES[status][1]) for status in marks))


def _status_summary(statuses: list[str]) -> Text:
    if set(statuses) == {"passed"}:
        return Text("✓ all passed", STATUS_STYLES["passed"][1])
    if set(statuses) == {"not_started"}:
        return Text("· not started", "dim")
    return Text(", ").join(status_counts(status for status in statuses if status != "passed"))


def check_panel(
    check: Document, *, commands: bool = True, with_map: bool = True, link: Callable[[str, int], str] | None = None
) -> Panel:
    """Return the panel of one failed check: what is wrong, for which input, where, and what was printed.

    Args:
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

    row("likely cause", likely_cause(check, separator="\n"))
    row("input", check["inputs"])
    row(*worst_value(check))
    row("map", error_map.render(check["error_map"]) if check["error_map"] and with_map else None)
    row("stages", check["first_wrong_stage"])
    row("help", check["help"])
    row("NumPy warns", "\n".join(check["warnings"][:3]))
    row("in", _location(check["location"], link))
    row("called from", _location((check["location"] or {}).get("called_from"), link))
    row("same mistake in", "\n".join(check.get("also", ())))
    row("printed", _shortened(check["output"]))  # last but one: where there is no room, its end is cut off
    row("next", f"headway hint {check['function']}" if commands else None)
    title = Text.assemble((f" {mark} {check['function']}", f"bold {style}"), " ", overflow="ellipsis")
    check_title = Text(check["title"])
    fits = title.cell_len + check_title.cell_len <= MAX_TITLE_WIDTH
    if fits:
        title.append_text(Text.assemble("· ", check_title, " "))
    return Panel(
        Group(*([] if fits else [check_title]), Text(headline(check), "bold"), grid),
        title=title,
        title_align="left",
        subtitle=Text(f" {points_text(check['points'])} points "),
        subtitle_align="right",
        border_style=style,
    )


def headline(check: Document) -> str:
    """Return the check's message, with the number of wrong values where several were compared."""
    wrong = check["wrong"]
    count = f" ({wrong['count']:,} of {wrong['total']:,} values)" if wrong and wrong["total"] > 1 else ""
    return f"{check['message']}{count}"


def likely_cause(check: Document, separator: str = " ") -> str | None:
    """Return the title of the recognized mistake and how it was recognized; None if there is none."""
    mistake = check["mistake"]
    if not mistake:
        return None
    reason = mistake.get("reason")
    return f"{mistake['title']}{separator}({reason})" if reason else str(mistake["title"])


def worst_value(check: Document) -> tuple[str, str | None]:
    """Return a label and the value that differs most: its index, what was returned and what was expected.

    Values that are compared exactly have no largest error; for them it is the first that differs.
    """
    worst = check["worst"]
    if not worst:
        return "", None
    places = zip(worst["axes"], worst["index"], strict=True)
    index = ", ".join(str(i) if axis.startswith("axis ") else f"{axis} {i}" for axis, i in places)
    index = f"[{index}]" if any(axis.startswith("axis ") for axis in worst["axes"]) else index
    text = f"got {_number(worst['yours'])}, expected {_number(worst['expected'])}"
    text = f"{index}: {text}" if index else text
    if not worst["tolerance"]:
        return "first wrong value" if index else "value", text
    tolerance = re.sub(r"e([-+])0", r"e\1", f"{worst['tolerance']:.2g}")
    return "largest error" if index else "value", f"{text} (tolerance {tolerance})"


def _shortened(output: str) -> str:
    lines = output.strip("\n").split("\n")
    if len(lines) > MAX_OUTPUT_LINES:
        half = MAX_OUTPUT_LINES // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} lines left out …", *lines[-half:]]
    return "\n".join(line[:300] for line in lines)


def _location(where: Document | None, link: Callable[[str, int], str] | None) -> Text | None:
    if not where:
        return None
    text = Text(f"{where['file']}:{where['line']}")
    if link is not None:
        text.stylize(Style(link=link(where["file"], where["line"])))
    return text.append(f"   {where['text']}") if where.get("text") else text


def _number(value: Any) -> str:
    """Return a number with at most ten digits, enough to see where two of them differ."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def points_text(points: dict[str, float], functions: Sequence[Document] = ()) -> str:
    """Return points as `3 / 5`; bonus work adds to the earned points only, but alone it has its own maximum."""
    if not points["possible"] and functions:
        return f"{points['earned']:g} / {sum(f['points']['possible'] for f in functions):g} bonus"
    bonus = " with bonus" if points["earned"] > points["possible"] else ""
    return f"{points['earned']:g} / {points['possible']:g}{bonus}"


def total_points_text(document: Document) -> str:
    """Return the points of everything that was checked."""
    functions = [function for assignment in document["assignments"] for function in assignment["functions"]]
    return points_text(document["points"], functions)


def _summary(document: Document, when_passed: str | None, width: int) -> RenderableType:
    counts = status_counts(check["status"] for check in all_checks(document))
    # The mark of "not started" is also the separator.
    counts = [count[2:] if count.plain.startswith("· ") else count for count in counts]
    total = Text(f"{total_points_text(document)} points", "bold")
    lines = Text(" · ").join([total, *counts, Text(f"{document['seconds']:.1f} s", "dim")])
    for problem in document["internal_errors"]:
        lines.append(f"\n{INTERNAL_ERROR}{problem}", "bold red")
    for line in next_step(document, when_passed).splitlines():
        lines.append("\n" + break_before_command(line, width))
    return Group(Text(), lines)


def break_before_command(line: str, width: int) -> str:
    """Break a line that is too long for the terminal before its command, so that the command can be copied."""
    before, headway, after = line.rpartition(" headway ")
    return f"{before}\n   {headway}{after}" if headway and len(line) > width else line


def next_step(document: Document, when_passed: str | None = None) -> str:
    """Return the one thing to do next: the first function in course order that needs work, else `when_passed`."""
    every = [(a, f) for a in document["assignments"] for f in a["functions"]]
    functions = [(a, f) for a, f in every if not f["bonus"]] or every  # bonus work comes last, unless only it was named
    for assignment, function in functions:
        if function["status"] in ("passed", "blocked"):
            continue
        module, name = assignment["name"], f"{assignment['name']}.{function['name']}"
        if function["status"] == "not_started":
            message = function["checks"][0]["message"]
            if message.startswith(("there is no file ", f"{module}.py defines no function ")):
                return f"Cannot check {name}: {message}. To restore the stub: headway update"
            return (
                f"Next: write {function['name']} in {module}.py, then: headway check {name}\nStuck? headway hint {name}"
            )
        where = next(check for check in function["checks"] if check["status"] != "passed")["location"]
        place = f"{where['file']}:{where['line']}" if where else f"{module}.py"
        return f"Next: fix {function['name']} ({place}), then: headway check {name}"
    blocked = next((check for _, f in functions for check in f["checks"] if check["status"] == "blocked"), None)
    if blocked:
        cause = blocked["blocked_by"][0]
        return f"Next: work on {cause}, which blocks {blocked['function']}: headway check {cause}"
    statuses = [check["status"] for check in all_checks(document)]
    passed = statuses.count("passed")
    verdict = f"All {passed} checks passed" if passed > 1 else "The check passed"
    if passed < len(statuses):
        verdict = f"All required checks passed; bonus checks left: {len(statuses) - passed}"
    return f"{verdict}.\n{when_passed or 'See what is left: headway list --open'}"
