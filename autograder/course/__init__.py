"""Courses: their model (`model.py`), where they are found (`registry.py`), and stubs from solutions (`stubs.py`).

Checks, reports, stubs and the command line take the names of assignments and functions from here.
"""

from autograder.course.model import CACHES, FIGURES, Assignment, Curriculum, Function, Output, Plot

__all__ = ["CACHES", "FIGURES", "Assignment", "Curriculum", "Function", "Output", "Plot"]
