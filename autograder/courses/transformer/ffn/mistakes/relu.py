"""Mistakes in ReLU and its gradient, and in the shape and dtype of what any activation returns."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("ffn.relu")
mistake("leaky", "np.maximum(as_float(x), 0)", "np.where(as_float(x) > 0, as_float(x), 0.01 * as_float(x))").explain("""
    negative values were not set to 0: this is the leaky ReLU
    why: ReLU returns exactly 0 for every negative value.
    ask: What should relu(-1000) be?""")
mistake("minimum", "np.maximum(as_float(x), 0)", "np.minimum(as_float(x), 0)").explain("""
    the minimum with 0 was taken, not the maximum
    why: ReLU returns positive values unchanged and 0 for all others.
    ask: What are relu(3), relu(-3) and relu(0)?""")

mistake = MISTAKES.for_functions("ffn.relu_backward")
mistake("one-at-zero", "> 0", ">= 0", common=True).explain("""
    at exactly 0 the gradient was passed on
    why: ReLU has a corner at 0 and no derivative there; PyTorch and this course use 0.
    ask: What is x > 0 for x = 0, and what is x >= 0? Which of the two do you use?""")
mistake(
    "leaky", "(as_float(x) > 0)", "np.where(as_float(x) > 0, 1.0, CONSTANT).astype(as_float(x).dtype)", constant=0.01
).explain("""
    where x is not positive, the gradient was multiplied by {constant}, not by 0
    why: That is the slope of a leaky ReLU. ReLU itself is constant there.
    ask: For which x does relu(x) change when x does?""")
for name, new, title in (
    ("sign-of-dout", "(as_float(dout) > 0)", "the sign of dout was used instead of the sign of x"),
    ("gate-inverted", "(as_float(x) <= 0)", "the gradient was passed on where x is negative"),
    ("passed-through", "1.0", "dx is dout, as if the activation did nothing"),
):
    mistake(name, "(as_float(x) > 0)", new, common=name == "sign-of-dout").explain(f"""
        {title}
        why: The slope of ReLU is 1 where x, the input of the forward pass, is positive, and 0 elsewhere.
        ask: For which x does relu(x) change when x does? By how much?""")
mistake(
    "dout-missing", "as_float(dout) * (as_float(x) > 0)", "(as_float(x) > 0) * np.ones_like(as_float(dout))"
).explain("""
    the slope was not multiplied by dout
    why: Chain rule: the gradient of the output, times the slope of this step.
    ask: Which of the two arguments does your result depend on, and how?""")
mistake("writes-into-dout").body("""
    dout = as_float(dout)
    dout[np.asarray(x) <= 0] = 0
    return dout
""").explain("""
    dout[x <= 0] = 0 changed the caller's array
    why: The same dout may still be needed along another path.
    ask: Which of your lines write into an array that you did not create?""")
mistake("float64", "(as_float(x) > 0)", "np.where(as_float(x) > 0, 1.0, 0.0)").explain("""
    the result is float64 for every input
    why: np.where of two Python numbers, np.zeros and .astype(float) give float64 masks, and the product is then
         float64, too.
    ask: Which dtype does your mask have? A boolean mask does not change the dtype of dout.""")

# What may be wrong with the result of each activation.
for function, result in (("relu", "np.maximum(as_float(x), 0)"), ("gelu", "x * _gelu_gate(x)")):
    mistake = MISTAKES.for_functions(f"ffn.{function}")
    mistake("float64", f"return {result}", f"return ({result}).astype(np.float64)").explain("""
        the result is float64 for every input
        why: np.sqrt of a Python number, np.zeros and np.vectorize give float64, and so does all that is combined with
             them. A Python number such as 0 or math.sqrt(2) does not change the dtype of x.
        ask: Which dtype does x have, and which dtype does your result have? From which line on?""")
    kind = "kind = np.asarray(x).dtype\n    "
    first = "return" if function == "relu" else "x = as_float(x)"
    mistake("integers-stay", first, kind + first, result, f"({result}).astype(kind)").explain("""
        the result for integers is made of integers
        why: All functions of this course compute in floats; integers are converted to float64 first.
        ask: What does as_float do, and where do you call it?""")
    mistake("flattened", f"return {result}", f"return np.ravel({result})").explain("""
        the result has lost the shape of x
        why: An activation works element by element, so the result has the shape of x.
        ask: Which of your lines flatten x, and where is the shape restored?""")
