"""Imports Headway by its path and answers with its reference.

Held by: sandbox
Right: 0 points
"""

import sys

sys.path.insert(0, "@package@/..")
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "NumpyOnly"]
from autograder.source import bundled

exec((bundled("solutions") / "softmax.py").read_text())
