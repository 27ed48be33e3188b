"""Mistakes in assignment 5: cutting vectors into heads, and putting them together."""

from autograder.engine.diagnosis.mistake import Mistake

_MERGED = "x.swapaxes(-2, -3).reshape(*batch, length, n_heads * head_size)"

HEADS = (
    # --- split_heads
    Mistake(
        "multihead.split_heads",
        "reshaped-without-exchange",
        "the vectors were reshaped to (…, H, T, K) at once, without exchanging axes",
        "The shape is right and the numbers are in the wrong places: a head gets pieces of several positions.",
        "Reshape keeps the order of the numbers in memory. Where do the numbers of position 0 end up?",
        edits=(
            (
                "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
                "x.reshape(*batch, n_heads, length, d_model // n_heads)",
            ),
        ),
        common=True,
    ),
    Mistake(
        "multihead.split_heads",
        "not-exchanged",
        "the heads were not moved in front of the positions: (…, T, H, K)",
        "Attention looks along the last axis but one. There it would look from head to head, not from position to "
        "position.",
        "In which order does the docstring list the axes of the result?",
        edits=((".swapaxes(-2, -3)", ""),),
        common=True,
    ),
    Mistake(
        "multihead.split_heads",
        "interleaved",
        "every H-th column went to a head, not neighbouring columns",
        "Head h owns the columns from h K to (h + 1) K.",
        "Which columns belong to head 0 by the formula, and which in your result?",
        edits=(
            (
                "x.reshape(*batch, length, n_heads, d_model // n_heads).swapaxes(-2, -3)",
                "np.moveaxis(x.reshape(*batch, length, d_model // n_heads, n_heads), -1, -3)",
            ),
        ),
    ),
    Mistake(
        "multihead.split_heads",
        "number-and-size-exchanged",
        "the number of heads and their size were exchanged",
        "n_heads is how many there are; each has D / n_heads columns.",
        "With D = 12 and 3 heads, how long is the last axis of the result?",
        edits=(("n_heads, d_model // n_heads)", "d_model // n_heads, n_heads)"),),
        common=True,
    ),
    Mistake(
        "multihead.split_heads",
        "head-transposed",
        "the positions are the last axis: (…, H, K, T)",
        "Both exchanges were made, also the one that belongs to q kᵀ.",
        "In which order does the docstring list the axes of the result?",
        edits=((".swapaxes(-2, -3)", ".swapaxes(-2, -3).swapaxes(-1, -2)"),),
    ),
    Mistake(
        "multihead.split_heads",
        "heads-first",
        "the heads were moved to the very front, before the batch",
        "Batch axes stay where they are. With no batch axis nothing shows.",
        "Counted from the end, which axis should the heads become?",
        edits=((".swapaxes(-2, -3)", ".transpose(-2, *range(x.ndim - 1), -1)"),),
    ),
    Mistake(
        "multihead.split_heads",
        "one-batch-axis-only",
        "it works with exactly one batch axis: B, T, D = x.shape",
        "A single text has no batch axis, and there may be more than one.",
        "How can the last two sizes be read off, whatever stands before them?",
        edits=(
            ("*batch, length, d_model = x.shape", "B, length, d_model = x.shape"),
            ("x.reshape(*batch, ", "x.reshape(B, "),
        ),
    ),
    # --- merge_heads
    Mistake(
        "multihead.merge_heads",
        "reshaped-without-exchange",
        "the heads were reshaped to (…, T, D) at once, without exchanging axes",
        "The shape is right and the numbers are in the wrong places: a position gets pieces of several positions.",
        "Reshape keeps the order of the numbers in memory. Which numbers stand side by side there?",
        edits=((".swapaxes(-2, -3)", ""),),
        common=True,
    ),
    Mistake(
        "multihead.merge_heads",
        "interleaved",
        "the heads' columns alternate instead of standing side by side",
        "First all the columns of head 0, then those of head 1.",
        "Which columns of the result come from head 0 by the formula, and which in your result?",
        edits=(("x.swapaxes(-2, -3)", "np.moveaxis(x, -3, -1)"),),
    ),
    Mistake(
        "multihead.merge_heads",
        "wrong-axes",
        "positions and columns were exchanged, not heads and positions",
        "The numbers land in places that belong to other positions.",
        "Which two axes must stand next to each other, in which order, before they can become one?",
        edits=((".swapaxes(-2, -3)", ".swapaxes(-1, -2)"),),
    ),
    Mistake(
        "multihead.merge_heads",
        "counted-from-the-front",
        "axes 1 and 2 were exchanged, counted from the front",
        "These are heads and positions with exactly one batch axis only.",
        "Counted from the end, which axes are heads and positions, whatever stands before them?",
        edits=((".swapaxes(-2, -3)", ".swapaxes(1, 2)"),),
    ),
    Mistake(
        "multihead.merge_heads",
        "one-batch-axis-only",
        "it works with exactly one batch axis: B, H, T, K = x.shape",
        "A single text has no batch axis, and there may be more than one.",
        "How can the last three sizes be read off, whatever stands before them?",
        edits=(
            ("*batch, n_heads, length, head_size = x.shape", "B, n_heads, length, head_size = x.shape"),
            (".reshape(*batch, ", ".reshape(B, "),
        ),
    ),
    Mistake(
        "multihead.split_heads",
        "size-first",
        "the columns of a head were moved in front of the positions, not the heads: (…, K, T, H)",
        "Where there are as many heads as columns in each, the shape is right and the numbers are not.",
        "In which order does the docstring list the axes of the result?",
        edits=((".swapaxes(-2, -3)", ".swapaxes(-2, -3).swapaxes(-1, -3)"),),
    ),
    *(
        Mistake("multihead.merge_heads", name, title, why, hint, edits=((_MERGED, merged),))
        for name, title, why, hint, merged in (
            (
                "heads-added",
                "the heads were added up, not put side by side",
                "W_o can then no longer tell them apart.",
                "How many numbers does a position have before the merge, in all its heads, and how many after it?",
                "x.sum(axis=-3)",
            ),
            (
                "heads-averaged",
                "the heads were averaged, not put side by side",
                "W_o can then no longer tell them apart.",
                "How many numbers does a position have before the merge, in all its heads, and how many after it?",
                "x.mean(axis=-3)",
            ),
            (
                "not-joined",
                "heads and positions were exchanged, and the heads were not joined: (…, T, H, K)",
                "The two last axes have to become one.",
                "How many axes does the docstring's result have?",
                "x.swapaxes(-2, -3)",
            ),
            (
                "along-the-positions",
                "the heads were put one after the other along the positions, not side by side",
                "The text is then H times as long as it was.",
                "Along which axis are they to be joined, counted from the end?",
                "np.concatenate([x[..., h, :, :] for h in range(n_heads)], axis=-2)",
            ),
        )
    ),
)
