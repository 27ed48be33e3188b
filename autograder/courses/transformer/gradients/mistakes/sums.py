"""Mistakes in `gradients`: undoing broadcasting."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_TWO_STEPS = """
    added = grad.ndim - len(shape)
    for _ in range(added):
        grad = grad.sum(axis=0)
    for axis, length in enumerate(shape):
        if length == 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad
"""
_ADDED = "grad = grad.sum(axis=0)"
_REPEATED = "grad = grad.sum(axis=axis, keepdims=True)"

mistake = MISTAKES.for_functions("gradients.sum_to_shape")
mistake("repeated-not-summed", f"            {_REPEATED}\n", "            pass\n", common=True).body(
    _TWO_STEPS
).explain("""
    axes of length 1 that were repeated were not summed
    why: Broadcasting also repeats an axis of length 1. All its copies contribute to the one entry.
    ask: What is the shape of a column (3, 1) after it was added to a matrix (3, 4)? What happened to its axis 1?""")
mistake(
    "added-not-summed", f"        {_ADDED}\n", "        pass\n", "axis=axis, ", "axis=added + axis, ", common=True
).body(_TWO_STEPS).explain("""
    axes that were added in front were not summed
    why: Broadcasting adds missing axes in front. All their copies contribute to the one entry, and the axes disappear.
    ask: How many axes does your result have? How many should it have?""")
mistake("one-added-axis-only", "for _ in range(added):", "if added > 0:", common=True).body(_TWO_STEPS).explain("""
    only one of the axes that were added in front was summed
    why: Broadcasting may add several axes. An `if` runs once; a loop runs as often as needed.
    ask: How many axes were added when a vector was added to an array with four axes?""")
mistake("one-repeated-axis-only", _REPEATED, f"{_REPEATED}\n            break").body(_TWO_STEPS).explain("""
    only the first axis of length 1 was summed
    why: Broadcasting may repeat several axes of length 1. The copies along each of them are summed.
    ask: Which axes have to be summed for the shape (1, 3, 1)? Which of them does your code find?""")
mistake("axes-kept", ").reshape(shape)", ", keepdims=True)").explain("""
    axes that were added in front were kept, with length 1
    why: They did not exist before broadcasting, so they disappear. Only the axes of `shape` stay.
    ask: How many axes does your result have? How many should it have?""")
mistake("axes-dropped", ".reshape(shape)", "", common=True).explain("""
    repeated axes were removed by the sum: they should stay, with length 1
    why: The result must have exactly the shape from before broadcasting, in which these axes have length 1.
    ask: What is the shape of your result for a column (3, 1)? Which argument of sum keeps an axis?""")
mistake("mean-not-sum", "grad.sum(", "grad.mean(", common=True).explain("""
    the mean over the copies was taken, not the sum
    why: Every copy contributes in full: if the entry rises by h, all copies rise by h.
    ask: b is added to each of 4 rows. If b rises by 1, by how much does the sum of all entries rise?""")
_FIRST = (_ADDED, "grad = grad[0]", _REPEATED, "grad = grad.take([0], axis)")
mistake("first-copy", *_FIRST).body(_TWO_STEPS).explain("""
    the first of the copies was taken, not the sum of all
    why: Every copy contributes in full: if the entry rises by h, all copies rise by h.
    ask: b is added to each of 4 rows. Which of the rows depend on b?""")
mistake(
    "axes-shift-in-the-loop",
    "for _ in range(added):",
    "for axis in range(added):",
    _ADDED,
    "grad = grad.sum(axis=axis)",
).body(_TWO_STEPS).explain("""
    the axes in front were summed one after the other with growing numbers, but each sum removes an axis
    why: After axis 0 has been summed, the axis that was number 1 has number 0.
    ask: What is the shape after the first sum? Which axis has to be summed next?""")
mistake("whole-sum-if-broadcast").body("""
    if grad.shape == shape:
        return grad
    return np.full(shape, grad.sum(), dtype=grad.dtype)
""").explain("""
    if anything was broadcast, everything was summed, and every entry got the same number
    why: Each entry gets the sum over its own copies only.
    ask: b_j is added in column j. Which entries of the gradient belong to it?""")
mistake("sum-without-axes", "(*range(added), *repeated)", "(*range(added), *repeated) or None").explain("""
    if there was nothing to sum, the whole array was summed
    why: axis=None means all axes; an empty tuple means none.
    ask: What does your code do if the shape before and after broadcasting is the same?""")
mistake(
    "always-float64", "=(*range(added), *repeated)", "=(*range(added), *repeated), dtype=np.float64", common=True
).explain("""
    the result is float64 even when the gradient is float32
    why: float32 should stay float32. np.zeros creates float64 arrays unless a dtype is given.
    ask: What is the dtype of your result when grad is float32? Which line causes it?""")
mistake(
    "either-or", "return grad.sum", "if added:\n        return grad.sum(axis=tuple(range(added)))\n    return grad.sum"
).explain("""
    axes of length 1 were summed only where no axes had been added in front
    why: Broadcasting can do both at once: (4, 1, 3) becomes (5, 4, 2, 3).
    ask: Which of the two steps does your code take for a gradient (5, 4, 2, 3) and the shape (4, 1, 3)?""")
