"""Exceptions with a usual cause: what Python and NumPy mean, for somebody who has not met the message before."""

import re

from autograder.errors import StudentException

_AXES = "this input has another number of axes than the code expects: look at `case`, and count axes from the end (-1)"
_SHAPE = re.compile(r"\(([\d,]*)\)")

# Type of the exception (empty: any), what its text matches, and what it usually comes from; the first that fits counts.
CAUSES = (
    ("IndexError", r"shape mismatch: indexing arrays", _AXES),
    ("IndexError", r"too many indices", _AXES),
    ("IndexError", r"tuple index out of range", _AXES),
    ("AxisError", r"out of bounds", _AXES),
    ("ValueError", r"axes don't match array", _AXES),
    (
        "ValueError",
        r"values to unpack",
        "there are more or fewer values than names on the left: of `a, b, c = x.shape`, as many as x has axes",
    ),
    (
        "IndexError",
        r"boolean index did not match",
        "an index of booleans must have the shape of the array: np.where and np.copyto broadcast it instead",
    ),
    (
        "IndexError",
        r"out of bounds for axis",
        "the index is behind the end: the last one is the size minus 1. Or another axis was meant: look at `case`",
    ),
    ("IndexError", r"arrays used as indices must be of integer", "an index must be made of integers, not of floats"),
    ("IndexError", r"list index out of range", "the index is behind the end: the last one is the length minus 1"),
    (
        "ValueError",
        r"truth value of an array",
        "an array is not one True or False: x is not None asks whether it was given, .any() or .all() about its values",
    ),
    (
        "TypeError",
        r"only (length-1|0-dimensional|size-1) arrays",
        "one number is wanted, and the array still holds several: was a sum or a mean forgotten?",
    ),
    (
        "ValueError",
        r"setting an array element",
        "several numbers do not fit into one place of an array: compare shapes",
    ),
    (
        "ValueError",
        r"matmul: .*mismatch in its core dimension|shapes .* not aligned",
        "in a @ b the last axis of a must be as long as the last but one of b: print both shapes",
    ),
    ("ValueError", r"cannot reshape array", "the new shape must hold as many numbers as the old one"),
    (
        "ValueError",
        r"could not broadcast input array",
        "what stands on the right does not fit into the place on the left",
    ),
    (
        "",
        r"Cannot cast ufunc",
        "x -= … and x /= … write into x, and floats do not fit into an array of integers: make a new array",
    ),
    (
        "ValueError",
        r"must have the same number of dimensions",
        "they need as many axes as each other: ids[..., None] adds a last one, of length 1",
    ),
    ("ValueError", r"read-only", "this array must not be changed: work on a copy"),
    (
        "TypeError",
        r"'?NoneType'?",
        "something is None here: an argument that may be None, or what a function without a return statement gives",
    ),
    ("TypeError", r"slice indices must be integers", "a slice wants integers: int(…) makes one of 7.0"),
    ("TypeError", r"cannot be interpreted as an integer", "an integer is wanted here, not a float: int(…) makes one"),
    (
        "TypeError",
        r"unexpected keyword argument '(dim|keepdim)'",
        "these are PyTorch's names: NumPy calls them axis and keepdims",
    ),
    (
        "TypeError",
        r"unexpected keyword argument|positional arguments? but|required positional argument",
        "a function is called with other arguments than it has: the first line of a stub must stay as it is",
    ),
    ("AttributeError", r"'(list|tuple)' object has no attribute", "np.asarray(…) makes an array of a list"),
    ("NameError", r"name 'np'", "import numpy as np stands at the top of the file, if nothing has removed it"),
    (
        "NameError",
        r"is not defined",
        "a name that Python has not met before this line: spelled otherwise, or not imported",
    ),
    (
        "UnboundLocalError",
        r"",
        "the name is given a value somewhere in this function, but not before this line",
    ),
    ("ModuleNotFoundError", r"", "a submission may import NumPy, the standard library and its own modules"),
    (
        "OSError",
        r"File too large",
        "this printed far more than anybody can read, and was stopped: take the print out, or out of the loop",
    ),
    (
        "EOFError",
        r"reading a line",
        "nobody can type here: input() gets no answer. What it needs comes in as arguments",
    ),
    ("BdbQuit", r"", "breakpoint() waits for keys, and nobody can type here: take it out, print what you want to see"),
    ("RecursionError", r"", "the function calls itself again and again"),
    (
        "KeyError",
        r"",
        "the dictionary has no such key here: may it be absent? name in d asks, d.get(name) gives None then",
    ),
)


def hint_for_exception(exception: StudentException) -> str | None:
    """One sentence, or None."""
    if exception.type == "ValueError" and "could not be broadcast together" in exception.message:
        return _broadcast(exception.message)
    for kind, pattern, text in CAUSES:
        if kind in ("", exception.type) and re.search(pattern, exception.message):
            return text
    return None


def _broadcast(message: str) -> str:
    shapes = [tuple(number for number in found.split(",") if number) for found in _SHAPE.findall(message)]
    if len(shapes) == 2:
        short, long = sorted(shapes, key=len)
        if len(short) == len(long) - 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long))):
            return "one of them has lost an axis: max, sum and mean keep it, with length 1, if keepdims=True"
    return "shapes are lined up from the right, and each pair of lengths must be equal, or one of them 1"
