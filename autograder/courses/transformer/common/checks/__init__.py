"""Helpers for checks."""
