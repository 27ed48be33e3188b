"""Checks of assignment 11: generation."""
