"""Edit a notebook as a student would in JupyterLab: functions are written, cells are added, outputs are saved."""

import json
import re
from pathlib import Path

from autograder.course.stubs import bundled
from autograder.workspace.function_source import function_with_helpers, replace_function


def solved(module, function):
    """Return the official solution of a function with its private helpers."""
    return function_with_helpers((bundled("solutions") / f"{module}.py").read_text("utf-8"), function)


def notebook(*cells, **more):
    """Return a notebook with these cells, as bytes; a text is a cell of code."""
    cells = [{"cell_type": "code", "source": cell} if isinstance(cell, str) else cell for cell in cells]
    return json.dumps({"cells": cells, "nbformat": 4, **more}).encode()


def edit_cells(path, change):
    """Save a notebook in which `change` has been called with each cell; it may change the cell in place."""
    notebook = json.loads(Path(path).read_text("utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        change(cell)
    Path(path).write_text(json.dumps(notebook, indent=1), "utf-8")


def write_functions(path, *functions, text=None):
    """Write functions into the cells of a notebook: the official solutions, or `text`."""
    module = Path(path).stem

    def write(cell):
        for name in functions:
            if cell["cell_type"] == "code" and re.search(rf"(?m)^def {name}\(", cell["source"]):
                cell["source"] = replace_function(cell["source"], name, text or solved(module, name))

    edit_cells(path, write)


def write_functions_in_file(path, *functions):
    """Write the official solutions of functions into a file."""
    text = Path(path).read_text("utf-8")
    for name in functions:
        text = replace_function(text, name, solved(Path(path).stem, name))
    Path(path).write_text(text, "utf-8")
