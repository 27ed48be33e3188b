"""Mistakes in dropout and its gradient."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_DRAW, _SCALE, _RESULT = "rng.random(x.shape) >= p", "        mask /= 1 - float(p)\n", "return x * mask, mask"
_ERROR = "if not 0 <= p < 1:"

mistake = MISTAKES.for_functions("ffn.dropout")
mistake("not-scaled", _SCALE, "", common=True).explain("""
    the kept values were not divided by 1 - p
    why: The next layers then get smaller sums during training than after it.
    ask: If half of the values are dropped, how must the others change to keep the sum the same on average?""")
mistake("divided-by-p", "mask /= 1 - float(p)", "mask /= float(p)", common=True).explain("""
    the kept values were divided by p instead of 1 - p
    why: With p = 0.5 the mistake stays hidden.
    ask: Which share of the values is kept if p is 0.2?""")
mistake("kept-and-dropped-exchanged", ">= p", "< p", common=True).explain("""
    a share p was kept and 1 - p dropped
    why: With p = 0.1 nine of ten values are dropped. With p = 0.5 only the pattern is different.
    ask: Is p the probability of dropping or of keeping a value? Where does your comparison use it?""")
mistake("below-1-minus-p", _DRAW, "rng.random(x.shape) < 1 - p").explain("""
    a value was kept where its random number is below 1 - p, not where it is at least p
    why: The share is right, but other values are dropped: with the same seed, other code gives other results.
    ask: With p = 0.2, is a value kept or dropped if its random number is 0.1, and if it is 0.9?""")
mistake("on-outside-training", "if training and p > 0", "if p > 0", common=True).explain("""
    values were dropped although training is false
    why: After training the predictions would then be random, and worse.
    ask: Which of your lines uses `training`?""")
for name, off, title in (
    ("off-with-none", "return x, None", "where nothing is dropped, the mask is None"),
    ("off-with-zeros", "return x * 1, np.zeros_like(x)", "where nothing is dropped, the mask is 0"),
):
    mistake(
        name, "    x = as_float(x)\n", f"    x = as_float(x)\n    if not training or p == 0:\n        {off}\n"
    ).explain(f"""
        {title}
        why: dropout always returns two arrays; the mask is all ones then. The backward pass multiplies by it.
        ask: dropout_backward multiplies the gradient by your mask. What comes out if nothing was dropped?""")
for name, result, title in (
    ("output-not-scaled", "x * (mask != 0), mask", "the mask was scaled, but not the output"),
    ("output-not-masked", "x * 1, mask", "the mask was not applied to x"),
    ("output-in-float64", "(x * mask).astype(float), mask", "the output is float64 for every input"),
):
    mistake(name, _RESULT, f"return {result}").explain(f"""
        {title}
        why: The output is x times the mask that is returned, and both have the dtype of x: the backward pass multiplies
             by the same mask.
        ask: Is out equal to x times the mask that you return? Which dtype do np.ones, np.zeros and rng.random give?""")
for name, draw, title, why in (
    (
        "one-mask-for-all-rows",
        "rng.random(x.shape[-1]) >= p",
        "one mask was drawn for the last axis and used for every row",
        "The same features are then dropped for all tokens. Each value should be dropped independently.",
    ),
    (
        "own-generator",
        "np.random.default_rng(0).random(x.shape) >= p",
        "the random numbers came from a new generator, not from rng",
        "A generator made inside the function drops the same places in every call.",
    ),
    (
        "drawn-in-dtype-of-x",
        "rng.random(x.shape, dtype=x.dtype) >= p",
        "the random numbers were drawn in the dtype of x",
        "In float32, the same seed gives other numbers than `rng.random(x.shape)`.",
    ),
):
    mistake(name, _DRAW, draw).explain(f"""
        {title}
        why: {why}
        ask: For x of shape (2, 3, 4), how many numbers do you draw from rng, and of which dtype? Does a second call
             drop other places?""")
for name, edits in (
    (
        "drawn-outside-training",
        (
            "if training and p > 0",
            "draw = rng.random(x.shape) if p > 0 else 0\n    if training and p > 0",
            _DRAW,
            "draw >= p",
        ),
    ),
    ("drawn-with-p-0", ("if training and p > 0", "if training")),
):
    group = "drawn without need" if name != "drawn-with-p-0" else ""
    mistake(name, *edits, group=group).explain("""
        random numbers were drawn although nothing is dropped
        why: If `training` is false or `p` is 0, rng is not used, and may be None.
        ask: In which cases does your code reach the line that draws?""")
for name, condition, title in (
    ("p-not-checked", "if False:", "p was not checked"),
    ("one-accepted", "if not 0 <= p <= 1:", "p = 1 was accepted"),
    ("large-accepted", "if p < 0:", "a p of 1 or more was accepted"),
):
    mistake(name, _ERROR, condition).explain(f"""
        {title}
        why: With p = 1, the kept values would be divided by 0, and no other p outside [0, 1) is a probability.
        ask: Which of the numbers -0.5, 0, 1 and 1.5 does your code accept, with training and without?""")
mistake(
    "integers-truncated",
    "x = as_float(x)",
    "x = np.asarray(x)",
    "mask *= rng",
    "mask = mask * rng",
    "mask /= 1 - float(p)",
    "mask = (mask / (1 - float(p))).astype(x.dtype)",
).explain("""
    the mask for integers is made of integers
    why: np.ones_like and np.zeros_like have the dtype of x, so that 1 / (1 - p) is cut off.
    ask: If x holds integers, what is the dtype of np.ones_like(x)?""")

mistake = MISTAKES.for_functions("ffn.dropout_backward")
for name, factor, title, why in (
    (
        "mask-ignored",
        " * 1.0",
        "the mask was not used: dx is dout",
        "A dropped value had no influence on the output, so its gradient is 0.",
    ),
    (
        "scale-lost",
        " * (mask != 0)",
        "the mask was used as 0 and 1 only, without its scale",
        "The kept values were divided by 1 - p, so their gradients are, too.",
    ),
    ("scaled-twice", " * mask * mask", "the scale was applied twice", "The mask already contains 1 / (1 - p)."),
):
    mistake(name, " * mask", factor, common=name == "scale-lost").explain(f"""
        {title}
        why: {why}
        ask: For out = x * mask, what is the derivative with respect to x?""")
mistake("dout-missing").body("return as_float(dout) * 0 + mask").explain("""
    the mask was returned, without dout
    why: Chain rule: the gradient of the output, times the slope of this step.
    ask: Which of the two arguments does your result depend on?""")
mistake("kept-only").body("return as_float(dout)[mask != 0] * mask[mask != 0]").explain("""
    only the gradients of the kept values were returned
    why: dx has the shape of dout, with 0 where a value was dropped.
    ask: What is the shape of dout, and what is the shape of your result?""")
mistake("float64", " * mask", " * mask.astype(np.float64)").explain("""
    the result is float64 for every input
    why: dx has the dtype of dout.
    ask: Where does your code name a dtype, or make an array that has one by default?""")
mistake("writes-into-dout").body("""
    dout *= mask
    return dout
""").explain("""
    dout *= mask changed the caller's array
    why: The same dout may still be needed along another path.
    ask: Which of your lines write into an array that you did not create?""")
mistake("writes-into-mask").body("""
    mask *= dout
    return mask
""").explain("""
    mask *= dout changed the caller's mask
    why: The mask may be needed again.
    ask: Which of your lines write into an array that you did not create?""")
