"""Turn untrusted texts, such as students' names, into file names that are safe on every file system."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

MAX_NAME_BYTES = 120  # file systems take at most 255, with the suffix
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # device names on Windows


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
