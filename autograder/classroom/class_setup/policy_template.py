"""Generate a `course.toml` to start from: every key with its default or an example, commented out."""

from importlib.resources import files

from autograder.course import Curriculum


def template(curriculum: Curriculum) -> str:
    """Return the text of a `course.toml` for the assignments of a course."""
    first, *others = curriculum.modules
    function = next(iter(curriculum.functions))
    text = (files("autograder.classroom.class_setup") / "templates" / "course.toml").read_text("utf-8")
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
