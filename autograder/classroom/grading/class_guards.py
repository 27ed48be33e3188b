"""Checks before a class is graded: each refuses a run whose grades would be wrong, or warns of what is not known."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from autograder.classroom.scoring.class_document import GradedClass
from autograder.classroom.storage.result_store import ResultStore
from autograder.classroom.submissions.model import Attempt, Source, Student
from autograder.core.text import clean, counted
from autograder.errors import UsageError

MIN_ROSTER = 5  # in a smaller class, most students may be missing


def require_separate_folders(sources: Iterable[Source], out: Path) -> None:
    """Raise UsageError if the folder of results is in, above or equal to a folder of submissions.

    A later run would take results for a student's submission.
    """
    place = out.resolve()
    for source in sources:
        folder = source.folder.resolve()
        if place == folder or folder in place.parents:
            where = "is" if place == folder else "is inside"
        elif place in folder.parents:
            where = "contains"
        else:
            continue
        raise UsageError(f"--out {out} {where} the folder of submissions {source.folder}. Choose a folder beside it")


def require_same_class(graded_class: GradedClass, new: Collection[str], store: ResultStore) -> None:
    """Raise UsageError if there are results, but none of this class: two classes would overwrite each other's files.

    `new` are the names of the sources of this run.
    """
    in_run = (source for source in graded_class.sources if source.name in new)
    graded = (one.file for source in in_run for one in graded_class.files_of_source(source))
    suffix = re.compile(r"(\+[^+#]*)?(#\d+)?\.json$")  # of a result document: its source and attempt
    stored, expected = ({unquote(suffix.sub("", file)) for file in files} for files in (store.entries, graded))
    # On two platforms, the same students have different names.
    has_both = any(work & set(new) and work - set(new) for work in (s.work.keys() for s in graded_class.students))
    if stored and expected and stored.isdisjoint(expected) and not has_both:
        example = f"{counted(len(stored), 'submission')}, for example {sorted(stored)[0]!r}"
        problem = f"{store.out} contains the results of another class ({example})"
        raise UsageError(f"{problem}. Choose another folder: --out DIR")


def require_most_of_roster(students: Sequence[Student], sources: Iterable[Source], size: int) -> None:
    """Raise UsageError if fewer than half of the roster, the first `size` students, submitted to one of the sources.

    Then the folder, its layout or the roster is probably not what the instructor meant.
    """
    if size < MIN_ROSTER:
        return
    for source in sources:
        works = [student.work[source.name] for student in students[:size] if source.name in student.work]
        found = sum(bool(work.attempts) for work in works)
        if 2 * found >= size:
            continue
        others = [one.work[source.name].submission for one in students[size:] if source.name in one.work]
        expected = f"{source.folder} has submissions of {found} of the {counted(size, 'student')} on the roster"
        if others:
            example = clean(others[0], 60)
            expected += f", and {counted(len(others), 'submission')} of other people, for example {example!r}"
        hint = "Check the folder, --layout and --roster; if this is right, add --partial"
        raise UsageError(f"{expected}. {hint}")


def require_submissions_from_roster(students: Sequence[Student], size: int) -> None:
    """Raise UsageError if there are submissions, but none from the roster: the first `size` students."""
    if any(student.attempts for student in students[:size]):
        return
    others = [student.submission for student in students[size:] if student.attempts]
    if others:
        problem = f"none of the {counted(len(others), 'student')} with submissions is on the roster"
        hint = "Check --roster and its columns; if this is right, add --partial"
        raise UsageError(f"{problem}, for example {clean(others[0], 60)!r}. {hint}")


def warn_of_wrong_folders(graded_class: GradedClass, sources: Iterable[Source]) -> list[str]:
    """Return a warning for each assignment that was named for a folder in which no student has begun it."""
    found = []
    for source in sources:
        graded = [one.entry for one in graded_class.files_of_source(source) if one.entry]
        for name in source.assignments if source.name and graded else ():
            if not any(entry.has_begun(name) for entry in graded):
                example = f"--source {name}=DIR"
                problem = f"{name}: none of the {counted(len(graded), 'submission')} in {source.folder} has begun it"
                found.append(f"{problem}. Is this the right folder? To grade another one: {example}")
    return found


def warn_of_unknown_dates(graded_class: GradedClass) -> list[str]:
    """Return a warning if due dates are not compared with times: these are unknown, or only Moodle's lateness is."""
    due = {name for name, assignment in graded_class.policy.assignments.items() if assignment.due}
    submitted, warnings = list[Sequence[Attempt]](), list[str]()
    for source in graded_class.sources:
        names = ", ".join(name for name in source.assignments if name in due)
        works = [student.work.get(source.name) for student in graded_class.students] if names else []
        attempts = [work.attempts for work in works if work and work.attempts]
        submitted += attempts
        late = [one.late_by for *_, one in attempts if one.late_by is not None and not one.times]
        if late:
            count = f"{sum(map(bool, late))} of {counted(len(late), 'submission')}"
            warnings.append(
                f"{names}: late by Moodle's own due date, as its worksheet says: {count}. The due date in course.toml "
                "is not compared with the time of submission. If it is another one, set it in Moodle and put a new "
                "worksheet into the folder, or give late_days in [[exceptions]]."
            )
    if unknown := sum(any(not one.times and one.late is None for one in attempts) for attempts in submitted):
        warnings.append(
            f"No date is known for {unknown} of {counted(len(submitted), 'submission')}. They count as on time unless "
            "[[exceptions]] gives late_days. Downloads from Gradescope and nbgrader contain dates, and those from "
            "Canvas mark late work. For Moodle, put the grading worksheet (CSV) into the folder of the download."
        )
    return warnings
