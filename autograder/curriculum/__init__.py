"""What there is to learn: `course.py` says what a course is made of, `transformer.py` is the kit's own.

Everything that names an assignment or a function reads it here: checks, reports, stubs, the command line.
"""

from autograder.curriculum.model import CACHE, Assignment, Curriculum, Function, Output

__all__ = ["CACHE", "Assignment", "Curriculum", "Function", "Output"]
