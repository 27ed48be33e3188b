"""Imports SciPy and uses its log_softmax.

Held by: process
Right: 0 points
"""

from scipy.special import log_softmax
