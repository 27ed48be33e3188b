"""A student's first day, on any system: each command of the first lessons does what the documentation says.

    python tests/support/first_day.py [FOLDER/]headway

The argument is an installed `headway`. Needs only the standard library, so that it runs beside any installation.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STUB = 'raise NotImplementedError("softmax.softmax")'
WRONG = "return np.exp(x / temperature) / np.exp(x / temperature).sum()"
RIGHT = """if not temperature > 0:
        raise ValueError("temperature must be positive")
    x = np.asarray(x)
    z = x if x.dtype.kind == "f" else x.astype(float)
    z = np.exp((z - z.max(axis=axis, keepdims=True)) / float(temperature))
    return z / z.sum(axis=axis, keepdims=True)"""


def first_day(headway: str, folder: Path) -> None:
    """Run the commands in a new workspace in `folder`; raise AssertionError at the first that is not as documented."""
    workspace = folder / "my-gpt"
    module = workspace / "softmax.py"

    def run(*arguments: str, exit_code: int = 0, cwd: Path = workspace) -> str:
        started = time.monotonic()
        environment = {**os.environ, "PYTHONUTF8": "0", "HEADWAY_CACHE": str(folder / "cache"), "COLUMNS": "100"}
        done = subprocess.run(
            [headway, *arguments], cwd=cwd, env=environment, capture_output=True, encoding="utf-8", errors="replace"
        )
        command = f"headway {' '.join(arguments)}"
        print(f"{time.monotonic() - started:5.1f} s  exit {done.returncode}  {command}", flush=True)
        output = done.stdout + done.stderr
        assert done.returncode == exit_code, f"{command}: exit {done.returncode}, expected {exit_code}\n{output}"
        assert "Traceback" not in output, output
        return output

    def write(body: str) -> None:
        assert stub.count(STUB) == 1
        module.write_text(stub.replace(STUB, body), "utf-8")

    run("--version", cwd=folder)
    run("doctor", cwd=folder)
    run("init", str(workspace), cwd=folder)
    stub = module.read_text("utf-8")
    assert "not started" in run("check", "softmax.softmax", exit_code=1)
    write(WRONG)
    run("check", "softmax.softmax", "--json", "wrong.json", exit_code=1)
    [function] = json.loads((workspace / "wrong.json").read_text("utf-8"))["assignments"][0]["functions"]
    assert function["status"] == "failed"
    assert any(check["mistake"] for check in function["checks"]), "no mistake was named"
    run("hint", "softmax.softmax")
    write(RIGHT)
    run("check", "softmax.softmax")
    run("diff", "softmax.softmax")
    run("list")
    run("submit")
    assert list(workspace.glob("*.zip")), "submit wrote no archive"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        first_day(str(Path(sys.argv[1]).absolute()), Path(name).resolve())
