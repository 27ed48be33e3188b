"""Graded checks of the course."""
