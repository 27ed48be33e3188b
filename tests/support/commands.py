"""Run the command line, in a process of its own or in this one; a correct softmax to check."""

import contextlib
import functools
import os
import subprocess
import sys
from pathlib import Path

HEADWAY = [sys.executable, "-m", "autograder.cli"]

SOFTMAX = """
import numpy as np
def softmax(x, axis=-1, temperature=1.0):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    if temperature <= 0:
        raise ValueError("temperature must be positive")
    z = np.exp((x - x.max(axis, keepdims=True)) / temperature)
    return z / z.sum(axis, keepdims=True)
"""


def timeless(value):
    """Return a result or class document without times and other usage, which differ from run to run."""
    left_out = ("seconds", "created", "used", "changed")
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in left_out}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def run_program(*command, code=0, **options):
    """Run a program, which must end with this exit code (None: with any); return its exit code and output.

    The options are those of `subprocess.run`.
    """
    options = {"capture_output": True, "text": True, "encoding": "utf-8", "check": False, **options}
    done = subprocess.run([str(part) for part in command], **options)
    assert code in (None, done.returncode), f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done


def headway(*arguments, cwd=None, typed=None, **environment):
    """Run `headway ARGUMENTS` in a process of its own and return its exit code and output.

    Args:
        typed: its standard input.
        environment: variables to set on top of this process's.
    """
    environment = {**os.environ, "PYTHONUTF8": "1", **environment}
    return run_program(*HEADWAY, *arguments, code=None, input=typed, cwd=cwd, env=environment)


def headway_with(packages):
    """Return `headway` with the courses in the folder `packages`."""
    return functools.partial(headway, PYTHONPATH=str(packages), PYTHONDONTWRITEBYTECODE="1")


def invoke(*arguments, cwd=None, typed=None, **environment):
    """Run `headway ARGUMENTS` in this process: like `headway` but faster, where a process is not the point."""
    from click.testing import CliRunner

    from autograder.cli import main

    with contextlib.chdir(cwd or Path.cwd()):
        options = {"input": typed, "env": environment, "prog_name": "headway"}
        result = CliRunner().invoke(main, list(map(str, arguments)), **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)


def succeed(*arguments, run=invoke, **options):
    """Run a command that must end with exit code 0."""
    done = run(*arguments, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def refusal(*arguments, run=invoke, **options):
    """Run a command that must be refused with exit code 2; return what it says, which must be one line."""
    done = run(*arguments, **options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stdout + done.stderr
    return done.stderr
