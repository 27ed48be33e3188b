"""Read stored result, class and code documents.

Every document names its schema: `headway.result/1` (one submission), `headway.class/1` (a graded class) or
`headway.code/1` (the code of one submission).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from autograder.core.files import read_plain_file

Document = Mapping[str, Any]  # a stored document or a part of one (see `types.py`)

RESULT_SCHEMA: Final = "headway.result/1"
CLASS_SCHEMA: Final = "headway.class/1"
CODE_SCHEMA: Final = "headway.code/1"


class SchemaError(ValueError):
    """A document is not of the schema that was asked for, or of a version that this Headway does not know."""


def read_document(path: Path, schema: str) -> dict[str, Any]:
    """Return a stored document of `schema`, for example `RESULT_SCHEMA`.

    Raises:
        OSError: if the file cannot be read.
        SchemaError: if it holds another kind of document, or a version that this Headway does not know.
        ValueError: if it is not JSON, or not exactly what its type in `types.py` says.
    """
    import msgspec

    from autograder.documents.types import DOCUMENTS

    try:
        document: dict[str, Any] = msgspec.json.decode(read_plain_file(path))  # refuses NaN and infinity
        stored = document.get("schema") if isinstance(document, dict) else None
        if stored != schema:
            raise SchemaError(f"the schema is {str(stored)[:80]!r}; this version of Headway reads {schema!r}")
        known: object = msgspec.convert(document, DOCUMENTS[schema])
        for place in _unknown_keys(document, known, "$") if known != document else ():
            raise msgspec.ValidationError(f"Object contains unknown field - at `{place[:200]}`")
    except (RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a valid {schema} document ({type(error).__name__}: {error})") from error
    return document


def _unknown_keys(stored: Any, known: Any, place: str) -> Iterator[str]:
    """Yield the place of each key that `known` lacks, which msgspec has made from `stored`."""
    if isinstance(stored, dict):
        for key, value in stored.items():
            if key in known:
                yield from _unknown_keys(value, known[key], f"{place}.{key}")
            else:
                yield f"{place}.{key}"
    elif isinstance(stored, list):
        for number, pair in enumerate(zip(stored, known, strict=True)):
            yield from _unknown_keys(*pair, f"{place}[{number}]")
