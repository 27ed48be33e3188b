"""Read what `headway grade` wrote: `class.json`, and one result document after the other.

Reports and exports read this and nothing else. A class has thousands of documents of some hundred kilobytes, so they
are passed on one by one and never held together.
"""

import fnmatch
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.classroom.file_names import readable_names
from autograder.errors import UsageError
from autograder.results import SCHEMA as RESULT_SCHEMA

SCHEMA = "headway.class/1"
Document = dict[str, Any]


@dataclass(frozen=True)
class Gradebook:
    """One graded class.

    Attributes:
        out: the folder that `headway grade --out` wrote.
        document: the `headway.class/1` document.
    """

    out: Path
    document: Document

    @property
    def students(self) -> list[Document]:
        """Every student of the class, those who handed in nothing too, in the order of the class document."""
        found: list[Document] = self.document["students"]
        return found

    @property
    def assignments(self) -> list[Document]:
        """What counts: name, possible points, weight and due date, in course order."""
        found: list[Document] = self.document["assignments"]
        return found

    @property
    def weights(self) -> dict[str, float]:
        """What each assignment counts, by its name."""
        return {one["name"]: one["weight"] for one in self.assignments}

    @property
    def title(self) -> str:
        """The course's title, or the folder's name."""
        return str((self.document.get("course") or {}).get("title") or self.out.resolve().name)

    def results(self) -> Iterator[tuple[Document, Document | None]]:
        """Each student with the result document, or with None where there is none that can be read."""
        for student in self.students:
            yield student, self.result_of(student)

    def result_of(self, student: Document) -> Document | None:
        """One student's result document, or None where there is none that can be read."""
        if not student.get("file"):
            return None
        # Only the name counts: whatever the class document says, nothing outside the results is read.
        return _result(self.out / "results" / Path(student["file"]).name)

    def file_names(self) -> dict[str, str]:
        """By submission the name, without ending, of the files that it is handed; the same whichever attempt counts."""
        return readable_names(student["submission"] for student in self.students)

    def is_hidden(self, check: str) -> bool:
        """Whether the policy hides what a check, by its id, found out."""
        policy = self.document["course"].get("policy") or {}
        patterns = (policy.get("checks") or {}).get("hidden") or ()
        return any(fnmatch.fnmatchcase(check, pattern) for pattern in patterns)

    def counted(self) -> int:
        """Students whose work was graded."""
        return sum(student["status"] == "graded" for student in self.students)


def read(out: Path) -> Gradebook:
    """The graded class in the folder `out`.

    Raises:
        UsageError: if there is none, or it is not what this version of the kit can read.
    """
    path = out / "class.json"
    if not out.is_dir():
        raise UsageError(f"there is no folder {out}. Grade a class first: headway grade DIR --out {out}")
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{out} holds no class.json. Grade the class first: headway grade DIR --out {out}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}). Look at its permissions: ls -l {path}") from None
    except ValueError as error:
        raise UsageError(f"{path} is damaged ({error}). Write it again: headway grade DIR --out {out}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise UsageError(
            f"{path} has the schema {schema!r}, and this version of Headway reads {SCHEMA!r}. "
            f"Write it again: headway grade DIR --out {out}"
        )
    return Gradebook(out, document)


def _result(path: Path) -> Document | None:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("schema") == RESULT_SCHEMA else None


def display_name(student: Document) -> str:
    """What a person is called: the name, else the id, else what the submission is called."""
    return str(student.get("name") or student.get("id") or student["submission"])


def iter_functions(result: Document) -> Iterator[tuple[str, Document]]:
    """Every function of a result document with its qualified name."""
    for assignment in result["assignments"]:
        for function in assignment["functions"]:
            yield f"{assignment['name']}.{function['name']}", function
