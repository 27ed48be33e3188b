"""Draw the pictures of the lessons into `solutions/figures`: `make figures`. With --train, train their model again."""

import sys

from autograder.course import registry
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.models.lesson_figures import trained
from autograder.models.lesson_figures.catalog import FIGURES
from autograder.models.plot_data.function_calls import functions_in_folder

if "--train" in sys.argv[1:]:
    trained.write()
folder = registry.figures(TRANSFORMER.package)
folder.mkdir(exist_ok=True)
with functions_in_folder(bundled("solutions")) as functions:
    for name, draw in FIGURES.items():
        (folder / f"{name}.svg").write_text(draw(functions), "utf-8")
for path in folder.glob("*.svg"):
    if path.stem not in FIGURES:
        path.unlink()
