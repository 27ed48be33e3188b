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
mistake("rows-counted", "int(np.size(value))", "len(value)").explain("""
    the rows of the arrays were counted, not their entries
    why: len of a matrix is the number of its rows.
    ask: What is len of an array of shape (27, 16)?""")
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
mistake(
    "float",
    "sum(int(np.size(value)) for value in params.values())",
    "float(sum(value.size for value in params.values()))",
).explain("""
    the result is a float, not an int
    why: A number of parameters is a whole number.
    ask: What type does the docstring give for the result?""")
for name, condition, text in (
    ("matrices-only", "np.ndim(value) > 1", "arrays with one axis, such as biases and norms, were not counted"),
    ("vectors-only", "np.ndim(value) == 1", "only arrays with one axis were counted"),
    ("two-axes-only", "np.ndim(value) == 2", "only arrays with two axes were counted"),
    ("positions-left-out", 'name != "W_pos"', "W_pos was not counted"),
    ("tokens-left-out", 'name != "W_tok"', "W_tok was not counted"),
    ("head-left-out", 'name != "W_head"', "W_head was not counted"),
    ("tables-left-out", 'name not in ("W_tok", "W_pos")', "the two tables W_tok and W_pos were not counted"),
    ("norms-left-out", 'not name.endswith(("gamma", "beta"))', "the parameters of the layer norms were not counted"),
    ("half-of-norms-left-out", 'not name.endswith("beta")', "the gammas or the betas were not counted"),
    ("biases-left-out", '".b_" not in name', "the biases were not counted"),
    ("weights-only", '"W_" in name', "only arrays with W_ in their name were counted"),
    ("blocks-only", 'name.startswith("blocks.")', "only the parameters of the blocks were counted"),
):
    mistake(name, "for value in params.values())", f"for name, value in params.items() if {condition})").explain(f"""
    {text}
    why: Every entry of every array is trained, so every entry counts.
    ask: Which of the arrays of a model does your sum leave out?""")
mistake("columns-counted", "int(np.size(value))", "value.shape[-1]").explain("""
    only the length of each array's last axis was counted
    why: A matrix of 100 rows and 50 columns has 5000 trainable parameters.
    ask: How many entries does an array of shape (27, 16) have?""")
mistake("first-two-axes", "int(np.size(value))", "math.prod(value.shape[:2])").explain("""
    only the first two axes of each array were multiplied
    why: An array of shape (2, 3, 4) has 24 entries, not 6.
    ask: How many axes does your formula for the size of an array allow?""")
mistake("axes-added", "int(np.size(value))", "sum(value.shape)").explain("""
    the lengths of the axes were added, not multiplied
    why: A matrix of 100 rows and 50 columns has 5000 entries, not 150.
    ask: How many entries does an array of shape (27, 16) have?""")
mistake("nonzero-counted", "int(np.size(value))", "int(np.count_nonzero(value))").explain("""
    only the entries that are not 0 were counted
    why: A bias that starts at 0 is trained, too.
    ask: Should the number of parameters change while the model is trained?""")
mistake(
    "head-counted-twice",
    "sum(int(np.size(value)) for value in params.values())",
    'sum(map(np.size, params.values())) + ("W_head" not in params) * np.size(params.get("W_tok", []))',
).explain("""
    a tied head was counted as a matrix of its own
    why: A tied head adds no parameters: it is the token table, which is already counted.
    ask: How many arrays does the dictionary of a model with a tied head have?""")
