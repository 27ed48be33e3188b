"""Take pictures of the page of a class, of a student and of two similar submissions, as the documentation shows them.

    python tests/support/report_screenshots.py docs/screenshots

Needs Chromium. The class is made up (tests/bench/synthetic_class.py).
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "bench"), str(ROOT)]

import synthetic_class  # noqa: E402

from autograder.classroom.storage import gradebook  # noqa: E402
from support.chromium import chromium  # noqa: E402
from support.commands import invoke  # noqa: E402
from support.site_screenshots import WIDE, Camera  # noqa: E402

ASSIGNMENTS = ("softmax", "attention", "layernorm", "gpt")


def student_with_mistakes(out):
    """Return the first student with a comment and at least two named mistakes."""
    for student, result in gradebook.read(out).results():
        checks = [
            c for a in (result or {"assignments": []})["assignments"] for f in a["functions"] for c in f["checks"]
        ]
        if student["comments"] and len({check["mistake"]["id"] for check in checks if check["mistake"]}) > 1:
            return student["submission"]
    raise LookupError("no student has two mistakes")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        out, earlier = Path(scratch, "results"), Path(scratch, "week 3")
        for place, week in ((earlier, 0), (out, 1)):
            synthetic_class.make(place, 120, 3, assignments=ASSIGNMENTS, hostile=False, code=True, week=week)
        done = invoke("report", out, "--similar", "--compare", earlier)
        assert done.returncode == 0, done.stderr
        with chromium(Path(scratch, "profile")) as browser:
            camera = Camera(browser, folder)
            camera.set_view(WIDE)
            for name, page in (
                ("report", "report.html"),
                ("student", f"report/{student_with_mistakes(out)}.html"),
                ("similar", "report/pair-1.html"),
            ):
                browser.get((out / page).as_uri())
                camera.take(name)


if __name__ == "__main__":
    main()
