"""Run notebooks in their folders, in a process of its own: Jupyter's warnings are not ours to turn into errors.

python run_notebooks.py [--validate] NOTEBOOK...

Standard output: per notebook, what ran: per code cell, source and outputs as JSON. With --validate it is run by what
`nbgrader validate` runs, whose verdict (empty: a success) stands beside it.
"""

import json
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def run(path: Path) -> dict[str, object]:
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, allow_errors=True, resources=resources).execute()
    return {"cells": shown(notebook)}


def validate(path: Path) -> dict[str, object]:
    from nbgrader.validator import Validator

    ran = []

    class Watched(Validator):
        def _preprocess(self, nb):
            ran.append(super()._preprocess(nb))
            return ran[-1]

    verdict = Watched().validate(str(path))
    return {"cells": shown(ran[0]), "verdict": verdict}


def shown(notebook):
    return [
        {"source": c.source, "nbgrader": c.metadata.get("nbgrader", {}), "outputs": c.outputs}
        for c in notebook.cells
        if c.cell_type == "code"
    ]


if __name__ == "__main__":
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # more would only wait
    names = sys.argv[1:]
    does = validate if names[0] == "--validate" else run
    print(json.dumps({name: does(Path(name)) for name in names if not name.startswith("--")}))
