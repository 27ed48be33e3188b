"""Families of mistakes."""
