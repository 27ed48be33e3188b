"""Read what `headway grade` wrote: `class.json` and the result documents, too large to be in memory together."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, cast

import msgspec

from autograder.classroom.policy.model import Policy
from autograder.classroom.storage.result_store import CODE, RESULTS
from autograder.core.csv_table import CsvTable
from autograder.core.files import report_read_error
from autograder.documents.reading import CLASS_SCHEMA, CODE_SCHEMA, RESULT_SCHEMA, Document, SchemaError, read_document
from autograder.documents.results import hidden_document, most_urgent
from autograder.errors import UsageError

MAX_NAME_BYTES = 120  # file systems take at most 255, with the suffix
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # device names on Windows


@dataclass(frozen=True)
class Gradebook:
    """One graded class."""

    out: Path  # the folder that `headway grade --out` wrote
    document: Document  # of the schema `headway.class/1`

    @property
    def students(self) -> list[Document]:
        """Every student, in the order of the class document, including those without a submission."""
        return cast("list[Document]", self.document["students"])

    @property
    def assignments(self) -> list[Document]:
        """The graded assignments in course order: name, possible points, weight and due date."""
        return cast("list[Document]", self.document["assignments"])

    def require_graded(self, names: Iterable[str]) -> None:
        """Raise UsageError if the class was not graded for one of the named assignments."""
        known = [assignment["name"] for assignment in self.assignments]
        if unknown := next((name for name in names if name not in known), None):
            raise UsageError(f"the class was not graded for {unknown!r}. Name one of these: {', '.join(known)}")

    @property
    def roster(self) -> CsvTable:
        """The roster of the class, as far as students are matched with it; without titles if there was none."""
        rows = [student["roster"] for student in self.students if student["roster"]]
        titles = list(rows[0]) if rows else []
        return CsvTable(titles, [[row.get(title, "") for title in titles] for row in rows])

    @property
    def title(self) -> str:
        """The course's title, or the folder's name."""
        return str(self.document["course"]["title"] or self.out.resolve().name)

    @cached_property
    def policy(self) -> Policy:
        """The policy that the document was made with."""
        return msgspec.convert(self.document["course"]["policy"], Policy)

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each student by submission; namesakes have their id, or their submission, in parentheses."""
        count = Counter(map(display_name, self.students))
        named = {student["submission"]: (display_name(student), student["id"]) for student in self.students}
        return {key: name if count[name] == 1 else f"{name} ({id or key})" for key, (name, id) in named.items()}

    def results(self, names: Collection[str] = ()) -> Iterator[tuple[Document, Document | None]]:
        """Yield each student with what `result_of` returns."""
        for student in self.students:
            yield student, self.result_of(student, names)

    def result_of(self, student: Document, names: Collection[str] = ()) -> Document | None:
        """Return a student's results, in all or the named assignments, as one document; None if none can be read.

        Each assignment comes from the result document that its grade names. Of checks that the policy now hides, only
        the points are left, and whether they passed.
        """
        files: dict[str, set[str]] = {}
        for name, grade in student["assignments"].items():
            if grade["file"] and (not names or name in names):
                files.setdefault(grade["file"], set()).add(name)
        documents = [(names, self._read(RESULTS, file, RESULT_SCHEMA)) for file, names in files.items()]
        result = _merged([(names, document) for names, document in documents if document is not None])
        if result is not None and self.policy.feedback != "full" and self.policy.checks.hidden:
            for function in (function for part in result["assignments"] for function in part["functions"]):
                self._hide_checks(function)
        return result

    def _hide_checks(self, function: dict[str, Any]) -> None:
        statuses = {check["status"] for check in function["checks"]}
        for check in function["checks"]:
            if self.policy.checks.hides(check["id"]):  # The pattern may be newer than the result.
                check.update(hidden_document(check, statuses))
        function["status"] = most_urgent({check["status"] for check in function["checks"]})

    def code_of(self, student: Document) -> Document | None:
        """Return the code of a student's graded attempts as one document, or None if none is stored.

        The module of an assignment comes from the submission of that assignment.
        """
        modules: dict[str, Any] = {}
        left_out: list[str] = []
        files = dict.fromkeys(grade["file"] for grade in student["assignments"].values() if grade["file"])
        for file in files:
            if (code := self._read(CODE, file, CODE_SCHEMA)) is not None:
                left_out += code["left_out"]
                own = {name for name, grade in student["assignments"].items() if grade["file"] == file}
                for name, parts in code["modules"].items():
                    if name in own or (name not in modules and name not in student["assignments"]):
                        modules[name] = parts
        return {"modules": modules, "left_out": left_out} if modules or left_out else None

    def _read(self, folder: str, file: str, schema: str) -> Document | None:
        """Return a document in a folder of OUT, or None if there is no readable one."""
        try:
            # Only the file's name is used, so that no class document can make this read outside the folder.
            return read_document(self.out / folder / Path(file).name, schema)
        except (OSError, ValueError):
            return None

    def file_names(self) -> dict[str, str]:
        """Map each submission to the name, without suffix, of the student's files; it is the same for all attempts."""
        return readable_names(student["submission"] for student in self.students)


def read(out: Path) -> Gradebook:
    """Return the graded class in the folder `out`; raise UsageError if there is none that this version can read."""
    path, again = out / "class.json", f"headway grade DIR --out {out}"
    if not out.is_dir():
        raise UsageError(f"no such folder: {out}. Grade a class first: {again}")
    if not path.exists():
        raise UsageError(f"{out} contains no class.json. Grade the class first: {again}")
    try:
        with report_read_error(path):
            book = Gradebook(out, read_document(path, CLASS_SCHEMA))
        if msgspec.json.decode(msgspec.json.encode(book.policy)) != book.document["course"]["policy"]:
            raise ValueError("the policy is not one that this version of Headway writes")
        return book
    except SchemaError as error:
        raise UsageError(f"{path}: {error}. Write it again: {again}") from None
    except ValueError as error:
        raise UsageError(f"{path} is damaged ({error}). Write it again: {again}") from None


def _merged(parts: list[tuple[set[str], Document]]) -> Document | None:
    """Return one result document with the named assignments of each document, or None for no documents."""
    if not parts or (len(parts) == 1 and parts[0][0] >= {a["name"] for a in parts[0][1]["assignments"]}):
        return parts[0][1] if parts else None
    documents = [document for _, document in parts]
    assignments = [a for names, document in parts for a in document["assignments"] if a["name"] in names]
    points = [assignment["points"] for assignment in assignments]
    return {
        **documents[0],
        "assignments": sorted(assignments, key=lambda assignment: int(assignment["number"])),
        "points": {key: sum(entry[key] for entry in points) for key in ("earned", "possible")},
        "passed": all(document["passed"] for document in documents),
        "seconds": sum(document["seconds"] for document in documents),
        "created": max(document["created"] for document in documents),
        **{key: list(dict.fromkeys(chain(*(d[key] for d in documents)))) for key in ("internal_errors", "notes")},
        "files": [file for document in documents for file in document["files"]],
    }


def with_class(document: Document) -> list[Document]:
    """Return the students of a class document, and then an entry for what is open about none of them."""
    return [*document["students"], {"name": "course.toml", "submission": "", "open": document["open"]}]


def display_name(student: Document) -> str:
    """Return the student's name, or the id, or the submission's name."""
    return str(student["name"] or student["id"] or student["submission"])


def has_no_result(grade: Document) -> bool:
    """Return whether the score of an assignment is not known: its run has not come to it, or Headway failed."""
    return grade["status"] in ("waiting", "failed") and not (grade["by_hand"] or grade["excused"])


def iter_functions(result: Document) -> Iterator[tuple[str, Document]]:
    """Yield every function of a result document with its qualified name."""
    for assignment in result["assignments"]:
        for function in assignment["functions"]:
            yield f"{assignment['name']}.{function['name']}", function


def readable_names(texts: Iterable[str]) -> dict[str, str]:
    """Return a file name without suffix for each text: the text itself where every file system accepts it.

    Any other name is what remains of the text, and eight digits of its digest, so that no two are the same, not even on
    a file system that ignores case. A text has the same name every time.
    """
    safe_names = {text: _safe_part(text) for text in texts}
    counts = Counter(name.casefold() for name in safe_names.values())
    return {
        text: name
        if name and name == text and counts[name.casefold()] == 1
        else f"{name} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}".strip()
        for text, name in safe_names.items()
    }


def _safe_part(text: str) -> str:
    """Return the letters and digits of any script and a few marks; nothing special to a shell, URL or file system."""
    composed = unicodedata.normalize("NFC", text)
    name = "".join(char if unicodedata.category(char)[0] in "LMN" or char in "-_.,@()" else " " for char in composed)
    while len(name.encode()) > MAX_NAME_BYTES:
        name = name[:-1]
    name = " ".join(name.split()).strip(" .-")
    return "" if _RESERVED.fullmatch(name) else name
