"""The words of the check report, which the terminal, notebooks, feedback and the page share; nothing here renders.

It imports neither rich nor anything else that a browser would have to load for it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from autograder.core.text import counted
from autograder.documents.reading import Document

STATUS_MARKS = {"passed": "✓", "failed": "✗", "error": "!", "timeout": "∞", "blocked": "◌", "not_started": "·"}
STATUS_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "error": "stopped by an error",
    "timeout": "timed out",
    "blocked": "blocked",
    "not_started": "not started",
}
FAILED_STATUSES = ("failed", "error", "timeout")
LABELS = {
    "mistake": "likely cause",
    "effect": "what is wrong",
    "hint": "think about",
    "inputs": "input",
    "yours": "got",
    "expected": "expected",
    "difference": "difference",
    "tolerance": "tolerance",
    "map": "map",
    "numbers": "numbers",
    "shapes": "shape",
    "stage": "stages",
    "help": "help",
    "warnings": "NumPy warns",
    "location": "in",
    "stopped_in": "stopped in",
    "called_from": "called from",
    "also": "same mistake in",
    "affected": "affects",
    "output": "printed",
}
INTERNAL_ERROR = "Internal error (please report it): "
MAX_FAILURES = 5  # failed checks shown in full
MAX_AFFECTED = 6  # names of functions that a broken file keeps from running
MAX_OUTPUT_LINES = 12
MAX_WARNINGS = 3


def all_checks(document: Document) -> list[Document]:
    """Return every check of a document in course order."""
    return [check for a in document["assignments"] for f in a["functions"] for check in f["checks"]]


def failed_checks(document: Document) -> list[Document]:
    """Return the checks that ran and did not pass: functions in course order, the most telling check of each first.

    Those of bonus functions that a broken file stops have no possible points, as in the total of the file's assignment.
    """
    failed = (check for check in all_checks(document) if check["status"] in FAILED_STATUSES)
    groups = groupby(failed, lambda check: check["function"])
    bonus = {f["checks"][0]["function"] for a in document["assignments"] for f in a["functions"] if f["bonus"]}
    return [
        {**check, "points": {**check["points"], "possible": 0.0}}
        if check["function"] in bonus and broken_file(check)
        else check
        for _, checks in groups
        for check in most_telling_first(checks)
    ]


def most_telling_first(checks: Iterable[Document]) -> list[Document]:
    """Return a function's failed checks with those first that say most: wrong values, a mistake that explains the most.

    Checks of documented errors come last: most students write what the function returns first. Otherwise the order is
    the course's, from ordinary inputs to edge cases and dtypes.
    """
    checks = list(checks)
    mistakes = Counter(check["mistake"]["id"] for check in checks if check["mistake"])
    most = max((count for mistake, count in mistakes.items() if 2 * count >= len(checks)), default=0)

    def relevance(check: Document) -> tuple[bool, bool, bool]:
        if check["status"] == "timeout":
            return False, False, True
        # A changed input, for example, matters less than values that are wrong.
        has_right_values = check["status"] == "failed" and not check["wrong"] and not check["shapes"]
        explains_most = bool(most and check["mistake"] and mistakes[check["mistake"]["id"]] == most)
        return check["failure"] == "documented_error", has_right_values, not explains_most

    return sorted(checks, key=relevance)


def broken_file(check: Document) -> str:
    """Return the file that Python cannot read or import if that is why the check failed, else an empty text."""
    return str(check["file_at_fault"]) if check["status"] in ("error", "timeout") else ""


def first_failures(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first finding of each function; the others usually have the same cause."""
    first: dict[str, dict[str, Any]] = {}
    for finding in findings:
        first.setdefault(broken_file(finding) or finding["function"], finding)
    return list(first.values())


def first_findings(document: Document, most: int) -> tuple[list[dict[str, Any]], int]:
    """Return the first finding of each function, at most `most`, and how many failed checks are left."""
    findings = one_per_finding(failed_checks(document))
    shown = [{**finding, "also": []} for finding in first_failures(findings)[:most]]
    return shown, sum(1 + len(finding["also"]) for finding in findings) - len(shown)


def one_per_finding(checks: Iterable[Document]) -> list[dict[str, Any]]:
    """Return the first of the checks with the same finding, with the points of all of them.

    A finding is a file that Python cannot read or import, a named mistake in a function, or else a check. `also` holds
    the titles of the other checks with the same mistake; `affected` the functions that a broken file stops.
    """
    found: dict[object, dict[str, Any]] = {}
    for number, check in enumerate(checks):
        mistake, file = check["mistake"], broken_file(check)
        key = file or ((check["function"], mistake["id"], mistake["title"]) if mistake else number)
        if key not in found:
            found[key] = {**check, "also": [], "affected": [check["function"]] if file else []}
            continue
        first = found[key]
        if file:
            first["affected"] += [check["function"]] if check["function"] not in first["affected"] else []
            first["points"] = {name: first["points"][name] + check["points"][name] for name in ("earned", "possible")}
        else:
            first["also"].append(check["title"])
    return list(found.values())


def panel_title(finding: Document) -> tuple[str, str]:
    """Return what a finding is about, a file or a function, and the title of its check; that of a file is empty."""
    file = broken_file(finding)
    return (file, "") if file else (finding["function"], finding["title"])


def affected_text(finding: Document) -> str:
    """Return the functions that a broken file keeps from running; of many, the number."""
    names = finding.get("affected", ())
    modules = {name.partition(".")[0] for name in names}
    if len(names) > MAX_AFFECTED:
        where = modules.pop() + ".py" if len(modules) == 1 else counted(len(modules), "file")
        return f"{counted(len(names), 'function')} of {where}"
    return ", ".join(name.partition(".")[2] if len(modules) == 1 else name for name in names)


def subject(checks: Iterable[Document]) -> str:
    """Return what was checked: the name of the function, or how many functions."""
    names = {check["function"] for check in checks}
    return names.pop() if len(names) == 1 else counted(len(names), "function")


def status_counts(statuses: Iterable[str]) -> list[tuple[str, int, str]]:
    """Return a status, its count and its word for each status that occurs."""
    counts = Counter(statuses)
    return [(name, counts[name], word) for name, word in STATUS_WORDS.items() if counts[name]]


def check_counts(checks: Iterable[Document]) -> list[tuple[str, int, str]]:
    """Return the same for checks; a file that Python cannot read or import counts once, however many checks it fails.

    >>> error = {"function": "m.f", "status": "error", "file_at_fault": "m.py"}
    >>> check_counts([error, error])
    [('error', 1, 'file with an error')]
    """
    checks = list(checks)
    counts = status_counts(check["status"] for check in checks if not broken_file(check))
    if files := {broken_file(check) for check in checks} - {""}:
        counts.append(("error", len(files), "file with an error" if len(files) == 1 else "files with errors"))
    return counts


def remaining_text(count: int) -> str:
    """Return the line that stands for `count` failed checks that are not shown."""
    return f"… and {counted(count, 'more failed check')}"


def headline(check: Document) -> str:
    """Return the check's message, with the number of wrong values where several were compared."""
    wrong = check["wrong"]
    count = f" ({wrong['count']:,} of {wrong['total']:,} values)" if wrong and wrong["total"] > 1 else ""
    return f"{check['message']}{count}"


def cause(check: Document) -> str | None:
    """Return the title of the recognized mistake; None if there is none.

    That a documented error is missing, or is another one, is no cause: it is what the message says.
    """
    mistake = check["mistake"]
    is_in_message = mistake and mistake["id"].endswith(("/effect-error-not-raised", "/effect-other-error"))
    return str(mistake["title"]) if mistake and not is_in_message else None


def cause_label(check: Document) -> str:
    """Return what to call the title of the recognized mistake: that an answer is a third of the right one is no cause.

    >>> cause_label({"mistake": {"id": "bigram.bigram_loss/effect-factor"}})
    'what is wrong'
    """
    return LABELS["effect" if check["mistake"] and "/effect-" in check["mistake"]["id"] else "mistake"]


def likely_cause(check: Document, separator: str = " ") -> str | None:
    """Return the title of the recognized mistake and how it was recognized; None if there is none."""
    title = cause(check)
    reason = check["mistake"]["reason"] if title else None
    return f"{title}{separator}({reason})" if reason else title


def shortened(output: str, limit: int = MAX_OUTPUT_LINES) -> str:
    """Return the first and the last lines of an output, `limit` in all, of at most 300 characters each."""
    lines = output.strip("\n").split("\n")
    if len(lines) > limit:
        half = limit // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} lines left out …", *lines[-half:]]
    return "\n".join(line[:300] for line in lines)


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


def waiting_lines(checks: Iterable[Document]) -> list[str]:
    """Return one line for each function that is blocked or not started, with what all of its blocked checks say."""
    waiting: dict[str, list[Document]] = {}
    for check in checks:
        if check["status"] in ("blocked", "not_started"):
            waiting.setdefault(check["function"], []).append(check)
    return [_waiting_line(function, found) for function, found in waiting.items()]


def _waiting_line(function: str, checks: Sequence[Document]) -> str:
    messages = {check["message"] for check in checks}
    if all(check["status"] == "not_started" for check in checks):
        if checks[0]["failure"] == "missing":
            return cannot_check(checks[0])
        return f"{function.partition('.')[2]} is not written yet: it still raises NotImplementedError"
    if len(messages) == 1:
        return f"{function}: {messages.pop()}"
    causes = dict.fromkeys(name for check in checks for name in check["blocked_by"])
    return f"{function}: {counted(len(checks), 'check')} blocked by {', '.join(causes)}"


def cannot_check(check: Document) -> str:
    """Return that a check was not started because its file or its function does not exist."""
    return f"Cannot check {check['function']}: {check['message']}"


def passed_text(document: Document) -> str | None:
    """Return that everything passed, or everything but bonus work; None if anything else is left."""
    statuses = [check["status"] for check in all_checks(document)]
    passed = statuses.count("passed")
    if passed == len(statuses):
        return f"All {passed} checks passed" if passed > 1 else "The check passed"
    if all(function["status"] == "passed" for function in required_functions(document)):
        return f"All required checks passed; bonus checks left: {len(statuses) - passed}"
    return None


def verdict(document: Document) -> str:
    """Return the result of all checks in a few words."""
    checks = all_checks(document)
    if not checks:
        return "Nothing was checked"
    if passed := passed_text(document):
        return passed
    statuses = [check["status"] for check in checks]
    failed = sum(check["status"] in FAILED_STATUSES and not broken_file(check) for check in checks)
    if files := {broken_file(check): check for check in reversed(checks) if broken_file(check)}:
        reasons = [_file_verdict(check) for check in reversed(files.values())]
        return "; ".join([*reasons, *([f"{counted(failed, 'other check')} failed"] if failed else [])])
    if failed:
        return f"{failed} of {counted(len(checks), 'check')} failed" if len(checks) > 1 else "The check failed"
    if blocked := statuses.count("blocked"):
        return f"{blocked} of {counted(len(checks), 'check')} blocked" if len(checks) > 1 else "The check is blocked"
    return "Not written yet" if "passed" not in statuses else "Not finished yet"


def _file_verdict(check: Document) -> str:
    file = check["file_at_fault"]
    if check["failure"] == "slow_import":
        return f"Importing {file} takes too long"
    return f"Python cannot {'read' if check['failure'] == 'unreadable_file' else 'import'} {file}"


def required_functions(document: Document) -> list[Document]:
    """Return the functions without bonus work, unless only bonus work was checked."""
    every = [function for assignment in document["assignments"] for function in assignment["functions"]]
    return [function for function in every if not function["bonus"]] or every


def location_text(where: Document) -> str:
    """Return a location as `softmax.py:41` or, in a notebook, as `softmax.ipynb cell 5, line 3`."""
    between = ":" if where["file"].endswith(".py") else ", line "
    return f"{where['file']}{between}{where['line']}"


def next_function(document: Document) -> str | None:
    """Return the first function in course order that needs work, or what blocks the first; None if nothing is left."""
    functions = required_functions(document)
    for function in functions:
        if function["status"] not in ("passed", "blocked"):
            return str(function["checks"][0]["function"])
    blocked = (check for function in functions for check in function["checks"] if check["status"] == "blocked")
    return next((str(check["blocked_by"][0]) for check in blocked), None)


def next_step(document: Document, when_passed: str | None = None, notebooks: Mapping[str, str] | None = None) -> str:
    """Return the one thing to do next, which is about `next_function`, else `when_passed`.

    `notebooks` has the path of each assignment that is written in a notebook.
    """
    if (name := next_function(document)) is None:
        return f"{passed_text(document)}.\n{when_passed or 'See what is left: headway list --open'}"
    module, _, function = name.partition(".")
    checks = [check for f in required_functions(document) for check in f["checks"]]
    unfinished = (check for check in checks if check["status"] not in ("passed", "blocked"))
    check = next((check for check in unfinished if check["function"] == name), None)
    if check is None:
        blocked = next(check for check in checks if check["status"] == "blocked")
        return f"Next: work on {name}, which blocks {blocked['function']}: headway check {name}"
    if check["failure"] == "missing":
        return f"{cannot_check(check)}. To restore the stub: headway update"
    file, where = (notebooks or {}).get(module, f"{module}.py"), check["location"]
    if check["status"] == "not_started":
        return f"Next: write {function} in {file}, then: headway check {name}\nStuck? headway hint {name}"
    if broken := broken_file(check):
        line = f", line {where['line']}" if where else ""
        return f"Next: fix {broken}{line}, then: headway check {broken.removesuffix('.py')}"
    return f"Next: fix {function} ({location_text(where) if where else file}), then: headway check {name}"


CAUSES = {  # of changed grades, see autograder/classroom/comments/grade_history.py
    "run": "graded", "submission": "submitted again", "lateness": "changed lateness", "policy": "changed policy",
    "comment": "comment",
}  # fmt: skip


def comment_place(comment: Document) -> str:
    """Return the line that a comment is about, such as "softmax.py:12", or its assignment."""
    place = comment["location"]
    return f"{place['file']}:{place['line']}" if place else str(comment["assignment"])
