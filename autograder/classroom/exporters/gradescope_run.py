"""Grade one submission on Gradescope and write `results.json`; the script `run_autograder` starts this module.

    python -P -m autograder.classroom.exporters.gradescope_run /autograder

`results.json` is always written, so that a student who gets no grade can read why.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from autograder.classroom.exporters import gradescope
from autograder.classroom.storage import gradebook
from autograder.core.current_folder import python_command
from autograder.core.files import write_atomically
from autograder.errors import HeadwayError


def main(root: Path) -> None:
    """Grade `root/submission` by `root/source/settings.json`; write `root/results/results.json`."""
    try:
        document = _grade(root)
    except (HeadwayError, OSError, ValueError) as error:
        document = {"score": 0.0, "output": f"The autograder could not run: {error}", "stdout_visibility": "hidden"}
    write_atomically(root / "results" / "results.json", (json.dumps(document, indent=1) + "\n").encode())


def _grade(root: Path) -> dict[str, Any]:
    settings = json.loads((root / "source" / "settings.json").read_bytes())
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        folder, out = Path(scratch) / "class", Path(scratch) / "out"
        # Links are copied as links: grading refuses them, as in every class.
        shutil.copytree(root / "submission", folder / "submission", symlinks=True)
        command = python_command("-m", "autograder.cli", "grade", str(folder), "--out", str(out), "--no-color")
        command += ["--seed", str(settings["seed"]), "--feedback", settings["feedback"]]
        if settings.get("policy"):
            policy = Path(scratch) / "course.toml"
            policy.write_text(settings["policy"], "utf-8")
            command += ["--course", str(policy)]
        command += [part for name in settings["assignments"] for part in ("--assignment", name)]
        for options in ([], ["--unsafe-no-sandbox"]) if settings["unsafe"] else ([],):
            done = subprocess.run([*command, *options], capture_output=True, text=True, errors="replace", check=False)
            if (out / "class.json").is_file():
                break
        print(done.stdout, done.stderr)
        if not (out / "class.json").is_file():
            raise HeadwayError((done.stderr.strip() or "no reason given").splitlines()[-1])
        book = gradebook.read(out)
        student, result = next(book.results())
        return gradescope.document_of(book, student, result, settings["visibility"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
