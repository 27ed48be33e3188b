"""Read the JSON and text files of a folder from elsewhere; a file that cannot be used is refused in one line."""

import json
from pathlib import Path
from typing import Any

from autograder.core.files import report_read_error
from autograder.core.text import clean
from autograder.errors import UsageError

LARGEST_TEXT = 32 << 20  # bytes of a file; the tokenizer.json of Llama 3.2 has 17 MB


def read_text(path: Path) -> str:
    """Return the content of a text file in UTF-8."""
    try:
        with report_read_error(path):
            if not path.is_file():
                raise UsageError(f"{path} is not a plain file. Replace it with the model's file")
            if path.stat().st_size > LARGEST_TEXT:
                raise UsageError(f"{path} is larger than {LARGEST_TEXT >> 20} MB. Replace it with the model's file")
            return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text. Download or copy it again") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def json_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file."""
    text = read_text(path)
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        problem = f"{path} is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        raise UsageError(f"{problem}. Download or copy it again") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, or lists nested as deeply
        raise UsageError(f"{path} is not usable JSON ({clean(error, 80)}). Download or copy it again") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} must hold a JSON object, not a {type(value).__name__}. Download or copy it again")
    return value
