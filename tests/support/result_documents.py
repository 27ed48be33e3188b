"""Checks and documents as `headway check --json` writes them, and what reports print, for tests of the reports."""

import io

from rich.console import Console

# What a check says of a file that Python cannot read.
BROKEN = {"status": "error", "message": "Python cannot read attention.py: SyntaxError in line 3: invalid syntax",
          "failure": "unreadable_file", "file_at_fault": "attention.py",
          "location": {"file": "attention.py", "line": 3, "text": "def f(:"}}  # fmt: skip


def check(function="attention.attention", status="passed", **more):
    """Return one check; `more` replaces its fields."""
    record = {
        "id": f"{function}::case", "function": function, "title": "a case", "status": status,
        "points": {"earned": float(status == "passed"), "possible": 1.0}, "message": "", "help": None, "inputs": None,
        "wrong": None, "worst": None, "shapes": None, "error_map": None, "first_wrong_stage": None,
        "mistake": None, "blocked_by": [], "location": None, "called_from": None, "output": "",
        "warnings": [], "failure": "", "file_at_fault": "", "seconds": 0.0,
    }  # fmt: skip
    return {**record, **more}


def document(*checks):
    """Return the document of a submission with these checks."""
    functions = {}
    for record in checks:
        functions.setdefault(record["function"], []).append(record)
    entries = [
        {"name": name.partition(".")[2], "status": group[0]["status"], "bonus": "rmsnorm" in name, "checks": group,
         "points": {"earned": sum(c["points"]["earned"] for c in group), "possible": float(len(group))}}
        for name, group in functions.items()
    ]  # fmt: skip
    points = {"earned": sum(c["points"]["earned"] for c in checks), "possible": float(len(checks))}
    return {
        "schema": "headway.result/1", "submission": {"id": "my-gpt", "sha256": "0" * 64}, "seed": 0,
        "public_seed": True, "created": "2026-01-01T00:00:00+00:00", "versions": {}, "sandbox": [], "points": points,
        "passed": all(c["status"] == "passed" for c in checks), "internal_errors": [], "notes": [], "files": [],
        "seconds": 0.1,
        "assignments": [{"number": 4, "name": "attention", "title": "Attention", "points": points,
                         "functions": entries}],
    }  # fmt: skip


def words(text):
    """Return a text without the borders of panels and without line breaks."""
    return " ".join(text.translate(dict.fromkeys(map(ord, "│╭╮╰╯─"), " ")).split())


def printed(render, *arguments, width=200, **options):
    """Call `render` with these arguments, a console of this width and the options; return what it printed."""
    file = io.StringIO()
    render(*arguments, Console(file=file, width=width, no_color=True, highlight=False), **options)
    return file.getvalue()
