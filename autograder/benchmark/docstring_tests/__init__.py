"""Plain tests, written from the docstrings of the assigned functions alone, as the author of a course writes them.

Each function `test_NAME` tests the function NAME of the assignment that its file is named after. Its argument `m` has
the functions of the assignment as attributes. Nothing is passed on but a failed assertion or another exception. Values
are compared by `numpy.allclose` with its default tolerances, and the expected ones come from plain NumPy, from numbers
worked out by hand, or from difference quotients. The list of known mistakes was not used.
"""
