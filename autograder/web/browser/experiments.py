"""Run the experiments of lessons in this interpreter, as `python MODULE.py [NAME]` would in a terminal.

Nothing here can stop one that does not end: the page replaces the whole worker after its deadline.
"""

import os
import runpy
import sys
import time
import traceback
from pathlib import Path
from typing import IO, cast

from autograder.course import Curriculum
from autograder.sandbox.interpreter_state import InterpreterState
from autograder.workspace.experiments import OUTPUT_BYTES, CappedOutput, ExperimentRun, explain_error

_UNLIMITED = 1 << 62  # The output has room for everything: it keeps the beginning and the end.


def run_experiment(folder: Path, curriculum: Curriculum, module: str, name: str) -> ExperimentRun:
    """Run the file of an assignment in `folder` as a program; `name` is its argument, "" for the main experiment."""
    output = CappedOutput(OUTPUT_BYTES)
    state = InterpreterState(str(folder), cast("IO[bytes]", output), _UNLIMITED)
    arguments = [f"{module}.py", *([name] if name else [])]
    begin = time.monotonic()
    error = state.run(lambda: _run(arguments, folder, curriculum).encode("utf-8", "replace")).decode()
    seconds = time.monotonic() - begin
    state.end()
    if state.exit_code:
        error = f"The experiment ended with exit code {state.exit_code}."
    return ExperimentRun(output.text(), round(seconds, 2), error)


def _run(arguments: list[str], folder: Path, curriculum: Curriculum) -> str:
    """Run a program with this state of the interpreter; return why it ended early."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = arguments
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ending:
        if ending.code in (None, 0):
            return ""
        is_code = isinstance(ending.code, int)
        return f"The experiment ended with exit code {ending.code}." if is_code else str(ending.code)
    except FileNotFoundError as error:
        return _not_here(f"the file {error.filename}")
    except Exception as error:
        if isinstance(error, ModuleNotFoundError):
            package = (error.name or "").partition(".")[0]
            if package not in curriculum.modules:
                return _not_here("Headway's data sets" if package == "autograder" else f"the package {package}")
        return explain_error("".join(traceback.format_exception(error)), folder, curriculum)
    return ""


def _not_here(what: str) -> str:
    return f"This experiment needs {what}, which Python in the browser does not have. Run it in a terminal instead."
