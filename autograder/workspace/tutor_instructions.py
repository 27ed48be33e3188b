"""AGENTS.md: asks coding assistants in a workspace to tutor. An instructor can replace it."""

from pathlib import Path

from autograder.core.files import read_plain_file
from autograder.errors import UsageError

FILE = "AGENTS.md"
LARGEST = 100_000  # bytes


def read_replacement(path: Path) -> bytes:
    """Return the content of an instructor's file that replaces the instructions; raise UsageError if it is no text."""
    another = "Name a text file: --agents FILE"
    try:
        content = read_plain_file(path)
        is_text = b"\0" not in content and bool(content.decode("utf-8").strip())
    except UnicodeError:
        is_text = False
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). {another}") from None
    if not is_text or len(content) > LARGEST:
        reason = "is too large" if len(content) > LARGEST else "is not UTF-8 text, or it is empty"
        raise UsageError(f"{path} {reason}. {another}")
    return content
