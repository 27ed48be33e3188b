"""A ready autograder for Gradescope: a zip with `setup.sh`, `run_autograder` and the kit as it is installed here.

Source: "Autograder Specifications" (gradescope-autograders.readthedocs.io/en/latest/specs/): both files lie at the root
of the archive; `setup.sh` runs once, as root, on an Ubuntu image; `run_autograder` runs for every submission, which
lies in `/autograder/submission`, and writes `/autograder/results/results.json`.

The kit travels inside the archive, with pinned versions of what it needs, so that every submission is graded by the
same checks as here; nothing but those packages is downloaded.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import autograder
from autograder.classroom.exporters.gradescope import Visibility
from autograder.core.files import write_atomically
from autograder.curriculum.stubs import bundled
from autograder.errors import UsageError

SETTINGS = "settings.json"

SETUP = """#!/usr/bin/env bash
# Runs once, when the image is built: a Python that is new enough, the sandbox, and the packages that the kit needs.
set -euo pipefail
cd /autograder/source
apt-get update
apt-get install -y bubblewrap libseccomp2
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    apt-get install -y python3.11 python3.11-venv
    python=python3.11
fi
"$python" -c 'import ensurepip' || apt-get install -y python3-venv
"$python" -m venv venv
venv/bin/python -m pip install --disable-pip-version-check -r requirements.txt
chmod +x run_autograder
"""

RUN = """#!/usr/bin/env bash
# Runs for every submission: grades /autograder/submission, writes /autograder/results/results.json.
set -euo pipefail
root="${HEADWAY_AUTOGRADER_ROOT:-/autograder}"
python="${HEADWAY_AUTOGRADER_PYTHON:-$root/source/venv/bin/python}"
export PYTHONPATH="$root/source/kit"
cd "$root"
exec "$python" -m autograder.classroom.exporters.gradescope_run "$root"
"""


@dataclass(frozen=True)
class GradescopeSettings:
    """How the autograder grades.

    Attributes:
        assignments: names as for `headway grade --assignment`; all if empty.
        seed: inputs; 0 are the public ones, for which PyTorch's answers come with the kit.
        feedback: how much students are told.
        visibility: when students see the tests.
        unsafe: grade without a sandbox where the image has none.
    """

    assignments: tuple[str, ...] = ()
    seed: int = 0
    feedback: str = "summary"
    visibility: Visibility = "visible"
    unsafe: bool = False


def write(path: Path, settings: GradescopeSettings) -> int:
    """Write the archive.

    Returns:
        How many files it has.

    Raises:
        UsageError: if expected values would be told.
    """
    if settings.feedback == "full":
        raise UsageError("students would read expected values: use --feedback summary or none for an autograder")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "setup.sh", SETUP.encode(), executable=True)
        _add(archive, "run_autograder", RUN.encode(), executable=True)
        _add(archive, SETTINGS, (json.dumps(asdict(settings), indent=1) + "\n").encode())
        _add(archive, "requirements.txt", "\n".join([*_requirements(settings), ""]).encode())
        for name, file in _kit():
            _add(archive, f"kit/{name}", file.read_bytes())
        count = len(archive.namelist())
    write_atomically(path, content.getvalue())
    return count


def _add(archive: zipfile.ZipFile, name: str, content: bytes, *, executable: bool = False) -> None:
    # A fixed date: the same kit gives the same archive.
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _kit() -> Iterator[tuple[str, Path]]:
    """Every file of the kit by its name in the archive; stubs, solutions and data lie as in the installed wheel."""
    package = Path(autograder.__file__).parent
    roots = [("autograder", package)]
    roots += [(f"autograder/_bundle/{name}", bundled(name)) for name in ("assignments", "solutions", "data")]
    seen = set()
    for prefix, root in roots:
        for file in sorted(root.rglob("*")):
            name = f"{prefix}/{file.relative_to(root).as_posix()}"
            hidden = any(part.startswith(".") or part == "__pycache__" for part in file.relative_to(root).parts)
            if file.is_file() and not hidden and name not in seen:
                seen.add(name)
                yield name, file


def _requirements(settings: GradescopeSettings) -> Iterator[str]:
    """The packages that grading needs, in the versions that are installed here."""
    names = [line for line in requires("headway") or [] if "extra ==" not in line]
    plain = [name.split(";")[0].split("[")[0] for name in names]
    wanted = [name.split(">")[0].split("=")[0].split("<")[0].strip() for name in plain]
    # Other inputs than the public ones are computed with PyTorch.
    for name in [*wanted, "pyseccomp", *(["torch"] if settings.seed else [])]:
        try:
            yield f"{name}=={version(name).partition('+')[0]}"
        except PackageNotFoundError:
            yield name
