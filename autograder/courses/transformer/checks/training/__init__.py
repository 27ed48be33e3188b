"""Checks of `training`: training."""
