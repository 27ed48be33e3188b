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
mistake("nothing-summed").body("return grad").explain("""
    the gradient was returned as it is, without any sum
    why: The result must have the shape from before broadcasting, and each copy contributes to it.
    ask: Which shape should the result have, and which one does yours have?""")
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
mistake("mean-over-added", _ADDED, "grad = grad.mean(axis=0)").body(_TWO_STEPS).explain("""
    the mean over the axes added in front was taken, not the sum
    why: Every copy contributes in full: if the entry rises by h, all copies rise by h.
    ask: b is added to each of 4 rows. If b rises by 1, by how much does the sum of all entries rise?""")
mistake("mean-over-repeated", _REPEATED, "grad = grad.mean(axis=axis, keepdims=True)").body(_TWO_STEPS).explain("""
    the mean over the repeated axes was taken, not the sum
    why: Every copy contributes in full: if the entry rises by h, all copies rise by h.
    ask: A column is added to each of 4 columns. If it rises by 1, by how much does the sum of all entries rise?""")
for name, method, what in (("largest", "max", "largest"), ("smallest", "min", "smallest")):
    mistake(f"{name}-copy", "grad.sum(", f"grad.{method}(").explain(f"""
        the {what} of the copies' gradients was taken, not their sum
        why: Every copy contributes in full: if the entry rises by h, all copies rise by h.
        ask: b is added to each of 4 rows. If b rises by 1, by how much does the sum of all entries rise?""")
for name, added, repeated, what in (
    ("first-copy", "grad = grad[0]", "grad = grad.take([0], axis)", "The first of the copies"),
    ("first-added-copy", "grad = grad[0]", _REPEATED, "Of the axes added in front, the first copy"),
    ("first-repeated-copy", _ADDED, "grad = grad.take([0], axis)", "Of the repeated axes, the first copy"),
    ("last-copy", "grad = grad[-1]", "grad = grad.take([-1], axis)", "The last of the copies"),
):
    mistake(name, _ADDED, added, _REPEATED, repeated).body(_TWO_STEPS).explain(f"""
        {what[0].lower()}{what[1:]} was taken, not the sum of all
        why: Every copy contributes in full: if the entry rises by h, all copies rise by h.
        ask: b is added to each of 4 rows. Which of the rows depend on b?""")
mistake("repeated-axes-not-shifted", "added + i for", "i for").explain("""
    the axes of length 1 were counted in `shape`, but summed in `grad`, which has more axes in front
    why: Axis 0 of the shape before is a later axis of the gradient if axes were added in front.
    ask: The shape (4, 1) was broadcast to (5, 4, 3). Which axis of the gradient belongs to the 1?""")
mistake("aligned-on-the-left").body("""
    for axis in range(grad.ndim - 1, len(shape) - 1, -1):
        grad = grad.sum(axis=axis)
    for axis, length in enumerate(shape):
        if length == 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad
""").explain("""
    the last axes were summed, not the ones in front
    why: Broadcasting aligns shapes on the right: missing axes are added in front. With a square matrix the shape is
         right, but the values are not.
    ask: A vector (3,) is added to a matrix (2, 3): along which axis is it repeated?""")
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
mistake("whole-sum").body("return np.full(shape, grad.sum(), dtype=grad.dtype)").explain("""
    everything was summed, and every entry got the same number
    why: Each entry gets the sum over its own copies only.
    ask: b_j is added in column j. Which entries of the gradient belong to it?""")
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
for name, code, which in (
    ("first", "grad = grad.sum(axis=axis, keepdims=True)\n            break", "first"),
    ("last", "last = axis", "last"),
):
    body = _TWO_STEPS.replace(_REPEATED, code)
    if name == "last":
        body = body.replace("    return grad", "    return grad.sum(axis=last, keepdims=True)").replace(
            "    added =", "    last = ()\n    added ="
        )
    mistake(f"{name}-repeated-axis-only").body(body).explain(f"""
        only the {which} of the repeated axes was summed
        why: Several axes may have length 1, and each of them may have been repeated.
        ask: How many axes of (1, 3, 1) were repeated when it was broadcast to (2, 3, 4)?""")
mistake("last-repeated-axis-ignored", "enumerate(shape) if", "enumerate(shape[:-1]) if").explain("""
    the last axis was never summed
    why: The last axis may have length 1, too, as in a column (3, 1).
    ask: For the shape (3, 1), which axes does your code look at?""")
mistake(
    "first-repeated-axis-ignored",
    "for axis, length in enumerate(shape):",
    "for axis, length in enumerate(shape[1:], 1):",
).body(_TWO_STEPS).explain("""
    the first axis of the shape was never summed
    why: The first axis may have length 1, too, as in a row (1, 3).
    ask: For the shape (1, 3), which axes does your code look at?""")
mistake(
    "axes-of-the-gradient",
    "repeated = tuple(added + i for i, length in enumerate(shape) if length == 1)",
    "repeated = tuple(i for i in range(added, grad.ndim) if grad.shape[i] == 1)",
).explain("""
    the axes of length 1 were looked for in the gradient, not in `shape`
    why: In the gradient, which has the shape after broadcasting, a repeated axis is longer than 1.
    ask: The shape (2, 1) was broadcast to (2, 3). Where do you see that axis 1 was repeated?""")
mistake("cut-to-size").body("return np.resize(grad, shape)").explain("""
    the gradient was cut to the shape, not summed
    why: np.resize keeps the first entries and drops the others. All copies contribute.
    ask: What should happen to the entries that do not fit into the smaller shape?""")
mistake("reshaped-only").body("return grad.reshape(shape)").explain("""
    the gradient was only reshaped, not summed
    why: A reshape keeps the number of entries. What was repeated has to be summed.
    ask: How many entries does the gradient have after broadcasting, and how many before?""")
mistake("broadcast-again").body("return np.broadcast_to(grad, shape)").explain("""
    the gradient was broadcast to the shape, not summed
    why: That is the forward direction. Going back, the many copies become one again.
    ask: Which of the two shapes is the larger one: that of grad, or `shape`?""")
mistake("sum-or-nothing").body("""
    if grad.shape == shape:
        return grad
    return grad.sum(axis=0).reshape(shape)
""").explain("""
    only the first axis was ever summed
    why: Which axes were repeated depends on the two shapes. A column (3, 1) was repeated along its last axis.
    ask: Write the two shapes below each other, aligned on the right. In which axes do they differ?""")
mistake(
    "always-float64",
    "grad.sum(axis=(*range(added), *repeated))",
    "grad.sum(axis=(*range(added), *repeated), dtype=np.float64)",
    common=True,
).explain("""
    the result is float64 even when the gradient is float32
    why: float32 should stay float32. np.zeros creates float64 arrays unless a dtype is given.
    ask: What is the dtype of your result when grad is float32? Which line causes it?""")
mistake("always-float32", ".reshape(shape)", ".reshape(shape).astype(np.float32)").explain("""
    the result is float32 even when the gradient is float64
    why: float64 should stay float64. float32 keeps only about seven digits.
    ask: Which of your lines chooses the dtype of the result?""")
mistake("sign", "return grad.sum", "return -grad.sum").explain("""
    the sign is reversed
    why: Every copy contributes with the factor 1.
    ask: If b rises by h, does the sum of a table and b rise or fall?""")
mistake(
    "averaged-by-length", ".reshape(shape)", ".reshape(shape) / np.float32(grad.shape[0] if grad.ndim else 1)"
).explain("""
    the sum was divided by the length of the first axis
    why: If the loss is a mean over the batch, the upstream gradient already includes that factor.
    ask: Which factors does the definition have?""")
