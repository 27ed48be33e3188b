"""Read stored result, class and code documents, written by any version of Headway.

Every document names its schema: `headway.result/2` (one submission), `headway.class/3` (a graded class) or
`headway.code/1` (the code of one submission). Documents are always written in the current version. `read_document` also
reads older versions and brings them up to date.
"""

from pathlib import Path
from typing import Any, Final, cast

from autograder.core.files import read_plain_file

Document = dict[str, Any]

RESULT_SCHEMA: Final = "headway.result/2"
CLASS_SCHEMA: Final = "headway.class/3"
CODE_SCHEMA: Final = "headway.code/1"

_RENAMED_IN_CHECK_2 = {
    "case": "inputs",
    "picture": "error_map",
    "departure": "first_wrong_stage",
    "where": "location",
    "hints": "warnings",
}


class SchemaError(ValueError):
    """A document is not of the schema that was asked for, or of a version that this Headway does not know."""


def read_document(path: Path, schema: str) -> Document:
    """Return a stored document in the current version of `schema`, for example `RESULT_SCHEMA`.

    Raises:
        OSError: if the file cannot be read.
        SchemaError: if it holds another kind of document, or a version that this Headway does not know.
        ValueError: if it is not JSON, or not what its schema requires.
    """
    import msgspec

    try:
        document: Any = msgspec.json.decode(read_plain_file(path))  # refuses NaN and infinity
        stored = document.get("schema") if isinstance(document, dict) else None
        if stored != schema:
            upgrade = _UPGRADES.get((stored, schema)) if isinstance(stored, str) else None
            if upgrade is None:
                raise SchemaError(f"the schema is {str(stored)[:80]!r}; this version of Headway reads {schema!r}")
            document = {**upgrade(document), "schema": schema}
        msgspec.convert(document, _types()[schema])
    except (AttributeError, KeyError, TypeError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a valid {schema} document ({type(error).__name__}: {error})") from error
    return cast("Document", document)


def _types() -> dict[str, Any]:
    from autograder import document_types

    return {
        RESULT_SCHEMA: document_types.ResultDocument,
        CLASS_SCHEMA: document_types.ClassDocument,
        CODE_SCHEMA: document_types.CodeDocument,
    }


def _result_1_to_2(document: Document) -> Document:
    for assignment in document["assignments"]:
        for function in assignment["functions"]:
            function["checks"] = [_renamed(check, _RENAMED_IN_CHECK_2) for check in function["checks"]]
            for check in function["checks"]:
                if check["worst"] is not None:
                    check["worst"] = _renamed(check["worst"], {"allowed": "tolerance"})
    return _renamed(document, {"problems": "internal_errors"})


def _class_1_to_2(document: Document) -> Document:
    for student in document["students"]:
        assignments = student["assignments"].items()
        student["assignments"] = {name: _renamed(entry, {"ruling": "exception"}) for name, entry in assignments}
    return _renamed(document, {"kit": "versions"})  # codespell:ignore kit


def _renamed(record: Document, names: dict[str, str]) -> Document:
    return {names.get(key, key): value for key, value in record.items()}


def _class_2_to_3(document: Document) -> Document:
    weights = {assignment["name"]: assignment["weight"] for assignment in document["assignments"]}
    for student in document["students"]:
        # Version 2 knew one submission for all assignments, and stored no platform's mark.
        submission = {key: student.pop(key) for key in ("file", "attempt", "attempts", "submitted_at")}
        submission |= {"status": student["status"], "reason": student["reason"], "late": None}
        student["percent"] = 100.0 * student["score"] / student["out_of"] if student["out_of"] else None
        student.update(comments=[], ids={}, section="", ta="")
        student["assignments"] = {
            name: {
                **submission,
                **entry,
                "bonus": 0.0,
                "rubric": [],
                "adjustments": [],
                "counts": _counts(name, student, weights.get(name, 0.0)),
            }
            for name, entry in student["assignments"].items()
        }
    return document


def _counts(assignment: str, student: Document, weight: float) -> str:
    if student["assignments"][assignment]["excused"]:
        return "excused"
    return "dropped" if assignment in student["dropped"] else "counts" if weight else "not counted"


_UPGRADES = {
    ("headway.result/1", RESULT_SCHEMA): _result_1_to_2,
    ("headway.class/1", CLASS_SCHEMA): lambda document: _class_2_to_3(_class_1_to_2(document)),
    ("headway.class/2", CLASS_SCHEMA): _class_2_to_3,
}
