"""A class with submissions that end the grading process, as a fault in the grader would."""

import os

from support.commands import SOFTMAX

DEADLY = SOFTMAX + "# deadly\n"
# Python imports a module of this name when it starts. It changes only grading processes.
SITECUSTOMIZE = """
import os, sys
if "spawn_main" in " ".join(sys.orig_argv):
    from autograder.classroom import worker
    honest_grade = worker.grade

    def grade(task, *rest):
        if any(b"# deadly" in file.content for file in task.read_files()):
            with open({log!r}, "a") as log:
                print(task.name, file=log)
            os._exit(7)
        return honest_grade(task, *rest)

    worker.grade = grade
"""


def make_deadly_class(folder, count, deadly):
    """Write a class in which the submissions with the numbers `deadly` are deadly; return it, environment and log.

    The log has a line for each process that died.
    """
    for number in range(count):
        student = folder / "class" / f"s{number:02}"
        student.mkdir(parents=True)
        (student / "softmax.py").write_text(DEADLY if number in deadly else SOFTMAX)
    log = folder / "deaths"
    log.touch()
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(SITECUSTOMIZE.format(log=str(log)))
    return folder / "class", {**os.environ, "PYTHONPATH": str(folder / "site")}, log
