"""Read a user's text file to train on, and report a problem with it in one line."""

from pathlib import Path

from autograder.core.files import read_plain_file
from autograder.core.text import clean, counted
from autograder.errors import UsageError

LARGEST = 100_000_000  # bytes: each character becomes an integer of eight bytes
TRAIN_FRACTION = 0.9  # of the text, as in `tokenizer.train_val_split`


def read_text_file(path: Path) -> str:
    """Return the text of a file, with line breaks as Linux writes them."""
    shown = clean(path, 300)
    try:
        if path.is_file() and path.stat().st_size > LARGEST:
            size = f"{path.stat().st_size / 1e6:,.0f} MB, and at most {LARGEST / 1e6:.0f} MB can be read"
            raise UsageError(f"{shown} is too large: {size}. Train on a part of it")
        content = read_plain_file(path)
    except FileNotFoundError:
        raise UsageError(f"no such file: {shown}. Check the path") from None
    except OSError as error:
        raise UsageError(f"cannot read {shown} ({error.strerror}). Give a text file: --data FILE") from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{shown} is encoded as UTF-16. Save it as UTF-8")
    if b"\0" in content:
        raise UsageError(
            f"{shown} is not a text file: it contains bytes with the value 0. Give a text file: --data FILE"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{shown} is not encoded as UTF-8 (line {line:,}). Save it as UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UsageError(f"{shown} is empty. Give a file with text: --data FILE")
    return text


def shuffled_lines_advice(text: str, file: str) -> str | None:
    """Return a note about a file whose lines are sorted; None if they are not.

    The end of the text is for validation, so sorted lines would make it a text of another kind.
    """
    lines = text.splitlines()
    if len(lines) < 20 or len(set(lines)) < 2 or [line.lower() for line in lines] != sorted(map(str.lower, lines)):
        return None
    return (
        f"The lines of {file} are sorted, so the validation text (the last tenth) differs from the rest. "
        "If each line is a separate example, add --shuffle-lines."
    )


def require_length(text: str, block_size: int, name: str) -> None:
    """Raise UsageError unless both parts of the text hold at least one window of `block_size` characters and one."""
    held_out = len(text) - int(len(text) * TRAIN_FRACTION)
    if held_out > block_size:
        return
    needed = 10 * block_size + 10
    raise UsageError(
        f"{clean(name, 300)} is too short: it has {counted(len(text), 'character')}, and at least {needed:,} are "
        f"needed, because a tenth is for validation and the model reads {block_size} characters at once. "
        "Use a longer text, or a smaller block_size: --set block_size=N"
    )
