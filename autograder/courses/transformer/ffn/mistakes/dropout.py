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
for name, scale, title in (
    ("multiplied", "mask *= 1 - float(p)", "the kept values were multiplied by 1 - p instead of divided"),
    ("multiplied-by-p", "mask *= float(p)", "the kept values were multiplied by p instead of divided by 1 - p"),
    ("divided-by-root", "mask /= np.sqrt(1 - float(p))", "the kept values were divided by √(1 - p) instead of 1 - p"),
    ("divided-by-one-plus-p", "mask /= 1 + float(p)", "the kept values were divided by 1 + p instead of 1 - p"),
    (
        "multiplied-by-one-plus-p",
        "mask *= 1 + float(p)",
        "the kept values were multiplied by 1 + p instead of divided by 1 - p",
    ),
    (
        "divided-by-own-share",
        "mask /= max(mask.mean(), 1e-9)",
        "the kept values were divided by the share that happened to be kept, not by 1 - p",
    ),
    ("divided-twice", "mask /= (1 - float(p)) ** 2", "the kept values were divided by 1 - p twice"),
):
    mistake(name, "mask /= 1 - float(p)", scale).explain(f"""
        {title}
        why: The kept values are divided by 1 - p, to make up for the dropped ones: on average the sum stays the same.
        ask: If p is 0.2, by which number is every kept value multiplied?""")
mistake("kept-and-dropped-exchanged", ">= p", "< p", common=True).explain("""
    a share p was kept and 1 - p dropped
    why: With p = 0.1 nine of ten values are dropped. With p = 0.5 only the pattern is different.
    ask: Is p the probability of dropping or of keeping a value? Where does your comparison use it?""")
mistake("p-is-kept-share", ">= p", "< p", "1 - float(p)", "float(p)").explain("""
    p was used as the probability of keeping a value
    why: A share p was kept and divided by p. Here p is the probability of dropping, as in PyTorch.
    ask: What should happen for p = 0: is everything kept, or everything dropped?""")
mistake("on-outside-training", "if training and p > 0", "if p > 0", common=True).explain("""
    values were dropped although training is false
    why: After training the predictions would then be random, and worse.
    ask: Which of your lines uses `training`?""")
mistake("off-in-training", "if training and p > 0", "if not training and p > 0").explain("""
    values were dropped after training, but not during it
    why: Dropout is for training; afterwards it does nothing.
    ask: In which case is your condition true?""")
mistake("never", "if training and p > 0", "if False").explain("""
    nothing was ever dropped
    why: During training each value is set to 0 with probability p.
    ask: Is your mask drawn, and is it used?""")
mistake(
    "scaled-in-use", _SCALE, "", f"    {_RESULT}", f"    elif p > 0:\n        mask *= 1 - float(p)\n    {_RESULT}"
).explain("""
    outside training x was multiplied by 1 - p, as in the original dropout
    why: Inverted dropout scales during training, so that nothing has to be done afterwards.
    ask: What should dropout(x, 0.5, rng, training=False) return?""")
mistake(
    "scaled-when-off", f"    {_RESULT}", f"    if not training:\n        mask /= 1 - float(p)\n    {_RESULT}"
).explain("""
    outside training x was divided by 1 - p
    why: Where nothing is dropped, there is nothing to make up for.
    ask: What should dropout(x, 0.5, rng, training=False) return?""")
for name, off, title in (
    ("off-without-mask", "return x", "where nothing is dropped, x alone was returned"),
    ("off-with-none", "return x, None", "where nothing is dropped, the mask is None"),
    (
        "off-with-scale",
        "return x * 1, np.ones_like(x) / (1 - float(p))",
        "where nothing is dropped, the mask is 1 / (1 - p)",
    ),
    ("off-with-zeros", "return x * 1, np.zeros_like(x)", "where nothing is dropped, the mask is 0"),
    ("off-with-booleans", "return x * 1, np.ones(x.shape, bool)", "where nothing is dropped, the mask is boolean"),
    ("off-with-a-number", "return x * 1, 1.0", "where nothing is dropped, the mask is a single number"),
    (
        "off-in-float64",
        "return x * 1, np.ones(x.shape)",
        "where nothing is dropped, the mask is float64 for every input",
    ),
):
    mistake(
        name, "    x = as_float(x)\n", f"    x = as_float(x)\n    if not training or p == 0:\n        {off}\n"
    ).explain(f"""
        {title}
        why: dropout always returns two arrays; the mask is all ones then. The backward pass multiplies by it.
        ask: What does the docstring say about the mask if `training` is false or `p` is 0?""")
mistake(
    "mask-not-scaled",
    "mask /= 1 - float(p)",
    "mask /= 1.0",
    f"    {_RESULT}",
    "    return x * mask / (1 - float(p) if training else 1.0), mask",
).explain("""
    the output was scaled, but not the mask that is returned
    why: The backward pass multiplies by the mask, so without the factor 1 / (1 - p) its gradient would be too small.
    ask: Is out equal to x times the mask that you return?""")
for name, result, title in (
    ("boolean-mask", "x * mask, mask != 0", "the mask that is returned is boolean"),
    ("output-not-scaled", "x * (mask != 0), mask", "the mask was scaled, but not the output"),
    (
        "output-scaled-twice",
        "x * mask / (1 - float(p) if training else 1.0), mask",
        "the output was scaled twice, the mask once",
    ),
    ("output-not-masked", "x * 1, mask", "the mask was not applied to x"),
    (
        "inverse-mask",
        "x * mask, 1 / (1 - float(p)) * (mask == 0)",
        "the mask that is returned marks the dropped values",
    ),
    ("results-swapped", "mask, x * mask", "the mask was returned before the output"),
    ("mask-not-returned", "x * mask", "only the output was returned, without the mask"),
    ("float64", "x * mask.astype(float), mask.astype(float)", "the mask is float64, and so is the result"),
    ("mask-in-float64", "x * mask, mask.astype(float)", "the mask is float64 for every input"),
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
        "one-mask-for-all-texts",
        "rng.random(x.shape[1:]) >= p",
        "one mask was drawn and used along the whole first axis",
        "Each value should be dropped independently.",
    ),
    (
        "one-mask-for-all-matrices",
        "rng.random(x.shape[-2:]) >= p",
        "one mask was drawn for the last two axes and used for all others",
        "Each value should be dropped independently.",
    ),
    (
        "whole-rows",
        "rng.random((*x.shape[:-1], 1)) >= p",
        "each row was dropped or kept as a whole",
        "This drops tokens, not features. Each value should be dropped independently.",
    ),
    (
        "whole-texts",
        "rng.random((len(x),) + (1,) * (x.ndim - 1)) >= p",
        "each entry of the first axis was dropped or kept as a whole",
        "Each value should be dropped independently.",
    ),
    (
        "all-or-nothing",
        "rng.random() >= p",
        "one random number decided about all values",
        "Each value should be dropped independently.",
    ),
    (
        "own-generator",
        "np.random.default_rng(0).random(x.shape) >= p",
        "the random numbers came from a new generator, not from rng",
        "A generator made inside the function drops the same places in every call.",
    ),
    (
        "drawn-in-float32",
        "rng.random(x.shape, dtype=np.float32) >= p",
        "the random numbers were drawn in float32",
        "The same seed then gives other numbers than `rng.random(x.shape)`.",
    ),
    (
        "drawn-in-dtype-of-x",
        "rng.random(x.shape, dtype=x.dtype) >= p",
        "the random numbers were drawn in the dtype of x",
        "In float32, the same seed gives other numbers than `rng.random(x.shape)`.",
    ),
    (
        "other-side",
        "rng.random(x.shape) < 1 - p",
        "a value was kept where the random number is below 1 - p",
        "The share is right, but the same seed drops other places than the docstring says.",
    ),
    (
        "binomial",
        "rng.binomial(1, 1 - p, x.shape)",
        "the mask was drawn with rng.binomial, not with rng.random",
        "The share is right, but the same seed drops other places than the docstring says.",
    ),
    (
        "normal",
        "rng.standard_normal(x.shape) >= p",
        "the random numbers are normally distributed, not uniform",
        "A share p of uniform numbers is below p; of normal numbers it is another share.",
    ),
    (
        "transposed-draw",
        "rng.random(x.shape[::-1]).T >= p",
        "the random numbers were drawn for the transposed shape",
        "The same seed then drops other places than `rng.random(x.shape)`.",
    ),
    (
        "drawn-twice",
        "(rng.random(x.shape) >= p) * (rng.random(x.shape) >= p)",
        "each value had to survive two draws",
        "One call of `rng.random(x.shape)` decides.",
    ),
    (
        "second-draw",
        "rng.random((2, *x.shape))[1] >= p",
        "random numbers were drawn before those of the mask",
        "One call of `rng.random(x.shape)` decides, and it is the first.",
    ),
    (
        "exact-share",
        "(rng.random(x.size).argsort().argsort() >= int(p * x.size)).reshape(x.shape)",
        "exactly the share p was dropped in every call",
        "Each value is dropped independently of the others, so the number varies.",
    ),
):
    # rng.binomial compares the same uniform numbers with 1 - p.
    mistake(name, _DRAW, draw, group="below 1 - p" if name in ("other-side", "binomial") else "").explain(f"""
        {title}
        why: {why}
        ask: Which call of rng does the docstring name, and how many numbers does it give for an x of shape (B, T, D)?
             Which of them are dropped?""")
mistake("threshold", _DRAW, "rng.random(x.shape) >= CONSTANT", constant=0.3).explain("""
    the share of dropped values is always {constant}, whatever p is
    why: p is the probability of dropping a value.
    ask: Where does your comparison use p?""")
mistake(
    "two-masks", _RESULT, "return x * mask, (mask if p == 0 or not training else (rng.random(x.shape) >= p) / (1 - p))"
).explain("""
    the mask that is returned is another draw than the one that was applied
    why: The backward pass must know which values were dropped.
    ask: How often does your code draw random numbers?""")
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
    (
        "drawn-always",
        ("if training and p > 0", "draw = rng.random(x.shape)\n    if training and p > 0", _DRAW, "draw >= p"),
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
    ("negative-accepted", "if p >= 1:", "a negative p was accepted"),
    ("large-accepted", "if p < 0:", "a p of 1 or more was accepted"),
    ("zero-refused", "if not 0 < p < 1:", "p = 0 was rejected"),
    ("checked-in-training-only", "if training and not 0 <= p < 1:", "outside training p was not checked"),
):
    mistake(name, _ERROR, condition).explain(f"""
        {title}
        why: The docstring promises a ValueError if p is not in [0, 1), that is 0 ≤ p < 1: with p = 1 the kept values
             would be divided by 0.
        ask: Which of the numbers -0.5, 0, 1 and 1.5 does your code accept, with training and without?""")
mistake("assertion", 'raise ValueError(f"p must be in [0, 1), got {p}")', "assert 0 <= p < 1").explain("""
    an assertion was used, which raises AssertionError, not ValueError
    why: The docstring promises a ValueError. Assertions are for mistakes in your own code, and can be switched off.
    ask: Which exception does `assert` raise?""")
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
mistake("writes-into-x", _RESULT, "x *= mask\n    return x, mask").explain("""
    x was changed in place
    why: `x *= mask` and `x[...] = 0` write into the caller's array, which may still be needed.
    ask: Which of your lines write into an array that you did not create?""")

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
    (
        "divided-by-mask",
        " / mask",
        "dout was divided by the mask",
        "The backward pass does not undo the forward pass: the slope of x * mask is the mask.",
    ),
    (
        "divided-where-kept",
        " * np.where(mask == 0, 0, 1 / np.where(mask == 0, 1, mask))",
        "dout was divided by the mask where a value was kept",
        "The backward pass does not undo the forward pass: the slope of x * mask is the mask.",
    ),
    (
        "dropped-for-kept",
        " * (mask == 0)",
        "the gradient was passed on where a value was dropped",
        "A dropped value had no influence on the output, so its gradient is 0.",
    ),
    (
        "scaled-by-share",
        " * mask / max(float((mask != 0).mean()), 1e-9)",
        "dx was divided by the share of kept values, too",
        "The mask already contains 1 / (1 - p).",
    ),
    ("scaled-by-half", " * mask * 0.5", "dx was multiplied by ½", "The slope of x * mask is the mask itself."),
    ("sign", " * -mask", "dx has the wrong sign", "A step along it would then increase the loss."),
    (
        "plus",
        " + mask",
        "the mask was added, not multiplied",
        "The slope of x * mask is the mask, by which dout is multiplied.",
    ),
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
