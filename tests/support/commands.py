"""The command line in a process of its own, a right softmax to give it, what of its documents can be compared."""

import os
import subprocess
import sys

HEADWAY = [sys.executable, "-m", "autograder.cli"]

SOFTMAX = """
import numpy as np
def softmax(x, axis=-1, temperature=1.0):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    z = np.exp((x - x.max(axis, keepdims=True)) / temperature)
    return z / z.sum(axis, keepdims=True)
"""


def timeless(value):
    """A result or class document without what differs from run to run."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in ("seconds", "created")}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def headway(*arguments, cwd=None, typed=None, **environment):
    """Run `headway ARGUMENTS` to its end; what it printed is text.

    Args:
        typed: what stands on its standard input.
        environment: on top of this process's.
    """
    return subprocess.run(
        [*HEADWAY, *map(str, arguments)],
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        check=False,
    )
