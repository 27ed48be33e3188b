"""Read stored result, class and code documents.

Every document names its schema: `headway.result/1` (one submission), `headway.class/1` (a graded class) or
`headway.code/1` (the code of one submission).
"""

from pathlib import Path
from typing import Any, Final, cast

from autograder.core.files import read_plain_file

Document = dict[str, Any]

RESULT_SCHEMA: Final = "headway.result/1"
CLASS_SCHEMA: Final = "headway.class/1"
CODE_SCHEMA: Final = "headway.code/1"


class SchemaError(ValueError):
    """A document is not of the schema that was asked for, or of a version that this Headway does not know."""


def read_document(path: Path, schema: str) -> Document:
    """Return a stored document of `schema`, for example `RESULT_SCHEMA`.

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
            raise SchemaError(f"the schema is {str(stored)[:80]!r}; this version of Headway reads {schema!r}")
        msgspec.convert(document, _types()[schema])
    except (RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a valid {schema} document ({type(error).__name__}: {error})") from error
    return cast("Document", document)


def _types() -> dict[str, Any]:
    from autograder.documents import types as document_types

    return {
        RESULT_SCHEMA: document_types.ResultDocument,
        CLASS_SCHEMA: document_types.ClassDocument,
        CODE_SCHEMA: document_types.CodeDocument,
    }
