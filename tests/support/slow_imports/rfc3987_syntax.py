"""Stands before the real module on the path of nbgrader's and Jupyter's processes; see core/slow_imports.py."""

raise ImportError("not needed, and slow")
