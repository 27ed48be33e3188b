"""Notebooks: generated from the solutions, and functions found in those that students hand in."""
