"""The findings of a result document: what failed, each named mistake and each cause once, at the document's level."""

from typing import Any

from autograder.core.text import clean
from autograder.documents.reading import Document
from autograder.report import wording
from autograder.report.value_words import MAP_GLYPHS, map_legend, threshold_note, worst_value_text
from autograder.report.wording import LABELS


def findings_by_assignment(result: Document) -> dict[str, list[dict[str, Any]]]:
    """Return the findings of each assignment, by its name: first the files that cannot be read, then its functions.

    A finding is a check document with more keys: `also` holds the titles of other checks with the same result,
    `affected` the functions that a broken file stops, and `waiting` the titles of checks that count as soon as the
    function passes another one. Its points are those of all these checks.
    """
    broken = wording.one_per_finding(check for check in wording.failed_checks(result) if wording.broken_file(check))
    found: dict[str, list[dict[str, Any]]] = {}
    for assignment in result["assignments"]:
        name = assignment["name"]
        found[name] = [finding for finding in broken if finding["function"].partition(".")[0] == name]
        for function in assignment["functions"]:
            found[name] += _with_waiting(reported_checks(function))
    return found


def _with_waiting(reported: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the findings of a function; those that only wait for another check of it become part of the last one."""
    found: list[dict[str, Any]] = []
    for finding in reported:
        if found and finding["status"] == "blocked" and set(finding["blocked_by"]) == {finding["function"]}:
            last, points = found[-1], finding["points"]
            last["waiting"] += [finding["title"], *finding["also"]]
            last["points"] = {name: last["points"][name] + points[name] for name in ("earned", "possible")}
        else:
            found.append({**finding, "waiting": []})
    return found


def check_details(check: Document) -> list[tuple[str, str]]:
    """Return the details of a check as pairs of a label and a text of one or more lines."""
    rows = [
        (wording.cause_label(check), wording.likely_cause(check)),
        (LABELS["hint"], check["mistake"] and check["mistake"]["hint"]),
        (LABELS["inputs"], check["inputs"]),
        worst_value_text(check),
        (LABELS["stage"], check["first_wrong_stage"]),
        (LABELS["location"], check["location"] and wording.location_text(check["location"])),
        (LABELS["called_from"], check["called_from"] and wording.location_text(check["called_from"])),
    ]
    # A check that waits for another check of the same function says so in its message.
    if check["blocked_by"] and not (set(check["blocked_by"]) == {check["function"]} and check["message"]):
        rows.append(("blocked by", ", ".join(check["blocked_by"])))
    rows += [(LABELS["warnings"], hint) for hint in check["warnings"]]
    rows.append((LABELS["help"], check["help"]))
    is_hidden = check["status"] != "passed" and not check["message"] and not any(text for _, text in rows)
    rows += [("hidden check", "only its points are shown")] if is_hidden else []
    rows.append((LABELS["affected"], wording.affected_text(check)))
    also = LABELS["also"] if check["mistake"] else "also not passed" if is_hidden else "same result in"
    rows.append((also, "\n".join(check.get("also", ()))))
    rows.append(("waiting for this", "\n".join(check.get("waiting", ()))))
    return [(label, clean(text)) for label, text in rows if text]


def error_map_text(check: Document) -> str:
    """Return the map of wrong elements and its legend as plain characters, as in the terminal without colors."""
    if not check["error_map"]:
        return ""
    rows = ["".join(MAP_GLYPHS[mark] for mark in row) for row in check["error_map"]["rows"]]
    legend = map_legend(check)
    words = "  ".join(f"{entry.glyph} {entry.text}" for entry in legend)
    return "\n".join([*rows, "", *filter(None, [words, threshold_note(legend)])])


def reported_checks(function: Document) -> list[dict[str, Any]]:
    """Return the checks of a function to report: those that did not pass, without those that were not started.

    Checks with the same text are merged, because hidden checks have no text, and so are those with the same named
    mistake. The first of them stands for all, with their points and, in `also`, the titles of the others. Those that
    fail because Python cannot read a file are left out: see `findings_by_assignment`.
    """
    merged: dict[tuple[str, ...], dict[str, Any]] = {}
    for number, check in enumerate(function["checks"]):
        if check["status"] in ("passed", "not_started") or wording.broken_file(check):
            continue
        is_specific = (check["status"] != "error" and check["message"]) or check["output"].strip()
        texts = check["status"], check["message"], str(check["location"]), str(check["help"])
        key: tuple[str, ...] = (*texts, str(number) if is_specific else "")
        if check["mistake"]:  # one finding, however many checks it fails
            key = (check["status"], check["mistake"]["id"], check["mistake"]["title"])
        if key not in merged:
            merged[key] = {**check, "also": []}
        else:
            first = merged[key]
            first["also"].append(check["title"])
            first["points"] = {name: first["points"][name] + check["points"][name] for name in ("earned", "possible")}
    return list(merged.values())
