"""Mistakes with names."""
