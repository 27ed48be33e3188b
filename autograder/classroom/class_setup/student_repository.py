"""Generate a template repository for students: stubs, a workflow that checks every push, and a devcontainer.

Sources: "Workflow syntax" and "Adding a job summary" (docs.github.com, Actions), "Create an assignment from a template
repository" (docs.github.com, GitHub Classroom), and the reference of devcontainer.json (containers.dev). In GitHub
Classroom, an assignment has such a repository; every student gets a copy.
"""

from importlib.resources import files

from autograder.course import Curriculum
from autograder.workspace.create import GITIGNORE

_README = """\
# {title}

Write your code in {modules}. Read each file from the top, and replace each `raise NotImplementedError(...)`.

Every push is checked: open the tab "Actions", then the newest run, to see what is right, what is wrong, and which
mistake it is. To get the same report on your own machine, each time you save:

```sh
python -m venv .venv && . .venv/bin/activate      # Windows: .venv\\Scripts\\activate
pip install --requirement requirements.txt
headway
```

`headway hint NAME` gives a hint, `headway --help` lists everything. In a codespace, Headway is already installed.
"""


def repository_files(curriculum: Curriculum, requirement: str) -> dict[str, str]:
    """Return what the repository holds besides the stubs: text by file name; `requirement` is what pip installs."""
    templates = files("autograder.classroom.class_setup") / "templates"
    modules = ", ".join(f"`{module}.py`" for module in curriculum.modules)
    workflow = (templates / "headway.yml").read_text("utf-8").replace("ASSIGNMENTS", " ".join(curriculum.modules))
    return {
        "README.md": _README.format(title=curriculum.title, modules=modules),
        "requirements.txt": f"{requirement}\n",
        ".gitignore": f".venv/\n.ipynb_checkpoints/\nreport.md\njunit.xml\n{GITIGNORE}",
        ".github/workflows/headway.yml": workflow,
        ".devcontainer/devcontainer.json": (templates / "devcontainer.json").read_text("utf-8"),
    }
