"""Checks of `gpt2`."""
