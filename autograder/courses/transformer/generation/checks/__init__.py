"""Checks of `generation`: generation."""
