"""Generate a template repository for students: stubs, a workflow that checks every push, and a devcontainer.

Sources: "Workflow syntax" and "Adding a job summary" (docs.github.com, Actions), "Create an assignment from a template
repository" (docs.github.com, GitHub Classroom), and the reference of devcontainer.json (containers.dev). In GitHub
Classroom, an assignment has such a repository; every student gets a copy.
"""

from importlib.resources import files

from autograder.course import Curriculum
from autograder.workspace.create import GITIGNORE


def repository_files(curriculum: Curriculum, requirement: str) -> dict[str, str]:
    """Return what the repository holds besides the stubs: text by file name; `requirement` is what pip installs."""
    templates = files("autograder.classroom.class_setup") / "templates"
    modules = ", ".join(f"`{module}.py`" for module in curriculum.modules)
    readme = (templates / "student_readme.md").read_text("utf-8")
    workflow = (templates / "headway.yml").read_text("utf-8").replace("ASSIGNMENTS", " ".join(curriculum.modules))
    return {
        "README.md": readme.format(title=curriculum.title, modules=modules),
        "requirements.txt": f"{requirement}\n",
        ".gitignore": f".venv/\n.ipynb_checkpoints/\nreport.md\njunit.xml\n{GITIGNORE}",
        ".github/workflows/headway.yml": workflow,
        ".devcontainer/devcontainer.json": (templates / "devcontainer.json").read_text("utf-8"),
    }
