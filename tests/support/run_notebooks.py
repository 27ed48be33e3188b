"""Run notebooks in their folders, in a separate process, where Jupyter's warnings do not become errors of a test.

    python run_notebooks.py [--validate] NOTEBOOK...

Prints JSON: by notebook, the source and the outputs of each code cell. With --validate, the notebooks are run by
nbgrader's validator with the settings of their course, and its verdict is added (empty if the notebook is valid).
"""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.core.interpreter import skip_slow_imports

skip_slow_imports()

import nbformat  # noqa: E402
from nbclient import NotebookClient  # noqa: E402
from traitlets.config import Config  # noqa: E402


def run(path: Path) -> dict[str, object]:
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    with kernel_sockets() as config:
        NotebookClient(notebook, timeout=500, allow_errors=True, resources=resources, config=config).execute()
    return {"cells": code_cells(notebook)}


def validate(path: Path) -> dict[str, object]:
    from nbgrader.validator import Validator
    from traitlets.config import PyFileConfigLoader

    executed = []

    class RecordingValidator(Validator):
        def _preprocess(self, nb):
            executed.append(super()._preprocess(nb))
            return executed[-1]

    # The course is three folders above its notebook.
    settings = PyFileConfigLoader("nbgrader_config.py", path=str(path.parents[2])).load_config()
    with kernel_sockets() as config:
        settings.merge(config)
        verdict = RecordingValidator(config=settings).validate(str(path))
    return {"cells": code_cells(executed[0]), "verdict": verdict}


@contextlib.contextmanager
def kernel_sockets() -> Iterator[Config]:
    """Settings with which a kernel listens on files: before it has its TCP ports, another process may take them."""
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        yield Config(KernelManager={"transport": "ipc", "ip": f"{folder}/socket"})


def code_cells(notebook):
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [{"source": c.source, "nbgrader": c.metadata.get("nbgrader", {}), "outputs": c.outputs} for c in code]


if __name__ == "__main__":
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # several kernels run at the same time
    names = sys.argv[1:]
    run_one = validate if names[0] == "--validate" else run
    print(json.dumps({name: run_one(Path(name)) for name in names if not name.startswith("--")}))
