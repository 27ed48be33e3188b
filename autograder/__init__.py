"""Headway: learn the transformer by writing it, checked against PyTorch."""

__version__ = "0.1.0"
