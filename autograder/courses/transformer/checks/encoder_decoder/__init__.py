"""Checks of assignment 12: the encoder–decoder."""
