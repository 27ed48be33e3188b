"""Names of the files that students are handed: from texts that strangers wrote."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

MAX_NAME = 120  # bytes; the longest that file systems take is 255, with an ending
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # what Windows keeps for itself


def readable_names(texts: Iterable[str]) -> dict[str, str]:
    """File names for texts from strangers, without an ending: the text itself wherever every file system takes it.

    Otherwise what is left of it, and eight digits of its digest, so that no two are the same, not even where a file
    system makes no difference between capitals and small letters. A text keeps its name from one time to the next.
    """
    wanted = list(dict.fromkeys(texts))
    plain = {text: _plain_name(text) for text in wanted}
    alike = Counter(name.casefold() for name in plain.values())
    return {
        text: name
        if name and name == text and alike[name.casefold()] == 1
        else f"{name} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}".strip()
        for text, name in plain.items()
    }


def _plain_name(text: str) -> str:
    """Letters and digits of every script and a few marks; nothing that a shell, a link or a file system takes amiss."""
    composed = unicodedata.normalize("NFC", text)
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c in "-_.,@()" else " " for c in composed)
    while len(kept.encode()) > MAX_NAME:
        kept = kept[:-1]
    kept = " ".join(kept.split()).strip(" .-")
    return "" if _DEVICES.fullmatch(kept) else kept
