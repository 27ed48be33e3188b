"""A small class that submitted softmax, for tests of `headway grade`."""

import dataclasses
import json
from collections import deque
from pathlib import Path

from autograder.classroom.grading import cache_keys, worker
from autograder.classroom.policy.model import Policy
from autograder.classroom.scoring.class_document import GradedClass
from autograder.classroom.submissions import intake
from autograder.classroom.submissions.intake import SubmittedFile
from autograder.classroom.submissions.model import Source, Student
from autograder.courses.transformer import TRANSFORMER
from autograder.engine import session
from support.commands import SOFTMAX, invoke, timeless
from support.editing import write_files

# Its warnings contain the path of the file, which differs from run to run, and are too many to be reported.
LOUD = """
import warnings
for number in range(300):
    warnings.warn(f"warning {number}", stacklevel=1)
"""
RIGHT, WRONG = SOFTMAX, SOFTMAX.replace("/ temperature", "* temperature")


def make_class(folder, count):
    """Write a class of wrong, right and loud submissions, and return its folder."""
    codes = (WRONG, RIGHT, RIGHT + LOUD)
    return write_files(folder, {f"s{number:02}/softmax.py": codes[number % 3] for number in range(count)})


def grade_arguments(*arguments, seed=("--seed", "0")):
    """Return the arguments of a `headway grade` of softmax."""
    return ["grade", *map(str, arguments), "--assignment", "softmax.softmax", "--no-color", *seed]


def grade(*arguments, seed=("--seed", "0")):
    """Run `headway grade` in this process."""
    return invoke(*grade_arguments(*arguments, seed=seed))


def class_document(out):
    return json.loads((out / "class.json").read_text("utf-8"))


def documents(out):
    """Return all documents of a graded class by file name, without times."""
    results = {path.name: json.loads(path.read_text("utf-8")) for path in (out / "results").glob("*.json")}
    return timeless({**results, "class": class_document(out)})


class InProcessPool:
    """A `WorkerPool` without processes, for tests in which a process is not the point."""

    def __init__(self, setup, size, on_result, next_task):
        self._setup, self._on_result, self._next_task = setup, on_result, next_task

    def run(self, tasks):
        """Grade all tasks in this process, in one session."""

        def grade_tasks(checks):
            todo = deque(tasks)
            while task := self._next_task(todo):
                entry, documents = self.grade_task(task, checks)
                documents.write(self._setup.results, entry.file)
                self._on_result(task, entry)

        session.run_in_session(self._setup.options, grade_tasks)

    def grade_task(self, task, checks):
        """Return the journal entry and the documents of one task."""
        return worker.grade(task, checks, self._setup)


class CachingPool(InProcessPool):
    """Grades each distinct submission once: students make the same few mistakes."""

    graded = {}  # noqa: RUF012 (shared by all runs)

    def grade_task(self, task, checks):
        digest = intake.content_digest(task.read_files()), task.functions
        if digest not in self.graded:
            self.graded[digest] = super().grade_task(task, checks)
        entry, documents = self.graded[digest]
        key = cache_keys.result_key(task.run_key, task.name, entry.digest)
        return dataclasses.replace(entry, file=task.file, key=key), documents


def graded_class(*members):
    """Return a class of these members, which was graded."""
    students = [Student(member.submission, work={"": member} if member.attempts else {}) for member in members]
    return GradedClass([Source("", ("softmax",), Path())], students, Policy(), TRANSFORMER, 1)


def grade_in_session(submissions, scratch, functions):
    """Grade submissions, given as name and content of a file by student, as a grading process does.

    Returns the journal entry and the documents of each.
    """
    setup, found = worker.WorkerSetup(session.Options(functions), scratch), {}

    def grade_all(checks):
        for number, (name, (file, content)) in enumerate(submissions.items()):
            task = worker.GradingTask(number, name, name, f"{name}.json", [SubmittedFile(file, content)])
            found[name] = worker.grade(task, checks, setup)

    session.run_in_session(setup.options, grade_all)
    return found
