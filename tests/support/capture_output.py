"""Write what every command prints in about 90 situations to one file, to read it as a stranger would.

python tests/support/capture_output.py OUTPUT.txt
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLASS = ROOT / "tests" / "submissions" / "class"
RIGHT = """import numpy as np
def softmax(x, axis=-1, temperature=1.0):
    if not temperature > 0:
        raise ValueError("temperature must be positive")
    z = np.asarray(x) / temperature
    z = np.exp(z - z.max(axis=axis, keepdims=True))
    return z / z.sum(axis=axis, keepdims=True)
"""
BODIES = {
    "unstable": RIGHT.replace(" - z.max(axis=axis, keepdims=True)", ""),
    "syntax error": RIGHT.replace("):", ")"),
    "exception": RIGHT.replace("np.exp", "np.expp"),
    "returns None": RIGHT.replace("    return z / z.sum(axis=axis, keepdims=True)\n", "    z = z / z.sum()\n"),
    "returns text": RIGHT.replace("return z / z.sum(axis=axis, keepdims=True)", "return 'softmax'"),
    "integer answer": RIGHT.replace("return z", "return (z * 10).astype(int) + 0 * z.astype(int) #"),
    "wrong shape": RIGHT.replace("keepdims=True)\n    return", "keepdims=True)\n    z = z[..., None]\n    return"),
    "changes its input": RIGHT.replace("np.asarray(x) / temperature", "x; z /= temperature"),
    "endless loop": RIGHT.replace("    return", "    while True:\n        pass\n    return"),
    "prints and input()": RIGHT.replace("    return", "    print('hello')\n    input()\n    return"),
    "nan": RIGHT.replace("return z /", "return np.nan * z /"),
}
CHECK_SOFTMAX = ["check", "softmax.softmax"]
WORKSPACE = [
    ["list"], ["list", "softmax"], ["list", "--open"], ["list", "--terms", "logit"], ["check"], ["check", "sofmax"],
    ["check", "softmax.softmx"], ["check", "--seed", "x"], ["hint"], ["hint", "softmax.softmax"],
    ["hint", "softmax.softmax", "--more"], ["hint", "softmax.softmax", "--more"],
    ["solution", "softmax.softmax"], ["diff", "softmax.softmax"], ["reset", "softmax", "--yes"], ["update"],
    ["submit", "--name", "ada"], ["submit", "--out", "work.txt"], ["train"], ["generate", "nothing.safetensors"],
    ["plot"], ["plot", "no-such-plot"], ["plot", "softmax-temperatures"], ["data", "list"],
    ["data", "fetch", "nothing"],
]  # fmt: skip
GENERAL = [
    ["--help"], ["init"], ["chek"], ["check", "--dir", "missing"], ["check"], ["doctor"], ["check", "--help"],
    ["watch", "--help"], ["hint", "--help"], ["solution", "--help"], ["submit", "--help"], ["train", "--help"],
    ["generate", "--help"], ["bench", "--help"], ["plot", "--help"], ["grade", "--help"], ["report", "--help"],
    ["export", "--help"], ["release", "--help"], ["verify", "--help"], ["init", "--help"], ["list", "--help"],
    ["grade", "missing", "--out", "out"], ["report", "missing"], ["export", "missing", "--format", "csv"],
    ["release", "made", "--format", "policy"],
]  # fmt: skip


def run(output, arguments: list[str], folder: Path, note: str = "") -> None:
    """Append a command, what it prints, and its exit code."""
    command = [sys.executable, "-m", "autograder.cli", *arguments]
    environment = {**os.environ, "COLUMNS": "80", "HEADWAY_CACHE": str(folder.parent / "cache")}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    print(f"\n{'=' * 100}\n$ headway {' '.join(arguments)}   {note}\n", file=output)
    print(f"{done.stdout.rstrip()}\n[exit code {done.returncode}]", file=output, flush=True)


def main(path: str) -> None:
    """Run every situation."""
    with tempfile.TemporaryDirectory() as scratch, open(path, "w", encoding="utf-8") as output:
        empty, workspace = Path(scratch, "empty"), Path(scratch, "my-gpt")
        empty.mkdir()
        for arguments in GENERAL:
            run(output, arguments, empty)
        run(output, ["init", str(workspace)], empty)
        run(output, ["init", str(workspace)], empty, "again")
        print((workspace / "README.md").read_text("utf-8"), file=output)
        for arguments in WORKSPACE:
            run(output, arguments, workspace)
        for note, body in BODIES.items():
            (workspace / "softmax.py").write_text(body, "utf-8")
            run(output, [*CHECK_SOFTMAX, "--call-seconds", "1"], workspace, note)
        shutil.copy(ROOT / "solutions" / "softmax.py", workspace)
        run(output, CHECK_SOFTMAX, workspace, "right")
        run(output, ["check", "softmax"], workspace, "right")
        for student in sorted(CLASS.iterdir()):
            if student.is_dir():
                run(output, ["check", "softmax", "attention", "--dir", str(student)], empty)
        graded = ["grade", str(CLASS), "--out", "out", "--seed", "0", "--call-seconds", "2"]
        run(output, graded, empty)
        run(output, graded, empty, "again")
        run(output, ["report", "out"], empty)
        for kind in ("csv", "canvas", "moodle", "gradescope", "junit", "nbgrader"):
            run(output, ["export", "out", "--format", kind], empty)
        policies = {
            "unknown key": "titel = 1\n",
            "wrong type": "[late]\npenalty_per_day = 'much'\n",
            "unknown assignment": "[assignments.sofmax]\npoints = 3\n",
            "not TOML": "title = \n",
            "date without a time zone": "[assignments.softmax]\ndue = 2026-10-01T23:59:00\n",
            "unknown student": "[[exceptions]]\nstudent = 'nobody'\nexcused = true\n",
        }
        for note, policy in policies.items():
            Path(scratch, "course.toml").write_text(policy, "utf-8")
            run(output, [*graded, "--course", str(Path(scratch, "course.toml"))], empty, note)


if __name__ == "__main__":
    main(sys.argv[1])
