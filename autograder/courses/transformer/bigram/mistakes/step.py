"""Mistakes in `bigram`: the step of gradient descent."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP = "return W - float(lr) * dW"
# Questions where an example with numbers would not show the mistake.
_QUESTIONS = {
    "transposed": "Which entry of dW changes W[0, 1]?",
    "flattened": "What are the shapes of W and of your result?",
    "first-row-only": "Which rows of W does your step change?",
    "mean-gradient": "For W = [1, 1], dW = [2, 4] and lr = 0.1, what does your function return?",
    "divided-by-rows": "For a W of ten rows, is your step shorter than lr · dW?",
    "divided-by-size": "For a W of a hundred entries, is your step shorter than lr · dW?",
    "always-float64": "What is the dtype of your result when W is float32?",
    "always-float32": "What is the dtype of your result when W is float64?",
}

mistake = MISTAKES.for_functions("bigram.sgd_step")
for name, code, what, why in (
    (
        "uphill",
        "W + float(lr) * dW",
        "the gradient was added, not subtracted",
        "The gradient points to where the loss rises.",
    ),
    (
        "lr-ignored",
        "W - dW",
        "the learning rate was ignored",
        "It says how far the step goes. The mistake stays hidden with lr = 1.",
    ),
    (
        "lr-divided",
        "W - dW / float(lr)",
        "the gradient was divided by the learning rate",
        "A larger learning rate means a longer step.",
    ),
    (
        "lr-squared",
        "W - float(lr) ** 2 * dW",
        "the gradient was multiplied by the square of the learning rate",
        "The mistake stays hidden with lr = 1.",
    ),
    ("step-only", "-float(lr) * dW", "the step was returned, not the new parameters", "The step has to be added to W."),
    (
        "step-only-uphill",
        "float(lr) * dW",
        "lr · dW was returned, not W − lr · dW",
        "The step has to be subtracted from W.",
    ),
    (
        "from-the-wrong-side",
        "float(lr) * dW - W",
        "the difference was taken the wrong way round",
        "The new parameters are near the old ones if lr is small.",
    ),
    (
        "lr-on-both",
        "float(lr) * (W - dW)",
        "W was multiplied by the learning rate, too",
        "The new parameters are near the old ones if lr is small.",
    ),
    (
        "exchanged",
        "dW - float(lr) * W",
        "W and dW were swapped",
        "The new parameters are near the old ones if lr is small.",
    ),
    (
        "relative",
        "W * (1 - float(lr) * dW)",
        "the step was multiplied by W",
        "A parameter of 0 could then never change.",
    ),
    (
        "transposed",
        "W - float(lr) * dW.T.reshape(W.shape)",
        "dW was transposed",
        "dW has the shape of W, entry by entry.",
    ),
    ("not-moved", "W + 0.0", "no step was taken: W was returned as it is", "Nothing is learned."),
    (
        "sign-only",
        "W - W.dtype.type(lr) * np.sign(dW)",
        "only the sign of the gradient was used",
        "A large gradient should move its parameter further than a small one.",
    ),
    (
        "mean-gradient",
        "W - W.dtype.type(lr) * dW.mean()",
        "the mean of the gradient was subtracted from every parameter",
        "Each parameter has its own gradient.",
    ),
    (
        "divided-by-rows",
        "W - float(lr) * dW / len(W)",
        "the gradient was divided by the number of rows",
        "The gradient is that of a mean already.",
    ),
    (
        "divided-by-size",
        "W - float(lr) * dW / W.size",
        "the gradient was divided by the number of parameters",
        "The gradient is that of a mean already.",
    ),
    ("doubled", "W - 2 * float(lr) * dW", "the step is twice as long", "The step is lr times the gradient."),
    ("halved", "W - float(lr) * dW / 2", "the step is half as long", "The step is lr times the gradient."),
    (
        "two-steps",
        "W - float(lr) * dW - float(lr) * dW * float(lr)",
        "a second step was taken along lr² · dW",
        "One call takes one step.",
    ),
    (
        "flattened",
        "(W - float(lr) * dW).reshape(-1)",
        "the result was flattened",
        "The new parameters have the shape of W.",
    ),
    (
        "first-row-only",
        "np.concatenate([(W - float(lr) * dW)[:1], W[1:]])",
        "only the first row was changed",
        "Every parameter takes a step.",
    ),
    (
        "limited-to-1",
        "W - float(lr) * np.clip(dW, -1, 1)",
        "the gradient was limited to between −1 and 1",
        "The step is lr times the whole gradient.",
    ),
    (
        "always-float64",
        "W - np.float64(lr) * dW.astype(np.float64)",
        "the result is float64 even when W is float32",
        "float32 should stay float32. A NumPy number such as np.float64(0.1) makes the result float64.",
    ),
    (
        "always-float32",
        "(W - float(lr) * dW).astype(np.float32)",
        "the result is float32 even when W is float64",
        "float32 keeps only about seven digits.",
    ),
    (
        "integer-rate",
        "W - int(lr) * dW",
        "the learning rate was rounded down to an integer",
        "A rate of 0.1 becomes 0, and nothing is learned.",
    ),
):
    ask = _QUESTIONS.get(
        name, "For W = 1, dW = 2 and lr = 0.1, what does your function return, and what should it return?"
    )
    mistake(name, _STEP, f"return {code}", common=name in ("uphill", "lr-ignored")).explain(f"""
        {what}
        why: {why}
        ask: {ask}""")
mistake("another-rate", "float(lr)", "CONSTANT", constant=0.01).explain("""
    the learning rate was always {constant}
    why: The caller says how far the step goes.
    ask: Where does your code use the argument lr?""")
mistake("weight-decay", _STEP, "return W - float(lr) * (dW + CONSTANT * W)", constant=0.01).explain("""
    the parameters were pulled towards 0 as well: {constant} · W was added to the gradient
    why: That is weight decay. Here the step is lr times the gradient, and nothing else.
    ask: What does your function return if dW is 0?""")
mistake("normalised", _STEP, "return W - float(lr) * dW / np.sqrt((dW * dW).sum())").explain("""
    the gradient was divided by its length
    why: Every step then has the same length, even near the minimum, where the gradient is small.
    ask: By how much does your function change W if dW is tiny?""")
for name, code in (
    ("", "W -= float(lr) * dW\n    return W"),
    ("-out", "return np.subtract(W, float(lr) * dW, out=W)"),
    ("-copied", "W -= float(lr) * dW\n    return W.copy()"),
):
    mistake(f"in-place{name}", _STEP, code, common=name == "", group="in place").explain("""
        W was changed in place
        why: `W -= …` writes into the caller's array. The function promises a new array.
        ask: Which of your lines create a new array, and which write into an argument?""")
mistake("gradient-in-place", _STEP, "dW *= float(lr)\n    return W - dW").explain("""
    dW was changed in place
    why: `dW *= …` writes into the caller's array, which may still be needed.
    ask: Which of your lines create a new array, and which write into an argument?""")
mistake("nothing-returned", _STEP, "W -= float(lr) * dW").explain("""
    W was changed in place, and nothing was returned
    why: The function returns the new parameters as a new array.
    ask: What does a function without a return statement return?""")
