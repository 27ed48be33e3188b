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
    ("step-only", "-float(lr) * dW", "the step was returned, not the new parameters", "The step has to be added to W."),
    (
        "exchanged",
        "dW - float(lr) * W",
        "W and dW were swapped",
        "The new parameters are near the old ones if lr is small.",
    ),
    (
        "transposed",
        "W - float(lr) * dW.T.reshape(W.shape)",
        "dW was transposed",
        "dW has the shape of W, entry by entry.",
    ),
    (
        "sign-only",
        "W - W.dtype.type(lr) * np.sign(dW)",
        "only the sign of the gradient was used",
        "A large gradient should move its parameter further than a small one.",
    ),
    ("doubled", "W - 2 * float(lr) * dW", "the step is twice as long", "The step is lr times the gradient."),
    (
        "flattened",
        "(W - float(lr) * dW).reshape(-1)",
        "the result was flattened",
        "The new parameters have the shape of W.",
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
