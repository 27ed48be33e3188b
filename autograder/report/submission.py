"""The archive that `headway submit` wrote, in the terminal: its contents, and what does not pass."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from autograder.documents.results import SubmissionResult
from autograder.report.check_report import STATUS_STYLES
from autograder.report.wording import STATUS_WORDS

MAX_FUNCTIONS = 12


def render(about: dict[str, Any], result: SubmissionResult, path: Path, console: Console) -> None:
    """Print what the archive holds, which functions do not pass, and what to do with it."""
    open_functions = {name: status for name, status in about["functions"].items() if status != "passed"}
    head = f"{path}: {len(about['files'])} files, {result.earned:g} points, packed by Headway {about['kit']}"
    console.print(Text(head, "bold"), soft_wrap=True)
    for note in result.notes:
        console.print(Text(note, "dim"))
    if open_functions:
        console.print(Text(f"{len(open_functions)} of {len(about['functions'])} functions do not pass:"))
    else:
        console.print(Text("Everything passes.", STATUS_STYLES["passed"][1]))
    for name, status in list(open_functions.items())[:MAX_FUNCTIONS]:
        mark, style = STATUS_STYLES[status]
        console.print(Text.assemble(f"  {name}  ", (f"{mark} {STATUS_WORDS[status]}", style)))
    if len(open_functions) > MAX_FUNCTIONS:
        console.print(Text(f"  … and {len(open_functions) - MAX_FUNCTIONS} more: headway list --open", "dim"))
    for name in about["gave_up"]:
        console.print(Text(f"  {name}: you saw the solution before your code passed; the archive records this"))
    console.print(Text(f"Submit {path} as it is; do not unpack it."), soft_wrap=True)
