"""Find what a person should decide or look at before the grades of a student count."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping

from autograder.classroom.storage.result_store import JournalEntry
from autograder.core.text import clean
from autograder.documents.types import GradeRecord, OpenQuestion, QuestionKind


def open_questions(
    notes: Iterable[str],
    grades: Mapping[str, GradeRecord],
    entries: Mapping[str, JournalEntry],
    settled: Collection[str] = (),
    chosen: Mapping[str, str] | None = None,
    requests: Iterable[tuple[str, str, str]] = (),
) -> list[OpenQuestion]:
    """Return the open questions about one student.

    Args:
        notes: what is unclear about who the student is.
        entries: what is stored of the attempt that counts, by assignment that has a result.
        settled: the ids of questions that a person has decided; they change with the files.
        chosen: the files that a person chose, by assignment; a later run grades them.
        requests: what the student asks: the assignment, the question, and an id.
    """
    about_student = (question("identity", reason=note) for note in notes)
    questions = [*about_student, *_about_grades(grades, entries, chosen or {}), *_about_files(grades, entries)]
    questions += [question("request", name, (), asks, id) for name, asks, id in requests]
    return [one for one in questions if one["id"] not in settled]


def _about_grades(
    grades: Mapping[str, GradeRecord], entries: Mapping[str, JournalEntry], chosen: Mapping[str, str]
) -> Iterator[OpenQuestion]:
    asked = {name: grade for name, grade in grades.items() if not (grade["excused"] or grade["by_hand"])}
    unreadable: dict[str, list[str]] = {}  # assignments by the reason, which is one for the whole submission
    for name, grade in asked.items():
        if grade["status"] == "unreadable":
            unreadable.setdefault(grade["reason"], []).append(name)
    for reason, names in unreadable.items():
        yield question("unreadable", names[0] if len(names) == 1 else "", reason=reason)
    for name, grade in asked.items():
        if grade["status"] in ("waiting", "failed"):
            yield question("no_result", name, reason=grade["reason"])
        elif (entry := entries.get(name)) and (files := entry.rivals.get(name)) and chosen.get(name) != files[0]:
            if chosen.get(name) in files:
                yield question("chosen", name, [chosen[name], files[0]])
            else:
                yield question("versions", name, files, ", ".join(entry.differing.get(name, ())), entry.digest)
        elif entry and set(entry.checks.get(name, ())) == {"error"}:
            reason = f"every check of {entry.files.get(name, name)} ends in an error"
            yield question("unreadable", name, (), reason, entry.digest)


def _about_files(grades: Mapping[str, GradeRecord], entries: Mapping[str, JournalEntry]) -> Iterator[OpenQuestion]:
    """Yield questions about submissions in which nothing is written, and about work for another assignment."""
    names_by_entry: dict[str, list[str]] = {}
    for name, entry in entries.items():
        if entry.status == "graded" and grades[name]["status"] == "graded":
            names_by_entry.setdefault(entry.file, []).append(name)
    for names in names_by_entry.values():
        entry, only = entries[names[0]], names[0] if len(names) == 1 else ""
        if entry.unreadable:
            reason = f"not read: {', '.join(entry.unreadable)}"
            yield question("unreadable", only, entry.unreadable, reason, entry.digest)
        others = {name: file for name, file in entry.files.items() if name not in names}
        if not any(entry.has_begun(name) or grades[name]["by_hand"] for name in names):
            own = ", ".join(dict.fromkeys(file for name, file in entry.files.items() if name in names))
            yield question("nothing_written", only, list(others.values()), own, entry.digest)
            continue
        for name, file in others.items():
            if name in grades and grades[name]["status"] == "missing":
                yield question("elsewhere", name, [file], digest=entry.digest)


def question(
    kind: QuestionKind, assignment: str = "", files: Iterable[str] = (), reason: str = "", digest: str = ""
) -> OpenQuestion:
    """Return a question; its id changes with the `digest` of the submitted files, so that a decision is about them."""
    names, reason = list(files), clean(reason, 400)
    about = repr((kind, assignment, names, reason, digest))
    key = hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()[:8]
    return {"id": key, "kind": kind, "assignment": assignment, "files": names, "reason": reason}
