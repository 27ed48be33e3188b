"""Mistakes in `gpt`: the number of parameters."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("gpt.count_parameters")
mistake("arrays-counted").body("""
    return len(params)
""").explain("""
    the arrays were counted, not their entries
    why: A matrix of 100 rows and 50 columns has 5000 trainable parameters.
    ask: How many trainable parameters does a matrix of shape (27, 16) hold?""")
mistake("bytes", "int(np.size(value))", "np.asarray(value).nbytes").explain("""
    the bytes of the arrays were counted, not their entries
    why: A float32 value takes four bytes, a float64 value eight.
    ask: Which attribute of an array is the number of its entries, and which is the number of its bytes?""")
mistake(
    "numpy-integer",
    "sum(int(np.size(value)) for value in params.values())",
    "np.sum([value.size for value in params.values()])",
).explain("""
    the result is a NumPy integer, not a Python int
    why: np.sum and np.prod return NumPy's own integers, which other programs, such as json, do not accept.
    ask: What is type(np.sum([1, 2]))?""")
for name, condition, text in (
    ("matrices-only", "np.ndim(value) > 1", "arrays with one axis, such as biases and norms, were not counted"),
    ("biases-left-out", '".b_" not in name', "the biases were not counted"),
):
    mistake(name, "for value in params.values())", f"for name, value in params.items() if {condition})").explain(f"""
    {text}
    why: Every entry of every array is trained, so every entry counts.
    ask: Which of the arrays of a model does your sum leave out?""")
mistake("first-two-axes", "int(np.size(value))", "math.prod(value.shape[:2])").explain("""
    only the first two axes of each array were multiplied
    why: An array of shape (2, 3, 4) has 24 entries, not 6.
    ask: How many axes does your formula for the size of an array allow?""")
mistake("vectors-squared", "int(np.size(value))", "int(np.shape(value)[0] * np.shape(value)[-1])").explain("""
    the lengths of the first and the last axis were multiplied
    why: In a vector, both are the same axis: n numbers then count as n².
    ask: What does your code count for an array of shape (5,)?""")
