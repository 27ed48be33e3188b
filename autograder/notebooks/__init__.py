"""Notebooks: generating them from the solutions, and reading the functions out of submitted ones."""
