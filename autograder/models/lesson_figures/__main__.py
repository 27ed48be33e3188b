"""Draw the pictures of the lessons into `solutions/figures`: `make figures`. With --train, train their model again."""

import sys

from autograder.course import registry
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.models.lesson_figures import pictures, trained
from autograder.models.plot_data import functions_in_folder

if "--train" in sys.argv[1:]:
    trained.write()
folder = registry.figures(TRANSFORMER.package)
folder.mkdir(exist_ok=True)
with functions_in_folder(bundled("solutions")) as functions:
    drawn = {f"{name}.svg": picture(functions) for name, picture in pictures().items()}
for path in folder.glob("*.svg"):
    if path.name not in drawn:
        path.unlink()
for name, text in drawn.items():
    (folder / name).write_text(text, "utf-8")
