"""An autograder for Gradescope: a zip with `setup.sh`, `run_autograder` and Headway as it is installed here.

    python -P -m autograder.classroom.exporters.gradescope_autograder /autograder

is what the script `run_autograder` starts there for every submission.

Sources: "Autograder Specifications" and "Manual Docker Configuration" (gradescope-autograders.readthedocs.io). The
archive pins the versions of Headway's dependencies, so that every submission is graded by the same checks as here. Only
those packages are downloaded.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import msgspec

import autograder
from autograder.classroom.exporters import gradescope
from autograder.classroom.exporters.gradescope import Visibility
from autograder.classroom.policy.model import Policy
from autograder.classroom.storage import gradebook
from autograder.core.archives import zip_of
from autograder.core.current_folder import python_command
from autograder.core.files import write_atomically
from autograder.core.versions import installed_version
from autograder.course.stubs import bundled
from autograder.errors import HeadwayError, UsageError
from autograder.sandbox.packages import allowed_packages

# The Dockerfile is for "Manual Docker Configuration": such an image is based on one of Gradescope's.
TEMPLATES = ("setup.sh", "run_autograder", "Dockerfile")


@dataclass(frozen=True)
class GradescopeSettings:
    """The settings of the autograder, which are `settings.json` in the archive."""

    assignments: tuple[str, ...] = ()  # names as for `headway grade --assignment`; all if empty
    seed: int = 0  # 0: the public inputs, whose answers are part of Headway
    feedback: str = "summary"
    visibility: Visibility = "visible"
    unsafe: bool = False  # grade without a sandbox if the image has none
    policy: str = ""  # the content of a course.toml
    packages: tuple[str, ...] = ()  # that submissions may import, besides NumPy


def write(path: Path, settings: GradescopeSettings) -> int:
    """Write the archive; return the number of files. Raise UsageError if results would reveal expected values."""
    if settings.feedback == "full":
        raise UsageError("--feedback full would show students expected values. Use --feedback summary or none")
    files = {
        **{name: (Path(__file__).with_name("templates") / name).read_bytes() for name in TEMPLATES},
        "settings.json": (json.dumps(asdict(settings), indent=1) + "\n").encode(),
        "requirements.txt": "\n".join([*_requirements(settings), ""]).encode(),
        **{f"headway/{name}": file.read_bytes() for name, file in _headway_files().items()},
    }
    write_atomically(path, zip_of(files, executable=("setup.sh", "run_autograder")))
    return len(files)


def policy_text(policy: Policy) -> str:
    """Return the part of a class's policy that concerns a single submission as the content of a course.toml.

    Due dates are left out, because Gradescope has its own, and so are exceptions for single students.
    """
    lines = [f"bonus = {json.dumps(policy.bonus)}"]
    lines += ["own_prerequisites = true"] if policy.own_prerequisites else []
    lines += ["[checks]", f"hidden = {json.dumps(policy.checks.hidden)}"] if policy.checks.hidden else []
    lines += ["[packages]", f"allow = {json.dumps(policy.packages.allow)}"] if policy.packages.allow else []
    for name, rules in policy.assignments.items():
        lines.append(f"[assignments.{name}]")
        lines += [f"points = {rules.points}"] if rules.points is not None else []
        lines += [f"weight = {rules.weight}"] if rules.weight is not None else []
        lines += [f"[assignments.{name}.functions]"] if rules.functions else []
        lines += [f"{function} = {points}" for function, points in rules.functions.items()]
    return "\n".join([*lines, ""])


def _headway_files() -> dict[str, Path]:
    """Return every file of Headway by its name in the archive; the layout is that of the installed wheel."""
    package = Path(autograder.__file__).parent
    bundles = {f"autograder/_bundle/{name}": bundled(name) for name in ("assignments", "solutions", "data")}
    files: dict[str, Path] = {}
    for prefix, root in {"autograder": package, **bundles}.items():
        for file in sorted(root.rglob("*")):
            path = file.relative_to(root)
            if file.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in path.parts):
                files.setdefault(f"{prefix}/{path.as_posix()}", file)
    return files


def _requirements(settings: GradescopeSettings) -> Iterator[str]:
    """Yield the packages that grading needs, pinned to the versions installed here."""
    required = [line for line in requires("headway") or [] if "extra ==" not in line]
    names = [re.split(r"[;\[<>=!~ ]", line, maxsplit=1)[0] for line in required]
    # The answers for other than the public inputs are computed with PyTorch.
    for name in [*names, "pyseccomp", *(["torch"] if settings.seed else [])]:
        version = installed_version(name)
        yield f"{name}=={version.partition('+')[0]}" if version else name
    yield from (f"{name}=={version}" for name, version in allowed_packages(settings.packages).versions)


def main(root: Path) -> None:
    """Grade `root/submission` by `root/source/settings.json`; write `root/results/results.json`.

    It is always written, so that a student who gets no grade can read why.
    """
    try:
        document = _grade(root)
    except (HeadwayError, OSError, ValueError) as error:
        document = {"score": 0.0, "output": f"The autograder could not run: {error}", "stdout_visibility": "hidden"}
    write_atomically(root / "results" / "results.json", (json.dumps(document, indent=1) + "\n").encode())


def _grade(root: Path) -> dict[str, Any]:
    settings = msgspec.json.decode((root / "source" / "settings.json").read_bytes(), type=GradescopeSettings)
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        folder, out = Path(scratch) / "class", Path(scratch) / "out"
        # Links are copied as links: grading refuses them, as in every class.
        shutil.copytree(root / "submission", folder / "submission", symlinks=True)
        command = python_command("-m", "autograder.cli", "grade", str(folder), "--out", str(out), "--no-color")
        command += ["--seed", str(settings.seed), "--feedback", settings.feedback]
        if settings.policy:
            policy = Path(scratch) / "course.toml"
            policy.write_text(settings.policy, "utf-8")
            command += ["--course", str(policy)]
        command += [part for name in settings.assignments for part in ("--assignment", name)]
        for options in ([], ["--unsafe-no-sandbox"]) if settings.unsafe else ([],):
            done = subprocess.run([*command, *options], capture_output=True, text=True, errors="replace", check=False)
            if (out / "class.json").is_file():
                break
        print(done.stdout, done.stderr)
        if not (out / "class.json").is_file():
            raise HeadwayError((done.stderr.strip() or "no reason given").splitlines()[-1])
        book = gradebook.read(out)
        student, result = next(book.results())
        return gradescope.document_of(book, student, result, settings.visibility)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
