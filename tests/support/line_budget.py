"""Print the lines of each package beside the most that it may have; fail if one has more.

    python tests/support/line_budget.py

The limits are in `pyproject.toml` under `tool.headway.line-budget`, by folder. `machinery` is `autograder` without the
courses; `pages` are its JavaScript, CSS and templates.
"""

import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
PAGES = (".js", ".ts", ".mjs", ".css", ".j2", ".html")
NOT_OURS = ("vendor", "assignments", "docs")


def count_lines() -> Counter[str]:
    """Return the number of lines by folder (each counts for all folders above it), and that of the pages."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True).stdout
    lines: Counter[str] = Counter()
    for path in map(Path, listed.splitlines()):
        if path.suffix not in (".py", *PAGES) or not {*path.parts}.isdisjoint(NOT_OURS) or not (ROOT / path).is_file():
            continue
        count = len((ROOT / path).read_bytes().splitlines())
        if path.suffix in PAGES:
            lines["pages"] += count * (path.parts[0] == "autograder")
        else:
            lines.update({str(folder): count for folder in path.parents})
    lines["machinery"] = lines["autograder"] - lines["autograder/courses"]
    return lines


def main() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    limits: dict[str, int] = settings["tool"]["headway"]["line-budget"]
    lines = count_lines()
    table = Table("", "lines", "at most", box=None)
    for name, limit in limits.items():
        style = "red" if lines[name] > limit else ""
        table.add_row(name, f"{lines[name]:,}", f"{limit:,}", style=style)
    Console().print(table)
    if above := [name for name, limit in limits.items() if lines[name] > limit]:
        sys.exit(f"Too many lines in {', '.join(above)}. Delete or simplify something there before you add.")


if __name__ == "__main__":
    main()
