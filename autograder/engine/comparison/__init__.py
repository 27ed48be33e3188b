"""Comparison of a student's answer with the reference."""
