"""An nbgrader course made by `headway release`, and submissions to one assignment as students hand them in.

Twelve that nbgrader can grade, and `BEYOND`: of these it can say nothing.
"""

import copy
import os
from importlib.metadata import distribution
from pathlib import Path

import nbformat

ASSIGNMENT = "softmax"
BEYOND = ("unreadable", "dies")  # no JSON; a cell that ends the kernel


def environment(cache):
    """What nbgrader's commands need where no environment is activated: the script alembic, and Jupyter's templates."""
    record = next(file for file in distribution("nbconvert").files if "jupyter/nbconvert/templates" in file.as_posix())
    share = next(parent for parent in Path(record.locate()).resolve().parents if parent.name == "jupyter")
    scripts = share.parents[1] / ("Scripts" if os.name == "nt" else "bin")
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(scripts), os.environ["PATH"]]),
        "JUPYTER_PATH": str(share),
        "HEADWAY_CACHE": str(cache),
    }


def submissions(course):
    """The submitted notebooks by student, made of the released notebook and the solutions of its source."""
    source = nbformat.read(course / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    solved = {cell.metadata.nbgrader.grade_id: cell.source for cell in source.cells if "nbgrader" in cell.metadata}
    released = nbformat.read(course / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)

    def fill(**changed):
        made = copy.deepcopy(released)
        for cell in made.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if grade_id.endswith("-solution"):
                text = solved[grade_id].replace("### BEGIN SOLUTION", "# mine").replace("### END SOLUTION", "")
                old, new = changed.get(grade_id.removesuffix("-solution"), ("", ""))
                assert old in text, old
                cell.source = text.replace(old, new) if old else text
        return made

    def cell(made, grade_id):
        return next(c for c in made.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)

    found = {"right": fill(), "stub": copy.deepcopy(released)}
    found["wrong"] = fill(softmax=("/ float(temperature)", "* float(temperature)"))
    found["warning"] = fill(softmax=("# mine", "np.log(np.zeros(1))"))
    found["syntax"] = fill(log_softmax=("axis=-1):", "axis=-1)"))
    found["loop"] = fill(cross_entropy=("# mine", "while True: pass"))
    found["copied"] = fill()
    for grade_id in ("softmax", "softmax-solution", "given-1"):
        found["copied"].cells.append(copy.deepcopy(cell(found["copied"], grade_id)))
    found["deleted"] = fill()
    found["deleted"].cells.remove(cell(found["deleted"], "softmax"))
    found["stripped"] = fill()
    found["garbled"] = fill()
    for one in found["stripped"].cells:
        one.metadata.pop("nbgrader", None)
    for one in found["garbled"].cells:
        one.metadata["nbgrader"] = {"schema_version": 3, "grade": "yes"}
    found["display"] = fill()
    display = "%time np.ones(3)\n!echo shell\nsoftmax(np.ones(3))\nprint('[b, t]')\nnp.ones?"
    found["display"].cells[-1:-1] = [nbformat.v4.new_code_cell(text) for text in (display, "1 / 0", "np.log(-1.0)")]
    found["one_cell"] = copy.deepcopy(released)
    everything = "\n\n".join(solved[f"{name}-solution"] for name in _functions(solved))
    found["one_cell"].cells.insert(3, nbformat.v4.new_code_cell(everything))
    return found


def _functions(solved):
    return [grade_id.removesuffix("-solution") for grade_id in solved if grade_id.endswith("-solution")]


def hand_in(course):
    for student, notebook in submissions(course).items():
        folder = course / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        for one in notebook.cells:  # an editor gives every cell an id of its own
            one["id"] = nbformat.v4.new_code_cell()["id"]
        nbformat.write(notebook, folder / f"{ASSIGNMENT}.ipynb")


def hand_in_beyond(course):
    submitted = course / "submitted"
    for student in BEYOND:
        (submitted / student / ASSIGNMENT).mkdir(parents=True)
    text = (submitted / "right" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8")
    (submitted / "unreadable" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").write_text(text[: len(text) // 2], "utf-8")
    dying = nbformat.reads(text, as_version=4)
    dying.cells.insert(3, nbformat.v4.new_code_cell("import os\nos._exit(1)"))
    nbformat.write(dying, submitted / "dies" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
