"""Explain common exceptions of Python and NumPy to somebody who meets them for the first time."""

import re

from autograder.errors import StudentException

_SHAPE = re.compile(r"\(([\d,]*)\)")

# The types (*: any) and a pattern of the message (none: any message), and below them the hint. The first match counts.
_TABLE = """
IndexError: indexing arrays could not be broadcast
    arrays of indices that are used together need the same shape, or shapes that broadcast
IndexError|AxisError|ValueError: many indices|tuple index|out of bounds for array|axes don't match
    this input does not have the number of axes that the code expects: count axes from the end (-1)
ValueError: values to unpack
    the number of names on the left must equal the number of values: `a, b, c = x.shape` needs an x with 3 axes
IndexError: boolean index did not match
    a boolean index must have the shape of the array; np.where and np.copyto broadcast it instead
IndexError: out of bounds for axis
    the index is past the end: the last one is the size minus 1. Or is it the wrong axis? Look at the input
IndexError: arrays used as indices must be of integer
    indices must be integers, not floats
IndexError: list index out of range
    the index is past the end: the last one is the length minus 1
ValueError: truth value of an array
    an array has many truth values: `x is not None` tests whether it was given, .any() and .all() test its values
TypeError: only (length-1|0-dimensional|size-1) arrays
    a single number is needed, but the array has several: is a sum or a mean missing?
ValueError: setting an array element
    several numbers do not fit into one element of an array: compare the shapes
ValueError: matmul: .*mismatch in its core dimension|shapes .* not aligned
    in a @ b, the last axis of a must be as long as the second-to-last of b: print both shapes
ValueError: cannot reshape array
    the new shape must hold as many numbers as the old one
ValueError: could not broadcast input array
    the value on the right does not fit into the slice on the left: compare the shapes
*: Cannot cast ufunc
    x -= … and x /= … write into x, but an array of integers cannot hold floats: create a new array
ValueError: must have the same number of dimensions
    both arrays need the same number of axes: ids[..., None] adds a last axis of length 1
ValueError: read-only
    this array must not be changed: work on a copy
TypeError: '?NoneType'?
    something is None: an optional argument, or the answer of a function (is `return` missing there?)
TypeError: slice indices must be integers
    a slice needs integers: int(…) converts a float
TypeError: cannot be interpreted as an integer
    an integer is needed: int(…) converts a float, and several axes must be a tuple
TypeError: unexpected keyword argument '(dim|keepdim)'
    these are PyTorch's names: NumPy calls them axis and keepdims
TypeError: unexpected keyword argument|positional arguments? but|required positional argument
    a function is called with arguments that it does not accept: do not change the first line of a stub
SyntaxError: null bytes
    the file is not UTF-8 text, but perhaps UTF-16: save it as UTF-8 (in VS Code: "Save with Encoding")
AttributeError: '(list|tuple)' object has no attribute
    np.asarray(…) converts a list to an array
NameError: name 'np'
    import numpy as np is missing at the top of the file
NameError: is not defined
    Python does not know this name: a typo, a missing import, or a function that is not written yet?
UnboundLocalError
    this function assigns the variable, but not before this line
ModuleNotFoundError
    a submission may import only NumPy, regex, the standard library and its own modules
OSError: File too large
    the code was stopped because it printed too much: remove the print, or move it out of the loop
EOFError: reading a line
    input() gets no answer here: everything the function needs is in its arguments
BdbQuit
    breakpoint() does not work here because nobody can type: remove it, and print values instead
RecursionError
    the function keeps calling itself
KeyError
    the dictionary has no such key: compare it with those that are there, or test for it with `name in d`
"""
_LINES = _TABLE.strip().splitlines()
_ENTRIES = [(*entry.partition(": ")[::2], hint.strip()) for entry, hint in zip(_LINES[::2], _LINES[1::2], strict=True)]
HINTS = [(types.split("|"), pattern, hint) for types, pattern, hint in _ENTRIES]


def hint_for_exception(exception: StudentException) -> str | None:
    """Return a hint on the usual cause of the exception, or None."""
    if exception.type == "ValueError" and "could not be broadcast together" in exception.message:
        return _broadcast_hint(exception.message)
    for types, pattern, hint in HINTS:
        if (exception.type in types or types == ["*"]) and re.search(pattern, exception.message):
            return hint
    return None


def _broadcast_hint(message: str) -> str:
    shapes = [tuple(filter(None, shape.split(","))) for shape in _SHAPE.findall(message)]
    if len(shapes) == 2:
        short, long = sorted(shapes, key=len)
        if len(short) == len(long) - 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long))):
            return "one of them has an axis less; if max, sum or mean removed it, keepdims=True keeps it, with length 1"
    return "shapes are aligned from the right: two lengths must be equal, or one of them must be 1"
