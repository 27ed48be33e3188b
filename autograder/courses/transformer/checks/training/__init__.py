"""Checks of assignment 10: training."""
