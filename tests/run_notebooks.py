"""Run notebooks in their folders, in a process of its own: Jupyter's warnings are not ours to turn into errors.

python run_notebooks.py NOTEBOOK...     standard output: per notebook, per code cell, source and outputs as JSON
"""

import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def run(path: Path) -> list[dict[str, object]]:
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, allow_errors=True, resources=resources).execute()
    return [
        {"source": c.source, "nbgrader": c.metadata.get("nbgrader", {}), "outputs": c.outputs}
        for c in notebook.cells
        if c.cell_type == "code"
    ]


if __name__ == "__main__":
    print(json.dumps({name: run(Path(name)) for name in sys.argv[1:]}))
