"""An nbgrader course made by `headway release`, and submissions to one assignment as students hand them in.

nbgrader can grade twelve of them; it has no result for those in `NOT_GRADED_BY_NBGRADER`.
"""

import contextlib
import copy
import os
import sqlite3
from importlib.metadata import distribution
from pathlib import Path

import nbformat

from support.paths import TESTS

ASSIGNMENT = "softmax"
NOT_GRADED_BY_NBGRADER = ("unreadable", "dies")  # not JSON; a cell that ends the kernel


def environment(cache):
    """The environment of nbgrader's commands: the script alembic on the PATH, Jupyter's templates, no slow imports."""
    record = next(file for file in distribution("nbconvert").files if "jupyter/nbconvert/templates" in file.as_posix())
    share = next(parent for parent in Path(record.locate()).resolve().parents if parent.name == "jupyter")
    scripts = share.parents[1] / ("Scripts" if os.name == "nt" else "bin")
    path = os.pathsep.join([str(scripts), os.environ["PATH"]])
    jupyter = {"PATH": path, "JUPYTER_PATH": str(share), "PYTHONPATH": str(TESTS / "support" / "slow_imports")}
    return {**os.environ, **jupyter, "HEADWAY_CACHE": str(cache)}


def scores(course, assignment):
    """The score of each student who submitted; read without nbgrader, whose import takes seconds."""
    query = """
        SELECT student_id, SUM(COALESCE(manual_score, auto_score, 0)) FROM assignment
        JOIN submitted_assignment ON submitted_assignment.assignment_id = assignment.id
        JOIN submitted_notebook ON submitted_notebook.assignment_id = submitted_assignment.id
        JOIN grade ON grade.notebook_id = submitted_notebook.id
        WHERE assignment.name = ? GROUP BY student_id"""
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book:
        return dict(book.execute(query, (assignment,)))


def solutions_of(course, assignment):
    """The official solutions in the source notebook, by grade id."""
    source = nbformat.read(course / "source" / assignment / f"{assignment}.ipynb", as_version=4)
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in source.cells if "nbgrader" in cell.metadata}


def write_answers(notebook, solved, changes):
    """Write all answers into a released notebook; of each function in `changes`, one text is replaced by another."""
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id.endswith("-solution"):
            text = solved[grade_id].replace("### BEGIN SOLUTION", "# mine").replace("### END SOLUTION", "")
            old, new = changes.get(grade_id.removesuffix("-solution"), ("", ""))
            assert old in text, old
            cell.source = text.replace(old, new) if old else text


def submissions(course):
    """The submitted notebooks by student, made of the released notebook and the solutions of its source."""
    solved = solutions_of(course, ASSIGNMENT)
    released = nbformat.read(course / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    without_plots = copy.deepcopy(released)
    without_plots.cells = [cell for cell in released.cells if "show(" not in cell.source]

    def solve(notebook=without_plots, **changes):
        """The notebook with all answers; of each function in `changes`, one text is replaced by another."""
        notebook = copy.deepcopy(notebook)
        write_answers(notebook, solved, changes)
        return notebook

    def find(notebook, grade_id):
        return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)

    # Importing Matplotlib takes as long as all checks of a notebook, so only one student keeps the plots.
    made = {"right": solve(released), "stub": copy.deepcopy(without_plots)}
    made["wrong"] = solve(softmax=("/ float(temperature)", "* float(temperature)"))
    made["warning"] = solve(softmax=("# mine", "np.log(np.zeros(1))"))
    made["syntax"] = solve(log_softmax=("axis=-1):", "axis=-1)"))
    made["loop"] = solve(cross_entropy=("# mine", "while True: pass"))
    made["copied"] = solve()
    for grade_id in ("softmax", "softmax-solution", "given-1"):
        made["copied"].cells.append(copy.deepcopy(find(made["copied"], grade_id)))
    made["deleted"] = solve()
    made["deleted"].cells.remove(find(made["deleted"], "softmax"))
    made["stripped"] = solve()
    made["garbled"] = solve()
    for cell in made["stripped"].cells:
        cell.metadata.pop("nbgrader", None)
    for cell in made["garbled"].cells:
        cell.metadata["nbgrader"] = {"schema_version": 3, "grade": "yes"}
    made["display"] = solve()
    display = "%time np.ones(3)\n!echo shell\nsoftmax(np.ones(3))\nprint('[b, t]')\nnp.ones?"
    made["display"].cells[-1:-1] = [nbformat.v4.new_code_cell(text) for text in (display, "1 / 0", "np.log(-1.0)")]
    made["one_cell"] = copy.deepcopy(without_plots)
    everything = "\n\n".join(text for grade_id, text in solved.items() if grade_id.endswith("-solution"))
    made["one_cell"].cells.insert(3, nbformat.v4.new_code_cell(everything))
    return made


def write_submissions(course):
    """Write all submissions, also those that nbgrader cannot grade."""
    for student, notebook in submissions(course).items():
        folder = course / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        for cell in notebook.cells:  # editors give every cell a new id
            cell["id"] = nbformat.v4.new_code_cell()["id"]
        nbformat.write(notebook, folder / f"{ASSIGNMENT}.ipynb")
    submitted = course / "submitted"
    for student in NOT_GRADED_BY_NBGRADER:
        (submitted / student / ASSIGNMENT).mkdir(parents=True)
    text = (submitted / "right" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8")
    (submitted / "unreadable" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").write_text(text[: len(text) // 2], "utf-8")
    dying = nbformat.reads(text, as_version=4)
    dying.cells.insert(3, nbformat.v4.new_code_cell("import os\nos._exit(1)"))
    nbformat.write(dying, submitted / "dies" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
