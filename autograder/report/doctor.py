"""The results of `headway doctor` in the terminal, and as Markdown for a bug report."""

import contextlib
import getpass
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.report.check_report import STATUS_STYLES
from autograder.report.styles import grid


@dataclass(frozen=True)
class Diagnostic:
    """The state of one part of this machine."""

    name: str
    ok: bool
    text: str
    fix: str = ""  # the command or step that fixes it
    optional: bool = False  # whether Headway works without it
    public_text: str | None = None  # `text` for a bug report, if that has a path or something else of the user's


def render(diagnostics: Sequence[Diagnostic], console: Console) -> None:
    """Print one line for each part and, below a part that does not work, the step that fixes it."""
    table = grid("left", "left", "fold")
    for diagnostic in diagnostics:
        mark, style = STATUS_STYLES["passed" if diagnostic.ok else "blocked" if diagnostic.optional else "failed"]
        table.add_row(Text(mark, style), Text(diagnostic.name), Text(diagnostic.text))
        if not diagnostic.ok:
            table.add_row("", "", Text(f"→ {diagnostic.fix}", style))
    console.print(table)
    broken = [diagnostic.name for diagnostic in diagnostics if not diagnostic.ok and not diagnostic.optional]
    console.print(Text(f"\nFix this first: {', '.join(broken)}." if broken else "\nEverything required works."))


def as_markdown(diagnostics: Sequence[Diagnostic], environment: Mapping[str, str]) -> str:
    """Return the same with facts about the environment, to paste into a bug report."""
    lines = [f"- {name}: {value}" for name, value in environment.items()]
    for diagnostic in diagnostics:
        state = "" if diagnostic.ok else " (optional, does not work)" if diagnostic.optional else " (does not work)"
        text = diagnostic.text if diagnostic.public_text is None else diagnostic.public_text
        lines.append(f"- {diagnostic.name}: {text}{state}")
    return "\n".join(["### headway doctor --report", "", *map(without_private_data, lines)])


def without_private_data(text: str) -> str:
    """Return a text without the user's home folder, login name and the machine's name, and without other paths."""
    node = platform.node()
    private = {str(Path.home()), node, node.partition(".")[0], *_login_names()}
    for word in sorted(filter(None, private), key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", "…", text, flags=re.IGNORECASE)
    return re.sub(r"(?<!\w)(?:[A-Za-z]:|…)?[/\\](?:[\w.~ -]+[/\\])+[\w.~-]*", "…", text)


def _login_names() -> list[str]:
    names = [name for key in ("USER", "LOGNAME", "USERNAME") if (name := os.environ.get(key))]
    with contextlib.suppress(Exception):  # The account may have no name, in a container.
        names.append(getpass.getuser())
    return names
