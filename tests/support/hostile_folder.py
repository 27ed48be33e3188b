"""A folder of files that would run if Python, or a tool, loaded them from the current folder.

Each writes its name and its process's command line to a file of marks, and then behaves like the real module.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

# Every module that an interpreter, Headway or a tool that it uses may import.
OTHERS = ("autograder", "click", "conftest", "distributed", "jinja2", "matplotlib", "msgspec", "nbgrader", "numpy")
MORE = ("platformdirs", "pytest", "regex", "rich", "sitecustomize", "starlette", "torch", "usercustomize", "uvicorn")
MODULES = (*sorted(sys.stdlib_module_names), *OTHERS, *MORE)
# Settings that are programs, for applications of Jupyter.
PROGRAMS = ("ipython_config", "ipython_kernel_config", "jupyter_config", "jupytext_config", "nbgrader_config")

CODE = """\
import os
import sys

if not sys.flags.isolated:  # Only the student's own process is, which may load what was submitted.
    with open({marks!r}, "a") as file:
        print("{name}", *sys.orig_argv[1:], file=file)
here, path = os.path.dirname(os.path.abspath(__file__)), sys.path
sys.path = [place for place in path if os.path.abspath(place) != here]
module = sys.modules.pop(__name__, None)
try:
    __import__(__name__)
except ImportError:
    sys.modules[__name__] = module
sys.path = path
"""

PYTEST = "pythonpath = .\naddopts = -p hostile_plugin\n"
# Each of these makes a tool load one of the modules.
SETTINGS = {
    "pytest.ini": f"[pytest]\n{PYTEST}",
    "tox.ini": f"[pytest]\n{PYTEST}",
    "setup.cfg": f"[tool:pytest]\n{PYTEST}",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = "."\naddopts = "-p hostile_plugin"\n'
    '[tool.alembic]\nversion_locations = ["."]\nprepend_sys_path = ["."]\n',
    "alembic.ini": "[alembic]\nscript_location = .\nprepend_sys_path = .\n",
    "hostile.pth": "import hostile_plugin\n",
    "pyvenv.cfg": "home = .\ninclude-system-site-packages = true\n",
}
WARNED_OF = "matplotlibrc"  # matplotlib names the file in which it finds an unknown setting.


def write_modules(folder: Path, marks: Path, names: Iterable[str] = MODULES) -> None:
    """Write hostile modules, which note their name and command line in the file `marks`."""
    for name in names:
        (folder / f"{name}.py").write_text(CODE.format(marks=str(marks), name=name))


def write_all(folder: Path, marks: Path) -> None:
    """Write all hostile modules and settings."""
    (folder / "tests").mkdir()
    write_modules(folder, marks, (*MODULES, *PROGRAMS, "hostile_plugin", "tests/conftest"))
    for name, text in SETTINGS.items():
        (folder / name).write_text(text)
    (folder / WARNED_OF).write_text("hostile.setting: 1\n")
