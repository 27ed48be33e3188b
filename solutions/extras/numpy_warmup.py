"""A warm-up in NumPy: twelve short exercises. Optional, and not graded."""

# %% [markdown]
# # NumPy in half an hour
#
# The course needs about a dozen habits of NumPy. If you know them, skip this file. Otherwise replace each `UNWRITTEN`
# by one expression and run the file (`python numpy_warmup.py`, or cell by cell): every exercise says whether it is
# right. Answers are at the end.

# %%
import numpy as np

UNWRITTEN = object()  # stands where your answer goes


def verdict(number, answer, expected):
    """Given: print whether an answer is right, and what is expected if it is not."""
    expected = np.asarray(expected)
    if answer is UNWRITTEN:
        print(f"{number:>2}  not written yet")
    elif np.shape(answer) != expected.shape:
        print(f"{number:>2}  wrong: the shape is {np.shape(answer)}, expected {expected.shape}")
    elif not np.allclose(answer, expected):
        print(f"{number:>2}  wrong: expected\n{expected}")
    else:
        print(f"{number:>2}  right")


# %% [markdown]
# ## 1. Shapes
#
# An array has a `shape`, the lengths of its axes; `x.ndim` is the number of axes. Its entries are of one type,
# `x.dtype`: below `float64`, because of the point in `24.0`. `x.astype(np.float32)` converts a copy, and
# `np.zeros_like(x)` makes zeros of the same shape and dtype.
#
# Think of `x` as 2 texts of 3 characters each, with 4 numbers (*features*) for every character. What is the shape of
# one text, `x[0]`? Answer with a tuple, in your head first.

# %%
x = np.arange(24.0).reshape(2, 3, 4)
shape_of_one_text = UNWRITTEN
verdict(1, shape_of_one_text, np.array(x[0].shape))

# %% [markdown]
# ## 2. Operations along an axis
#
# `x.sum(axis=-1)` adds up along the last axis, and that axis is gone: (2, 3, 4) becomes (2, 3). Compute the mean over
# the three characters of each text, so that the result has the shape (2, 4).

# %%
mean_over_positions = UNWRITTEN
verdict(2, mean_over_positions, [[4, 5, 6, 7], [16, 17, 18, 19]])

# %% [markdown]
# ## 3. Broadcasting
#
# Shapes are compared from the right. Axes of the same length match; an axis of length 1, or one that is missing on the
# left, is repeated. So (2, 3) and (3,) match: the row is added to each row. Add 10 to the first column of `table` and
# 20 to the second, without a loop.

# %%
table = np.array([[1.0, 3.0], [2.0, 6.0]])
raised = UNWRITTEN
verdict(3, raised, [[11, 23], [12, 26]])

# %% [markdown]
# ## 4. `keepdims`
#
# The row sums of `table` have the shape (2,), and broadcasting would match them with the *columns*. With
# `keepdims=True`, the sum keeps its axis with length 1: (2, 1), one number per row. Divide each row by its sum.

# %%
shares = UNWRITTEN
verdict(4, shares, [[0.25, 0.75], [0.25, 0.75]])

# %% [markdown]
# ## 5. `None` adds an axis
#
# `v[:, None]` makes a column (3, 1) of a vector (3,), and `v[None, :]` a row (1, 3). A column and a row broadcast to a
# table. Make the multiplication table of `v` with itself, (3, 3).

# %%
v = np.array([1.0, 2.0, 3.0])
products = UNWRITTEN
verdict(5, products, [[1, 2, 3], [2, 4, 6], [3, 6, 9]])

# %% [markdown]
# ## 6. `...` stands for all other axes
#
# `x[..., 0]` is the first feature of every character, whatever axes come before it. Take the last two features of `x`.

# %%
last_two = UNWRITTEN
verdict(6, last_two, [[[2, 3], [6, 7], [10, 11]], [[14, 15], [18, 19], [22, 23]]])

# %% [markdown]
# ## 7. Matrix products in batches
#
# `a @ b` multiplies matrices (tables). The entry in row i and column j of the result is row i of `a` times column j of
# `b`: multiply the numbers in pairs, and add. [[1, 2], [3, 4]] @ [[5, 6], [7, 8]] begins with 1 · 5 + 2 · 7 = 19. So a
# row of `a` is as long as a column of `b`, and (3, 4) @ (4, 5) is (3, 5).
#
# With more axes, only the last two count: (2, 3, 4) @ (4, 5) is (2, 3, 5), one product for each of the two texts.
# Multiply each text in `x` by `W`.

# %%
W = np.ones((4, 1))
projected = UNWRITTEN
verdict(7, projected, [[[6], [22], [38]], [[54], [70], [86]]])

# %% [markdown]
# ## 8. `swapaxes`
#
# `x.swapaxes(-1, -2)` swaps the last two axes, so the rows of each matrix become its columns. This is called
# transposing. Compute the product of each text with its own transpose: (2, 3, 3).

# %%
gram = UNWRITTEN
verdict(
    8, gram, [[[14, 38, 62], [38, 126, 214], [62, 214, 366]], [[734, 950, 1166], [950, 1230, 1510], [1166, 1510, 1854]]]
)

# %% [markdown]
# ## 9. Picking one entry of each row
#
# `np.take_along_axis(scores, index, axis=-1)` picks entries by their number; `index` has as many axes as `scores`. Pick
# the score of each row's target, with the shape (2, 1).

# %%
scores = np.array([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1]])
targets = np.array([2, 0])
picked = UNWRITTEN
verdict(9, picked, [[0.7], [0.5]])

# %% [markdown]
# ## 10. Views and copies
#
# `whole[0]` is a **view**: it shows the same numbers, so that changing the view also changes `whole`. `.copy()` makes
# numbers of your own. Functions in this course never change their inputs. Below, take the first row in such a way that
# `whole` stays as it is when the row is multiplied by 0.

# %%
whole = np.array([[1.0, 2.0], [3.0, 4.0]])
first = UNWRITTEN
if first is not UNWRITTEN:
    first *= 0
verdict(10, whole if first is not UNWRITTEN else UNWRITTEN, [[1, 2], [3, 4]])

# %% [markdown]
# ## 11. Choosing with a mask
#
# A comparison such as `scores > 0.3` gives an array of booleans, a *mask*. `mask.any(axis=-1)` says for each row
# whether any entry is true, and `mask.all(axis=-1)` whether all are. `np.where(mask, a, b)` takes the entries of `a`
# where the mask is true and those of `b` elsewhere; `a` and `b` may be single numbers. Keep the scores above 0.3 and
# replace the others by 0.

# %%
kept = UNWRITTEN
verdict(11, kept, [[0, 0, 0.7], [0.5, 0.4, 0]])

# %% [markdown]
# ## 12. Every entry, whatever the shape
#
# `for index in np.ndindex(x.shape)` visits all entries of an array with any number of axes: each `index` is a tuple,
# and
# `x[index]` is one entry. Make the list of all indices of `table`, in the order in which the loop visits them.

# %%
indices = UNWRITTEN
verdict(12, indices, [[0, 0], [0, 1], [1, 0], [1, 1]])

# %% [markdown]
# ## Answers
#
# ```text
# shape_of_one_text = (3, 4)
# mean_over_positions = x.mean(axis=1)
# raised = table + np.array([10.0, 20.0])
# shares = table / table.sum(axis=-1, keepdims=True)
# products = v[:, None] * v[None, :]
# last_two = x[..., 2:]
# projected = x @ W
# gram = x @ x.swapaxes(-1, -2)
# picked = np.take_along_axis(scores, targets[:, None], axis=-1)
# first = whole[0].copy()
# kept = np.where(scores > 0.3, scores, 0)
# indices = list(np.ndindex(table.shape))
# ```
