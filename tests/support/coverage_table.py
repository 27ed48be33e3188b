"""Print the report of coverage.py as Markdown, and write it beside the report: the packages, and the worst modules.

python tests/support/coverage_table.py build/coverage.json
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

LOW = 70.0  # percent
INTRODUCTION = """# What the tests cover

`make coverage` measures lines and branches while the fast tests run (`make test-fast`), also in the
commands that they start. Two things are not measured, so the true figures are higher:

- the tests that `make test-fast` leaves out: attacks on the sandbox, browsers, notebooks, clusters, and everything that
  takes more than a few seconds, such as watching, training, `headway serve`, and the references computed by PyTorch;
- student processes (`autograder/sandbox/child`). They start without site-packages, so nothing can measure in them.

"""


def read(path: Path) -> dict[str, dict[str, float]]:
    """Return the summary of each measured module, by its path."""
    return {name: file["summary"] for name, file in json.loads(path.read_text("utf-8"))["files"].items()}


def package_of(module: str) -> str:
    parts = Path(module).parts
    return "/".join(parts[:2] if len(parts) > 2 else parts[:1])


def percent(summaries) -> float:
    covered = sum(s["covered_lines"] + s.get("covered_branches", 0) for s in summaries)
    possible = sum(s["num_statements"] + s.get("num_branches", 0) for s in summaries)
    return 100.0 * covered / possible if possible else 100.0


def table(modules: dict[str, dict[str, float]]) -> str:
    """Return the page in Markdown."""
    packages = defaultdict(list)
    for name, summary in modules.items():
        packages[package_of(name)].append(summary)
    lines = ["| package | modules | statements | branches | covered |", "|---|--:|--:|--:|--:|"]
    for name, summaries in [*sorted(packages.items()), ("**all**", list(modules.values()))]:
        statements, branches = (sum(s.get(key, 0) for s in summaries) for key in ("num_statements", "num_branches"))
        cells = (
            name if "*" in name else f"`{name}`",
            len(summaries),
            statements,
            branches,
            f"{percent(summaries):.0f} %",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    low = sorted((percent([summary]), name) for name, summary in modules.items() if percent([summary]) < LOW)
    lines += ["", f"## Modules below {LOW:.0f} %", "", "| module | statements | covered |", "|---|--:|--:|"]
    lines += [f"| `{name}` | {modules[name]['num_statements']} | {share:.0f} % |" for share, name in low]
    return INTRODUCTION + "\n".join(lines) + "\n"


if __name__ == "__main__":
    report = Path(sys.argv[1])
    page = table(read(report))
    report.with_suffix(".md").write_text(page, "utf-8")
    print(page)
