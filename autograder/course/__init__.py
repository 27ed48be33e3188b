"""The class: taking submissions in, grading them, writing gradebooks."""
