"""Mistakes in `gradients`: the matrix product."""

from collections.abc import Iterator

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DA, _DB = "dout @ np.swapaxes(b, -1, -2)", "np.swapaxes(a, -1, -2) @ dout"
_RESULT_A, _RESULT_B = "return sum_to_shape(da, a.shape)", ", sum_to_shape(db, b.shape)"
# Wrong ways to compute da and db: the name, the two expressions, the title (with {0} for what is wrong), why, ask.
_PRODUCTS = (
    (
        "not-transposed",
        "dout @ b",
        "a @ dout",
        "in {0}, the other factor was not transposed",
        "The index that is summed must be the second of the left matrix and the first of the right one.",
        "Which index is summed in da_ik = Σ_j dout_ij b_kj? Which axis of b is that?",
    ),
    (
        "order",
        "np.swapaxes(b, -1, -2) @ dout",
        "dout @ np.swapaxes(a, -1, -2)",
        "in {0}, the two matrices were multiplied in the wrong order",
        "The order matters in a matrix product. With square matrices the shape is right, but the values are not.",
        "da is (M, K), dout is (M, N) and b is (K, N). In which order can they be multiplied to give (M, K)?",
    ),
    (
        "order-not-transposed",
        "b @ dout",
        "dout @ a",
        "in {0}, nothing was transposed and the order is wrong",
        "The order matters in a matrix product. With square matrices the shape is right, but the values are not.",
        "da is (M, K), dout is (M, N) and b is (K, N). In which order can they be multiplied to give (M, K)?",
    ),
    (
        "transposed",
        "np.swapaxes(dout @ np.swapaxes(b, -1, -2), -1, -2)",
        "np.swapaxes(np.swapaxes(a, -1, -2) @ dout, -1, -2)",
        "{0}: the result is transposed",
        "A gradient has the shape of its array. With square matrices, the shape does not show the mistake.",
        "What is the shape of your result if M, K and N are 2, 3 and 4?",
    ),
    (
        "dout-transposed",
        "np.swapaxes(dout, -1, -2) @ b",
        "a @ np.swapaxes(dout, -1, -2)",
        "in {0}, dout was transposed, not the other factor",
        "The index that is summed must be the second of the left matrix and the first of the right one.",
        "Which index is summed in da_ik = Σ_j dout_ij b_kj? Is it already in the right place in dout?",
    ),
    (
        "all-axes-reversed",
        "dout @ b.T",
        "a.T @ dout",
        "in {0}, .T was used, which reverses all axes",
        "For a matrix that is the transpose. With a batch, the batch axis becomes the last one.",
        "What is the shape of x.T if x is (5, 2, 3)? Which function swaps two axes only?",
    ),
    (
        "first-axes-exchanged",
        "dout @ np.swapaxes(b, 0, 1)",
        "np.swapaxes(a, 0, 1) @ dout",
        "in {0}, the first two axes were swapped, not the last two",
        "For a matrix they are the same. With a batch, the batch axis is swapped with the rows.",
        "Which two axes belong to the matrices if the shape is (5, 2, 3)?",
    ),
    (
        "without-dout",
        "np.ones_like(dout) @ np.swapaxes(b, -1, -2)",
        "np.swapaxes(a, -1, -2) @ np.ones_like(dout)",
        "in {0}, the upstream gradient was not used",
        "That is the gradient of the sum of all entries. Other results weigh the entries differently.",
        "Does your result change when dout is doubled?",
    ),
    (
        "other-factor",
        "dout @ np.swapaxes(a, -1, -2)",
        "np.swapaxes(b, -1, -2) @ dout",
        "in {0}, the same factor was used, not the other one",
        "In the product of two numbers, the derivative with respect to one is the other. The same holds for matrices.",
        "With what factor does a_ik occur in out_ij?",
    ),
    (
        "entrywise",
        "dout * b",
        "a * dout",
        "in {0}, entries were multiplied, not matrices",
        "* multiplies entry by entry and broadcasts; @ is the matrix product. Square matrices give wrong results.",
        "Which entries of dout and b go into one entry of da?",
    ),
    (
        "by-dot",
        "np.dot(dout, np.swapaxes(b, -1, -2))",
        "np.dot(np.swapaxes(a, -1, -2), dout)",
        "in {0}, np.dot was used, which pairs every matrix of one batch with every matrix of the other",
        "For two matrices np.dot is the matrix product. With batches it combines all with all; @ goes in pairs.",
        "What is the shape of np.dot of two arrays of shape (5, 2, 2)?",
    ),
    (
        "sign",
        "-(dout @ np.swapaxes(b, -1, -2))",
        "-(np.swapaxes(a, -1, -2) @ dout)",
        "the sign of {0} is reversed",
        "All terms of a matrix product are added, so no sign changes.",
        "If a and b are positive and an entry of a rises, does the product rise or fall?",
    ),
)
# Wrong ways to sum over the leading axes, with {0} for the gradient and {1} for its array.
_SUMS = (
    (
        "not-summed",
        "{0}",
        "{0} was not summed over the axes that were broadcast",
        "A matrix that was used for the whole batch was used many times, and all uses contribute.",
        "One matrix b multiplies each of 5 matrices a. What is the shape of your db, and what is that of b?",
    ),
    (
        "repeated-not-summed",
        "{0}.sum(axis=tuple(range({0}.ndim - {1}.ndim)))",
        "{0} was not summed over leading axes of length 1",
        "Broadcasting also repeats an axis of length 1. All its copies contribute, and the axis keeps length 1.",
        "What is the shape of a (1, 3, 4) matrix stack after it was broadcast to a batch of 5?",
    ),
    (
        "first-axis-summed",
        "({0}.sum(axis=0) if {0}.ndim > {1}.ndim else {0})",
        "{0} was summed over the first axis only",
        "There may be several leading axes, such as batch and head, and axes of length 1.",
        "Over which axes was a matrix (4, 6) repeated when the result is (2, 5, 3, 6)?",
    ),
    (
        "averaged",
        "sum_to_shape({0}, {1}.shape) * np.float32({1}.size / {0}.size)",
        "{0} was averaged over the axes that were broadcast, not summed",
        "Every use contributes in full. If the loss is a mean over the batch, dout already includes that factor.",
        "One matrix b multiplies each of 5 matrices a. If b rises by h, how many of the products change?",
    ),
    (
        "first-of-batch",
        "{0}.reshape(-1, *{1}.shape)[0]",
        "of {0}, only the first of the batch was returned",
        "A matrix that was used for the whole batch was used many times, and all uses contribute.",
        "Which of the 5 products depend on the matrix?",
    ),
    (
        "divided-by-rows",
        "sum_to_shape({0}, {1}.shape) / np.float32(dout.shape[-2])",
        "{0} was divided by the number of rows",
        "If the loss is a mean over the rows, dout already includes that factor.",
        "Which factors does the definition have?",
    ),
)


def products(a: str, b: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the name, the code of both gradients, the title, why and ask of each wrong way, for two expressions."""
    for name, da, db, title, why, ask in _PRODUCTS:
        code = f"(lambda a, b: [{da}, {db}])({a}, {b})"
        yield name, code, title.format("both gradients"), why, ask


mistake = MISTAKES.for_functions("gradients.matmul_backward")
for name, da, db, title, why, ask in _PRODUCTS:
    is_common = name in ("not-transposed", "order", "all-axes-reversed")
    mistake(f"both-{name}", _DA, da, _DB, db).explain(f"{title.format('both gradients')}\nwhy: {why}\nask: {ask}")
    mistake(f"da-{name}", _DA, da, common=is_common).explain(f"{title.format('da')}\nwhy: {why}\nask: {ask}")
    mistake(f"db-{name}", _DB, db, common=is_common).explain(f"{title.format('db')}\nwhy: {why}\nask: {ask}")
# The same, summed by a `sum_to_shape` that does not end with a reshape.
_SUM = (
    "(lambda g, s: g.sum(axis=tuple(i for i, n in enumerate(s) if n == 1), keepdims=True))"
    "(np.swapaxes({0}, -1, -2).sum(axis=tuple(range({0}.ndim - {1}.ndim))), {1}.shape)"
)
_SUMMED_A, _SUMMED_B = f"return {_SUM.format('da', 'a')}", f", {_SUM.format('db', 'b')}"
for gradient, edits in {
    "both gradients": (_RESULT_A, _SUMMED_A, _RESULT_B, _SUMMED_B),
    "da": (_RESULT_A, _SUMMED_A),
    "db": (_RESULT_B, _SUMMED_B),
}.items():
    mistake(f"{gradient.split()[0]}-transposed-in-another-shape", *edits).explain(f"""
        {gradient}: the result is transposed
        why: A gradient has the shape of its array. With square matrices, the shape does not show the mistake.
        ask: What is the shape of your result if M, K and N are 2, 3 and 4?""")
for name, new, title, why, ask in _SUMS:
    da, db = f"return {new.format('da', 'a')}", f", {new.format('db', 'b')}"
    both = title.format("DA").replace(
        "DA was", "neither gradient was" if "was not summed" in title else "both gradients were"
    )
    both = both.replace("neither gradient was not", "neither gradient was").replace("of DA,", "of both gradients,")
    mistake(f"both-{name}", _RESULT_A, da, _RESULT_B, db).explain(f"{both}\nwhy: {why}\nask: {ask}")
    mistake(f"da-{name}", _RESULT_A, da).explain(f"{title.format('da')}\nwhy: {why}\nask: {ask}")
    mistake(f"db-{name}", _RESULT_B, db, common=name == "not-summed").explain(
        f"{title.format('db')}\nwhy: {why}\nask: {ask}"
    )
mistake(
    "results-exchanged",
    "return sum_to_shape(da, a.shape), sum_to_shape(db, b.shape)",
    "return sum_to_shape(db, b.shape), sum_to_shape(da, a.shape)",
).explain("""
    da and db were returned in the wrong order
    why: The caller takes the first result for the gradient of a.
    ask: In which order does the docstring list the results?""")
mistake("always-float64", "da = dout", "dout = dout.astype(np.float64)\n    da = dout", common=True).explain("""
    the results are float64 even when the inputs are float32
    why: float32 should stay float32. np.zeros creates float64 arrays unless a dtype is given.
    ask: What is the dtype of your results when all inputs are float32? Which line causes it?""")
mistake(
    "always-float32", "a.shape)", "a.shape).astype(np.float32)", "b.shape)", "b.shape).astype(np.float32)"
).explain("""
    the results are float32 even when the inputs are float64
    why: float64 should stay float64. float32 keeps only about seven digits.
    ask: What is the dtype of your results when all inputs are float64? Which line causes it?""")
