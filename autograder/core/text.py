"""Make untrusted text safe to show: student output, names, file names."""

import re
from typing import Any

# Terminal commands (CSI; OSC up to its end; two-character escapes), control characters, direction overrides and marks,
# line breaks other than \n, invisible characters that make two names differ, and characters that XML does not allow.
# Joiners stay: scripts and emoji need them.
_UNSAFE = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)|\x1b[ -~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]"
)


def clean(text: Any, limit: int = 4000) -> str:
    """Return text without escape sequences, control and direction characters, at most `limit` characters long."""
    text = str(text)[: 20 * limit]  # Cleaning megabytes only to discard them would take too long.
    safe = _UNSAFE.sub("", text).encode("utf-8", "replace").decode("utf-8")
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: "1 file", "2 files"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
