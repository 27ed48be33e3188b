"""Mistakes in `gradients`: reverse mode over a tape."""

from autograder.courses.transformer.gradients.mistakes.matmul import products
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
_EXP = "The derivative of exp(x) is exp(x), which is the result of the entry itself."
_LOG = "The derivative of log(x) is 1 / x, where x is the argument, not the result."
_SUM = "Each entry occurs in the sum once, with the factor 1, so it gets the upstream gradient itself."
_MUL = "In a product of two numbers, the derivative with respect to one is the other."
_ADD = "Each of the two arrays occurs in the sum with the factor 1, so both get the upstream gradient."
_CHAIN = "The chain rule multiplies the derivative of the step by the upstream gradient, which comes from later steps."
# The name, the operation, the wrong line, the title, and why.
_WRONG = (
    (
        "factors-not-exchanged",
        "mul",
        "[dout * used[0], dout * used[1]]",
        "mul: each factor was multiplied by itself",
        _MUL,
    ),
    ("first-factor-twice", "mul", "[dout * used[0], dout * used[0]]", "mul: both factors got the first one", _MUL),
    ("second-factor-twice", "mul", "[dout * used[1], dout * used[1]]", "mul: both factors got the second one", _MUL),
    ("no-factor", "mul", "[dout, dout]", "mul: the other factor is missing", _MUL),
    ("first-only", "mul", "[dout * used[1]]", "mul: the second factor got no gradient", _MUL),
    ("second-only", "mul", "[0 * dout, dout * used[0]]", "mul: the first factor got no gradient", _MUL),
    ("by-result", "mul", "[dout * out, dout * out]", "mul: dout was multiplied by the product", _MUL),
    ("divided", "mul", "[dout / used[1], dout / used[0]]", "mul: dout was divided by the other factor", _MUL),
    ("sign", "add", "[-dout, -dout]", "add: the sign is reversed", _ADD),
    ("second-sign", "add", "[dout, -dout]", "add: the sign of the second gradient is reversed", _ADD),
    ("first-only", "add", "[dout]", "add: the second array got no gradient", _ADD),
    ("second-only", "add", "[0 * dout, dout]", "add: the first array got no gradient", _ADD),
    ("halved", "add", "[dout / 2, dout / 2]", "add: the gradient was divided between the two arrays", _ADD),
    ("by-values", "add", "[dout * used[0], dout * used[1]]", "add: dout was multiplied by the arrays", _ADD),
    ("exchanged", "add", "[dout * used[1], dout * used[0]]", "add: it was treated like mul", _ADD),
    ("of-argument", "tanh", "[dout * (1 - used[0] ** 2)]", "tanh: 1 - x² was used, not 1 - tanh²(x)", _TANH),
    ("of-result", "tanh", "[dout * (1 - np.tanh(out) ** 2)]", "tanh: the tanh was taken of the result again", _TANH),
    ("no-square", "tanh", "[dout * (1 - out)]", "tanh: the square is missing", _TANH),
    ("plus", "tanh", "[dout * (1 + out**2)]", "tanh: 1 + tanh² was used, not 1 - tanh²", _TANH),
    ("sigmoid", "tanh", "[dout * out * (1 - out)]", "tanh: the derivative of the sigmoid was used", _TANH),
    ("only-square", "tanh", "[dout * out**2]", "tanh: tanh² was used, not 1 - tanh²", _TANH),
    ("sign", "tanh", "[dout * (out**2 - 1)]", "tanh: the sign is reversed", _TANH),
    ("only-value", "tanh", "[dout * out]", "tanh: dout was multiplied by tanh(x), not by its derivative", _TANH),
    ("no-derivative", "tanh", "[dout]", "tanh: its derivative is missing", _TANH),
    ("of-argument", "exp", "[dout * used[0]]", "exp: dout was multiplied by x, not by exp(x)", _EXP),
    ("of-result", "exp", "[dout * np.exp(out)]", "exp: the exponential was taken of the result again", _EXP),
    ("no-derivative", "exp", "[dout]", "exp: its derivative is missing", _EXP),
    ("sign", "exp", "[-dout * out]", "exp: the sign is reversed", _EXP),
    ("power", "exp", "[dout * used[0] * np.exp(used[0] - 1)]", "exp: it was differentiated like a power of x", _EXP),
    ("of-result", "log", "[dout / out]", "log: dout was divided by log(x), not by x", _LOG),
    ("multiplied", "log", "[dout * used[0]]", "log: dout was multiplied by x, not divided", _LOG),
    ("by-result", "log", "[dout * out]", "log: dout was multiplied by log(x)", _LOG),
    ("no-derivative", "log", "[dout]", "log: its derivative is missing", _LOG),
    ("sign", "log", "[-dout / used[0]]", "log: the sign is reversed", _LOG),
    ("squared", "log", "[dout / used[0] ** 2]", "log: dout was divided by x²", _LOG),
    ("mean", "sum", "[dout * np.ones_like(used[0]) / used[0].size]", "sum: it was treated like a mean", _SUM),
    ("by-values", "sum", "[dout * used[0]]", "sum: dout was multiplied by the entries", _SUM),
    ("by-result", "sum", "[dout * out * np.ones_like(used[0])]", "sum: dout was multiplied by the sum", _SUM),
    (
        "first-entry",
        "sum",
        "[dout * np.eye(1, used[0].size, dtype=out.dtype).reshape(used[0].shape)]",
        "sum: only the first entry got a gradient",
        _SUM,
    ),
    ("no-dout", "sum", "[np.ones_like(used[0])]", "sum: the upstream gradient is missing", _CHAIN),
    ("no-dout", "mul", "[used[1], used[0]]", "mul: the upstream gradient is missing", _CHAIN),
    ("no-dout", "add", "[np.ones_like(dout), np.ones_like(dout)]", "add: the upstream gradient is missing", _CHAIN),
    ("no-dout", "tanh", "[1 - out**2]", "tanh: the upstream gradient is missing", _CHAIN),
    ("no-dout", "exp", "[out]", "exp: the upstream gradient is missing", _CHAIN),
    ("no-dout", "log", "[1 / used[0]]", "log: the upstream gradient is missing", _CHAIN),
)

mistake = MISTAKES.for_functions("gradients.tape_gradients")
mistake("overwritten", _ADDED, _ADDED.replace("gradients[i] + ", ""), common=True).explain("""
    gradients were overwritten, not added
    why: What is used several times gets a contribution from each use. Only the last one is left.
    ask: What is in your gradient of x after both uses in x · x were visited?""")
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
mistake("averaged", _ADDED, _ADDED + " * np.float32(values[i].size / np.size(contribution))").explain("""
    the gradients of arrays that were broadcast were averaged, not summed
    why: Every copy contributes in full: if the entry rises by h, all copies rise by h.
    ask: A bias is added to each of 4 rows. If it rises by 1, by how much does the sum of all entries rise?""")
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
mistake("all-start-with-one", _ZEROS, "[np.ones_like(value) for value in values]").explain("""
    all gradients were 1 at the start, not only that of the last result
    why: Contributions are added to what is already there. Before any use was visited, that must be 0.
    ask: What should the gradient of an input be that is not used?""")
mistake(
    "inputs-start-with-one",
    _ZEROS,
    "[np.ones_like(v) if k < len(inputs) else np.zeros_like(v) for k, v in enumerate(values)]",
).explain("""
    the gradients of the inputs were 1 at the start, not 0
    why: Contributions are added to what is already there. Before any use was visited, that must be 0.
    ask: What should the gradient of an input be that is not used?""")
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
mistake(
    "unused-left-out",
    _RETURN,
    "used = {i for _, arguments in tape for i in arguments}\n"
    "    return [gradient for i, gradient in enumerate(gradients[: len(inputs)]) if i in used]",
).explain("""
    inputs that are not used were left out of the result
    why: The result has one gradient for each input, in the same order. That of an unused one is 0.
    ask: How many gradients does your code return for 3 inputs of which one is not used?""")
mistake("all-gradients-returned", _RETURN, "return gradients", common=True).explain("""
    the gradients of all arrays were returned, not only those of the inputs
    why: The caller needs one gradient for each input. Those of the results in between are a means to get there.
    ask: How many entries does your result have, and how many inputs are there?""")
mistake("computed-returned", _RETURN, "return gradients[len(inputs) :]").explain("""
    the gradients of the results were returned, not those of the inputs
    why: The inputs have the first numbers.
    ask: Which entries of your list belong to the inputs?""")
mistake("last-returned", _RETURN, "return gradients[-len(inputs) :]").explain("""
    the last gradients of the list were returned, but the inputs are at its beginning
    why: The inputs have the first numbers.
    ask: Which entries of your list belong to the inputs?""")
mistake("order-reversed", _RETURN, "return gradients[: len(inputs)][::-1]").explain("""
    the gradients were returned in reverse order
    why: The first gradient belongs to the first input.
    ask: In which order does the caller expect the gradients?""")
mistake("tuple-returned", _RETURN, "return tuple(gradients[: len(inputs)])").explain("""
    a tuple was returned, not a list
    why: The docstring promises a list.
    ask: What is the type of your result?""")
mistake("any-last-value-accepted", "if np.ndim(values[-1]) > 0:", "if False:", common=True).explain("""
    a last result with axes was accepted
    why: The docstring promises a ValueError. A gradient belongs to one number; an array has many, each with its own.
    ask: What should happen if the last result is a matrix?""")
mistake("only-vectors-refused", "if np.ndim(values[-1]) > 0:", "if np.ndim(values[-1]) == 1:").explain("""
    a matrix was accepted as the last result: only a vector was rejected
    why: The docstring promises a ValueError if the last result has axes, however many.
    ask: What is the number of axes of a single number? Which numbers of axes does your condition reject?""")
mistake(
    "last-step-only",
    "for number in reversed(range(len(inputs), len(values))):",
    "for number in [len(values) - 1]:",
    group="one step",
).explain("""
    only the last entry of the tape was visited
    why: The chain rule goes on from there to the entry before, until the inputs are reached.
    ask: How often does your loop run for a tape of 4 entries?""")
for name, new, which in (
    ("last", "range(len(inputs), len(values) - 1)", "last"),
    ("first", "range(len(inputs) + 1, len(values))", "first"),
):
    group = "all zero" if name == "last" else ""
    mistake(f"{name}-entry-skipped", "range(len(inputs), len(values))", new, group=group).explain(f"""
        the {which} entry of the tape was skipped
        why: Every entry passes gradients on to its arguments.
        ask: At which numbers does your loop begin and end? Does range include its end?""")
mistake("always-float64", "np.zeros_like(value)", "np.zeros(np.shape(value))", _ONES, "1.0", common=True).explain("""
    the gradients are float64 even when the inputs are float32
    why: np.zeros and np.ones create float64 arrays unless a dtype is given. np.zeros_like takes that of its argument.
    ask: What is the dtype of your result when all inputs are float32? Which line causes it?""")
mistake(
    "always-float32", _RETURN, "return [gradient.astype(np.float32) for gradient in gradients[: len(inputs)]]"
).explain("""
    the gradients are float32 even when the inputs are float64
    why: float64 should stay float64. float32 keeps only about seven digits.
    ask: Which of your lines chooses the dtype of the result?""")
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
for name, product, title, why, ask in products("used[0]", "used[1]"):
    mistake(f"matmul-{name}", _LINES["matmul"], product).explain(f"matmul: {title}\nwhy: {why}\nask: {ask}")
mistake("matmul-exchanged", _LINES["matmul"], "matmul_backward(dout, *used)[::-1]").explain("""
    matmul: the gradients of the two factors were swapped
    why: The first result of matmul_backward belongs to the first argument.
    ask: In which order does matmul_backward return its results?""")
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
