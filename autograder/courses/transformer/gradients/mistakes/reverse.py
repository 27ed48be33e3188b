"""Mistakes in `gradients`: reverse mode over a tape."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_ADDED = "gradients[i] = gradients[i] + sum_to_shape(contribution, values[i].shape)"
_ZEROS, _ONES = "[np.zeros_like(value) for value in values]", "np.ones_like(values[-1])"
_RETURN = "return gradients[: len(inputs)]"
# The line of each operation, as it is in the solution.
_LINES = {
    "add": "[dout, dout]",
    "mul": "[dout * used[1], dout * used[0]]",
    "matmul": "matmul_backward(dout, *used)",
    "tanh": "[dout * (1 - out**2)]",
    "exp": "[dout * out]",
    "log": "[dout / used[0]]",
    "sum": "[dout * np.ones_like(used[0])]",
}
_TANH = "The derivative of tanh(x) is 1 - tanh²(x), and tanh(x) is the result of the entry itself."
# The name, the operation, the wrong line, the title, and why.
_WRONG = (
    ("of-argument", "tanh", "[dout * (1 - used[0] ** 2)]", "tanh: 1 - x² was used, not 1 - tanh²(x)", _TANH),
    ("itself", "mul", "[dout * used[0], dout * used[1]]", "mul: each factor got dout times itself, not times the other",
     "The derivative of a b with respect to a is b."),
)  # fmt: skip

mistake = MISTAKES.for_functions("gradients.tape_gradients")
mistake("overwritten", _ADDED, _ADDED.replace("gradients[i] + ", ""), common=True).explain("""
    gradients were overwritten, not added
    why: What is used several times gets a contribution from each use. Only the last one is left.
    ask: What is in your gradient of x after both uses in x · x were visited?""")
mistake(
    "one-argument-overwritten",
    _ADDED,
    _ADDED.replace("gradients[i] +", "(gradients[i] if len(arguments) > 1 else 0) +"),
).explain("""
    tanh, exp, log and sum overwrote gradients; only the other operations added theirs
    why: What is used several times gets a contribution from each use, whatever the operation is.
    ask: If x is used by exp and by mul, what is in your gradient of x after both were visited, in either order?""")
mistake("not-summed", _ADDED, "gradients[i] = gradients[i] + contribution", common=True).explain("""
    the gradients of arrays that were broadcast were not summed
    why: A gradient has the shape of its array. What was repeated in the forward pass is summed in the backward pass.
    ask: A bias (4,) is added to a matrix (2, 4). What is the shape of its gradient in your code?""")
for op in ("add", "mul"):
    mistake(
        f"{op}-not-summed",
        "sum_to_shape(contribution, values[i].shape)",
        f'(contribution if op == "{op}" else sum_to_shape(contribution, values[i].shape))',
        common=True,
    ).explain(f"""
        {op}: the gradients of arrays that were broadcast were not summed
        why: A gradient has the shape of its array. What was repeated is summed in the backward pass.
        ask: {op} of a vector (4,) and a matrix (2, 4): what is the shape of the vector's gradient in your code?""")
mistake(
    "same-argument-once",
    "in zip(arguments, contributions, strict=True):",
    "in dict(zip(arguments, contributions, strict=True)).items():",
).explain("""
    an array that is both arguments of one entry got only one of its two contributions
    why: In x · x both factors are x, and each use contributes. A dictionary keeps one entry for each key.
    ask: What is your gradient of x · x at 3?""")
mistake(
    "forward-order",
    "in reversed(range(len(inputs), len(values))):",
    "in range(len(inputs), len(values)):",
    common=True,
    group="one step",
).explain("""
    the tape was followed from its beginning, not from its end
    why: The gradient of an array is complete only after all later entries that use it. At the beginning, all of them
         are still 0.
    ask: Which gradient do you know before the first step?""")
mistake("starts-with-zero", _ONES, "np.zeros_like(values[-1])", group="all zero").explain("""
    the gradient of the last result was 0 at the start
    why: Everything is multiplied by it, so all gradients are 0. The derivative of L with respect to itself is 1.
    ask: If L rises by h, by how much does L rise?""")
mistake("starts-with-value", _ONES, "values[-1]", common=True).explain("""
    the gradient of the last result was that result itself at the start, not 1
    why: Everything is multiplied by it. The derivative of L with respect to itself is 1.
    ask: If L rises by h, by how much does L rise?""")
mistake("unused-are-numbers", _ZEROS, "[0.0 for _ in values]", common=True).explain("""
    the gradient of an input that is not used is a plain 0, not an array of zeros
    why: A gradient has the shape of its array, even where it is 0 everywhere.
    ask: What does your code return for an input of shape (3,) that no entry uses?""")
mistake(
    "unused-are-none",
    _RETURN,
    "used = {i for _, arguments in tape for i in arguments}\n"
    "    return [gradient if i in used else None for i, gradient in enumerate(gradients[: len(inputs)])]",
).explain("""
    the gradient of an input that is not used is None
    why: If the input changes, the result does not: the derivative is 0, for each of its entries.
    ask: What does your code return for an input of shape (3,) that no entry uses?""")
mistake("all-gradients-returned", _RETURN, "return gradients", common=True).explain("""
    the gradients of all arrays were returned, not only those of the inputs
    why: The caller needs one gradient for each input. Those of the results in between are a means to get there.
    ask: How many entries does your result have, and how many inputs are there?""")
mistake("tuple-returned", _RETURN, "return tuple(gradients[: len(inputs)])").explain("""
    a tuple was returned, not a list
    why: A tuple is never equal to a list, and its entries cannot be replaced, for example by clipped ones.
    ask: What is the type of your result?""")
mistake("any-last-value-accepted", "if np.ndim(values[-1]) > 0:", "if False:", common=True).explain("""
    a last result with axes was accepted
    why: A gradient belongs to one number; an array has many, each with its own.
    ask: What should happen if the last result is a matrix?""")
mistake("only-vectors-refused", "if np.ndim(values[-1]) > 0:", "if np.ndim(values[-1]) == 1:").explain("""
    a matrix was accepted as the last result: only a vector was rejected
    why: Without that error, you would get the gradient of the sum of all entries, which is not what was asked for.
    ask: What is the number of axes of a single number? Which numbers of axes does your condition reject?""")
mistake(
    "last-step-only", "in reversed(range(len(inputs), len(values))):", "in [len(values) - 1]:", group="one step"
).explain("""
    only the last entry of the tape was visited
    why: The chain rule goes on from there to the entry before, until the inputs are reached.
    ask: How often does your loop run for a tape of 4 entries?""")
group = "all zero" if "last" == "last" else ""
mistake("last-entry-skipped", "(len(inputs), len(values))", "(len(inputs), len(values) - 1)", group=group).explain("""
    the last entry of the tape was skipped
    why: Every entry passes gradients on to its arguments.
    ask: At which numbers does your loop begin and end? Does range include its end?""")
mistake("always-float64", "np.zeros_like(value)", "np.zeros(np.shape(value))", _ONES, "1.0", common=True).explain("""
    the gradients are float64 even when the inputs are float32
    why: np.zeros and np.ones create float64 arrays unless a dtype is given. np.zeros_like takes that of its argument.
    ask: What is the dtype of your result when all inputs are float32? Which line causes it?""")
mistake(
    "shared-arrays",
    _ZEROS,
    "[None for value in values]",
    f"            {_ADDED}\n",
    "            if np.shape(contribution) != np.shape(values[i]):\n"
    "                contribution = sum_to_shape(contribution, values[i].shape)\n"
    "            if gradients[i] is None:\n"
    "                gradients[i] = np.asarray(contribution)\n"
    "            else:\n"
    "                gradients[i] += contribution\n",
    "        op, arguments = tape",
    "        if gradients[number] is None:\n            continue\n        op, arguments = tape",
    _RETURN,
    "return [np.zeros_like(x) if g is None else g for g, x in zip(gradients, inputs)]",
    common=True,
).explain("""
    two arrays shared one array of gradients: += changed both
    why: add passes the same array to both arguments. If it is stored without a copy, a later += into one of them
         changes the other.
    ask: Does `gradients[i] += …` make a new array, or does it write into one that other names may also stand for?""")
for name, op, new, title, why in _WRONG:
    mistake(f"{op}-{name}", _LINES[op], new, "strict=True", "strict=False").explain(f"""
        {title}
        why: {why}
        ask: What is the derivative of the step {op!r}, and with what is it multiplied?""")
mistake("difference-quotient", quotient="one").body("""
    values = tape_values(tape, inputs)
    if np.ndim(values[-1]) > 0:
        raise ValueError("the last result must be a single number")
    gradients = []
    for k, x in enumerate(inputs):
        gradients.append(
            numerical_gradient(lambda moved: tape_values(tape, [*inputs[:k], moved, *inputs[k + 1 :]])[-1], x, 1e-5)
        )
    return gradients
""").explain("""
    the gradients were computed as difference quotients
    why: The rounding error of f is divided by h, so at most about ten digits are correct. It also takes two passes over
         the tape for every entry; reverse mode takes one for all.
    ask: Which gradient do you know without any computation? From there, go back through the tape.""")
