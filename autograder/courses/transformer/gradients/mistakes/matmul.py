"""Mistakes in `gradients`: the matrix product."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DA, _DB = "dout @ np.swapaxes(b, -1, -2)", "np.swapaxes(a, -1, -2) @ dout"
_RESULT_A, _RESULT_B = "return sum_to_shape(da, a.shape)", ", sum_to_shape(db, b.shape)"
# Wrong ways to compute da and db: the name, the two expressions, the title (with {0} for what is wrong), why, and what
# to ask about da (or both), and about db.
_PRODUCTS = (
    (
        "not-transposed",
        "dout @ b",
        "a @ dout",
        "in {0}, the other factor was not transposed",
        "The index that is summed must be the second of the left matrix and the first of the right one.",
        "Which index is summed in da_ik = Σ_j dout_ij b_kj? Which axis of b is that?",
        "Which index is summed in db_kj = Σ_i a_ik dout_ij? Which axis of a is that?",
    ),
    (
        "order",
        "np.swapaxes(b, -1, -2) @ dout",
        "dout @ np.swapaxes(a, -1, -2)",
        "in {0}, the two matrices were multiplied in the wrong order",
        "The order matters in a matrix product. With square matrices the shape is right, but the values are not.",
        "da is (M, K), dout is (M, N) and b is (K, N). In which order can they be multiplied to give (M, K)?",
        "db is (K, N), a is (M, K) and dout is (M, N). In which order can they be multiplied to give (K, N)?",
    ),
    (
        "all-axes-reversed",
        "dout @ b.T",
        "a.T @ dout",
        "in {0}, .T was used, which reverses all axes",
        "For a matrix that is the transpose. With a batch, the batch axis becomes the last one.",
        "What is the shape of x.T if x is (5, 2, 3)? Which function swaps two axes only?",
        "What is the shape of x.T if x is (5, 2, 3)? Which function swaps two axes only?",
    ),
)
# Wrong ways to sum over the leading axes, with {0} for the gradient and {1} for its array.
_SUMS = (
    (
        "not-summed",
        "{0}",
        "{0} was not summed over the axes that were broadcast",
        "A matrix that was used for the whole batch was used many times, and all uses contribute.",
        "One matrix {1} was used with each of 5 others. What is the shape of your {0}, and what is that of {1}?",
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
)


mistake = MISTAKES.for_functions("gradients.matmul_backward")
for name, da, db, title, why, ask, ask_db in _PRODUCTS:
    is_common = name in ("not-transposed", "order", "all-axes-reversed")
    mistake(f"both-{name}", _DA, da, _DB, db).explain(f"{title.format('both gradients')}\nwhy: {why}\nask: {ask}")
    mistake(f"da-{name}", _DA, da, common=is_common).explain(f"{title.format('da')}\nwhy: {why}\nask: {ask}")
    mistake(f"db-{name}", _DB, db, common=is_common).explain(f"{title.format('db')}\nwhy: {why}\nask: {ask_db}")
# The same, summed by a `sum_to_shape` that does not end with a reshape.
for name, new, title, why, ask in _SUMS:
    da, db = f"return {new.format('da', 'a')}", f", {new.format('db', 'b')}"
    text = f"{title.format('da and db').replace(' was ', ' were ')}\nwhy: {why}\nask: {ask.format('da', 'a')}"
    mistake(f"both-{name}", _RESULT_A, da, _RESULT_B, db).explain(text)
    mistake(f"da-{name}", _RESULT_A, da).explain(f"{title.format('da')}\nwhy: {why}\nask: {ask.format('da', 'a')}")
    mistake(f"db-{name}", _RESULT_B, db, common=name == "not-summed").explain(
        f"{title.format('db')}\nwhy: {why}\nask: {ask.format('db', 'b')}"
    )
mistake(
    "results-exchanged", "(da, a.shape), sum_to_shape(db, b.shape)", "(db, b.shape), sum_to_shape(da, a.shape)"
).explain("""
    da and db were returned in the wrong order
    why: The caller takes the first result for the gradient of a.
    ask: With a of shape (2, 3) and b of shape (3, 4), which shape does your first result have?""")
mistake("always-float64", "da = dout", "dout = dout.astype(np.float64)\n    da = dout", common=True).explain("""
    the results are float64 even when the inputs are float32
    why: float32 should stay float32. np.zeros creates float64 arrays unless a dtype is given.
    ask: What is the dtype of your results when all inputs are float32? Which line causes it?""")
