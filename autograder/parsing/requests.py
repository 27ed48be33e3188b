"""Answer one request of `sandbox/source_reader.py`, in the sandboxed process.

Sources are bytes. Answers are lists, dictionaries, strings and bytes, and never larger than what was sent by more than
a constant factor.
"""

from collections.abc import Callable, Mapping
from typing import Any

from . import Unreadable
from .code_tokens import filtered_code
from .function_uses import used_functions, written_functions
from .read_ipynb import defining_cells, read_modules

OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "read_modules": read_modules,
    "defining_cells": defining_cells,
    "used_functions": used_functions,
    "written_functions": written_functions,
    "filtered_code": filtered_code,
}


def answer(operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer, or a status with a message that completes the sentence "It was left out, …"."""
    try:
        return {"status": "returned", "value": OPERATIONS[operation](**arguments)}
    except Unreadable as error:
        return {"status": "unreadable", "message": str(error)}
    except RecursionError:
        return {"status": "unreadable", "message": "it cannot be read: its code is nested too deeply"}
    except MemoryError:
        return {"status": "unreadable", "message": "it cannot be read: that takes too much memory"}
