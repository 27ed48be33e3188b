"""Brings modules with the names of NumPy, of the standard library and of the harness.

Held by: process
Right: full points
"""

import random
import json

import numpy

for module in (numpy, random, json):
    if getattr(module, "HOSTILE", False):
        print("BREACH:", module.__name__)
