"""A class with submissions that end the grading process, as a fault in the grader would."""

import os

from support.commands import SOFTMAX
from support.editing import write_files

DEADLY = SOFTMAX + "# deadly\n"
# Python imports a module of this name when it starts. It changes only grading processes.
SITECUSTOMIZE = """
import os, sys, time
if "spawn_main" in " ".join(sys.orig_argv):
    from autograder.classroom.grading import worker
    honest_grade = worker.grade

    def grade(task, *rest):
        if any(b"# deadly" in file.content for file in task.read_files()):
            with open({log!r}, "a") as log:
                print(task.name, file=log)
            time.sleep({seconds})
            os._exit(7)
        return honest_grade(task, *rest)

    worker.grade = grade
"""


def make_deadly_class(folder, count, deadly):
    """Write a class in which the submissions with the numbers `deadly` are deadly; return it, environment and log."""
    codes = {f"s{number:02}/softmax.py": DEADLY if number in deadly else SOFTMAX for number in range(count)}
    write_files(folder / "class", codes)
    python_path, log = deadly_site(folder)
    return folder / "class", {**os.environ, "PYTHONPATH": python_path}, log


def deadly_site(folder, seconds=0.0):
    """Return the PYTHONPATH with which deadly submissions end their process after so many seconds, and the log.

    The log has a line for each process that died.
    """
    log = folder / "deaths"
    write_files(folder, {"deaths": "", "site/sitecustomize.py": SITECUSTOMIZE.format(log=str(log), seconds=seconds)})
    return str(folder / "site"), log
