"""Generate what an instructor starts a class with: a `course.toml`, and a template repository for students.

Sources for the repository: "Workflow syntax" and "Adding a job summary" (docs.github.com, Actions), "Create an
assignment from a template repository" (docs.github.com, GitHub Classroom), and the reference of devcontainer.json
(containers.dev). In GitHub Classroom, an assignment has such a repository; every student gets a copy.
"""

from importlib.resources import files

from autograder.course import Curriculum
from autograder.workspace.create import GITIGNORE

TEMPLATES = files("autograder.classroom.class_setup") / "templates"


def policy_template(curriculum: Curriculum) -> str:
    """Return a `course.toml` for a course: every key with its default or an example, commented out."""
    first, *others = curriculum.modules
    function = next(iter(curriculum.functions))
    text = (TEMPLATES / "course.toml").read_text("utf-8")
    words = {"function": function, "name": function.partition(".")[2], "first": first}
    words["last"] = [first, *others][-1]
    words["others"] = "".join(f"\n# [assignments.{name}]" for name in others)
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", value)
    if not curriculum.is_built_in:
        title = curriculum.title.replace("\\", "").replace('"', "'")
        text = text.replace('title = "Transformers"', f'title = "{title}"')
    if curriculum.is_selection:  # Only these are graded.
        text = text.replace("# [assignments.", "[assignments.")
    return text


def repository_files(curriculum: Curriculum, requirement: str) -> dict[str, str]:
    """Return what the repository holds besides the stubs: a workflow that checks every push, and a devcontainer.

    The result is text by file name; `requirement` is what pip installs.
    """
    modules = ", ".join(f"`{module}.py`" for module in curriculum.modules)
    readme = (TEMPLATES / "student_readme.md").read_text("utf-8")
    workflow = (TEMPLATES / "headway.yml").read_text("utf-8").replace("ASSIGNMENTS", " ".join(curriculum.modules))
    return {
        "README.md": readme.format(title=curriculum.title, modules=modules),
        "requirements.txt": f"{requirement}\n",
        ".gitignore": f".venv/\n.ipynb_checkpoints/\nreport.md\njunit.xml\n{GITIGNORE}",
        ".github/workflows/headway.yml": workflow,
        ".devcontainer/devcontainer.json": (TEMPLATES / "devcontainer.json").read_text("utf-8"),
    }
