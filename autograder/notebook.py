"""The former name of `autograder.notebooks.api`, for notebooks that were released before version 0.2."""

from autograder.notebooks.api import check, grade, report

__all__ = ["check", "grade", "report"]
