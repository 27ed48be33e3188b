"""The results of a class in the terminal, on one screen."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from autograder.core.text import clean, counted
from autograder.report.check_report import STATUS_STYLES
from autograder.report.class_records import GROUPS, ClassComparison, ClassRecords, SimilarityResult, histogram
from autograder.report.styles import grid
from autograder.report.wording import STATUS_WORDS

MAX_MISTAKES = 12
MAX_FUNCTIONS = 8
MAX_PAIRS = 15
MAX_NAMES = 12
MAX_GROUPS = 12
LOW_SCORE = 0.5  # as a share of the highest possible score
_BLOCKS = " ▁▂▃▄▅▆▇█"


def render(records: ClassRecords, console: Console, comparison: ClassComparison | None = None) -> None:
    """Print scores, changes, common mistakes, hard functions, low scores and slow checks."""
    counts = [f"{len(records.graded)} graded"]
    counts += [f"{len(records.missing)} missing"] if records.missing else []
    counts += [f"{len(records.not_graded)} not graded"] if records.not_graded else []
    console.print(Text.assemble("\n", (records.title, "bold"), " · ", ", ".join(counts), "\n"))
    if records.scored:
        console.print(Text.assemble(("0% ", "dim"), _histogram(records.shares), (" 100%", "dim")))
        console.print(Text(" · ".join(f"{name} {share:.0%}" for name, share in records.key_scores.items()) + "\n"))
    _print_assignments(records, comparison, console)
    _print_groups(records, console)
    mistakes = [(str(len(mistake.students)), mistake.title, mistake.function) for mistake in records.mistakes]
    columns = f"right {STATUS_STYLES['failed'][1]}", "fold", "dim"
    _print_table("Most common mistakes", columns, mistakes, MAX_MISTAKES, console)
    rows = [(str(count), name) for name, count in records.reused_comments.most_common()]
    _print_table("Comments of course.toml", ("right", "fold"), rows, MAX_MISTAKES, console)
    _print_pass_rates(records, console)
    _print_low_scores(records, console)
    _print_times(records, console)


def _histogram(shares: list[float]) -> Text:
    counts = histogram(shares)
    highest = max([*counts, 1])
    # Rounding up keeps a bin with one student visible.
    heights = [-(-count * (len(_BLOCKS) - 1) // highest) for count in counts]
    return Text("".join(_BLOCKS[height] for height in heights), STATUS_STYLES["passed"][1])


def _print_assignments(records: ClassRecords, comparison: ClassComparison | None, console: Console) -> None:
    """Print the scores of each assignment, and the earlier medians if there is a comparison."""
    before = {row.name: row.before for row in comparison.assignments} if comparison else {}
    if len(records.assignments) < 2 and not comparison:
        return
    if comparison:
        about = f"{counted(comparison.students, 'student')} in both, scores changed: {len(comparison.changes)}"
        console.print(Text.assemble((f"Since {comparison.name}", "bold"), (f" {about}", "dim")))
    table = grid("left", "left", "right", "dim")
    for summary in records.assignments:
        if summary.median is None:
            continue
        earlier = before.get(summary.name)
        middle = f"median {summary.median:.0%}" + (f", before {earlier:.0%}" if earlier is not None else "")
        cells = _histogram(summary.shares), Text(middle), Text(f"{len(summary.shares)} graded")
        table.add_row(Text(summary.name), *cells)
    console.print(table)
    console.print()


def _print_groups(records: ClassRecords, console: Console) -> None:
    for title, kind in GROUPS.items():
        rows = []
        for group in records.groups(kind):
            middle = f"{group.median:.0%}" if group.median is not None else "–"
            submitted = f"{group.submitted} of {group.students} submitted"
            rows.append((group.name or "(none)", middle, submitted, group.mistake))
        _print_table(f"Median by {title}", ("fold", "right", "right", "dim fold"), rows, MAX_GROUPS, console)


def _print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], limit: int, console: Console
) -> None:
    """Print a title, the first rows, and how many there are besides; nothing if there are none."""
    if not rows:
        return
    table = grid(*columns)
    for row in rows[:limit]:
        table.add_row(*map(Text, row))
    console.print(Text(title, "bold"))
    console.print(table)
    if len(rows) > limit:
        console.print(Text(f"… and {len(rows) - limit} more on the page", "dim"))
    console.print()


def _print_pass_rates(records: ClassRecords, console: Console) -> None:
    """Print the functions with the lowest pass rates among the students who started them."""
    rows: list[tuple[float, str, Counter[str]]] = []
    for function in records.functions:
        counts = records.status_counts(function)
        started = counts.total() - counts["not_started"]
        if started and counts["passed"] < started:
            rows.append((counts["passed"] / started, function, counts))
    if not rows:
        return
    console.print(Text.assemble(("Lowest pass rates", "bold"), (" among the students who started", "dim")))
    table = grid("right", "left", "dim fold")
    for rate, function, counts in sorted(rows, key=lambda row: row[0])[:MAX_FUNCTIONS]:
        words = [f"{mark} {counts[status]}" for status, (mark, _) in STATUS_STYLES.items() if counts[status]]
        table.add_row(Text(f"{rate:.0%}"), Text(function), Text("  ".join(words)))
    console.print(table)
    seen = {status for _, _, counts in rows for status, count in counts.items() if count}
    legend = [f"{mark} {STATUS_WORDS[status]}" for status, (mark, _) in STATUS_STYLES.items() if status in seen]
    console.print(Text("  ".join(legend) + "\n", "dim"))


def _print_low_scores(records: ClassRecords, console: Console) -> None:
    """Print who may need help: low scores, lowest first, and students without a submission."""
    by_share = sorted(records.scored, key=lambda student: student.share)
    groups = {
        f"Below {LOW_SCORE:.0%}": [f"{low.name} {low.share:.0%}" for low in by_share if low.share < LOW_SCORE],
        "No submission": [student.name for student in records.missing],
    }
    for title, names in groups.items():
        if names:
            more = f" … and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
            console.print(Text.assemble((f"{title}: ", "bold"), ", ".join(names[:MAX_NAMES]) + more))
    if any(groups.values()):
        console.print()


def _print_times(records: ClassRecords, console: Console) -> None:
    parts = [f"{counted(records.timed_out, 'check')} timed out"] if records.timed_out else []
    if records.slowest:
        seconds, number, function, _ = records.slowest[0]
        parts.insert(0, f"slowest check {seconds:.2f} s ({function}, {records.students[number].name})")
    if parts:
        console.print(Text(" · ".join(parts) + "\n"))


def render_similarity(result: SimilarityResult, console: Console) -> None:
    """Print the pairs of similar submissions, and the submissions that were not compared in full."""
    if not result.pairs:
        console.print(Text("No two submissions are suspiciously similar.\n"))
    title = "Suspiciously similar submissions: look at them yourself; this is not a verdict"
    pairs = [(f"{pair.share:.0%}", f"{pair.first} · {pair.second}", pair.modules) for pair in result.pairs]
    _print_table(title, ("right", "fold", "dim fold"), pairs, MAX_PAIRS, console)
    title = "Not compared in full, because they could not be read"
    unread = [(clean(name, 120), clean(reason, 400)) for name, reason in result.unread]
    _print_table(title, ("fold", "dim fold"), unread, MAX_PAIRS, console)
