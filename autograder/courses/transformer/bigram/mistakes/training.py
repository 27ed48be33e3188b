"""Mistakes in `bigram`: the training loop."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_ZEROS = "W = np.zeros((vocab_size, vocab_size))"
_LOOP = "for _ in range(steps):"
_PLACES = "places = rng.integers(len(ids) - 1, size=batch_size)"
_LOSS = "loss, dW = bigram_loss(ids[places], ids[places + 1], W)"
_UPDATE = "W = sgd_step(W, dW, lr)"
_KEEP = "losses.append(loss)"
_RETURN = "return W, losses"

mistake = MISTAKES.for_functions("bigram.train_bigram")
mistake("step-not-kept", _UPDATE, "sgd_step(W, dW, lr)", common=True).explain("""
    the result of sgd_step was not kept, so W never changes
    why: sgd_step returns a new array and leaves its argument as it is.
    ask: Which of your variables holds the new table?""")
mistake("uphill", _UPDATE, "W = sgd_step(W, -dW, lr)").explain("""
    the steps went uphill: the gradient was added, not subtracted
    why: The gradient points to where the loss rises, and sgd_step has the minus sign already.
    ask: Do your losses fall?""")
mistake(
    "same-batch",
    _LOOP,
    _PLACES + "\n    for _ in range(steps):",
    "        " + _PLACES + "  # (B,), of the current tokens\n",
    "",
    common=True,
).explain("""
    all steps used the same batch
    why: The batch was drawn before the loop. The table then learns these pairs only.
    ask: How often does your code call rng?""")
mistake(
    "loss-after-the-step", _KEEP, "losses.append(bigram_loss(ids[places], ids[places + 1], W)[0])", common=True
).explain("""
    the losses after each step were returned, not those before it
    why: The loss before the step comes with the gradient. The first one should be log V.
    ask: With which table were the losses computed that you return?""")
mistake(
    "gradients-add-up",
    _LOOP,
    "total = 0.0\n    for _ in range(steps):",
    _UPDATE,
    "total = total + dW\n        W = sgd_step(W, total, lr)",
).explain("""
    the gradients of earlier batches were added to those of the new one
    why: PyTorch accumulates gradients until zero_grad. Here, bigram_loss returns a new one every time.
    ask: On which batches should the gradient of the third step depend?""")
mistake("table-restarts", _LOSS, _ZEROS + "\n        " + _LOSS).explain("""
    every step started from a table of zeros again
    why: What the earlier steps learned is lost. The zeros belong before the loop.
    ask: Which table does the second step start from?""")
mistake(
    "gradient-of-zeros", _LOSS, "loss, dW = bigram_loss(ids[places], ids[places + 1], np.zeros_like(W))"
).explain("""
    loss and gradient were computed with the first table, not with the current one
    why: Each step needs the gradient at the table that the step before it returned.
    ask: Do your losses fall?""")
for name, current, following, what in (
    ("not-shifted", "ids[places]", "ids[places]", "the targets are the current tokens themselves"),
    ("backwards", "ids[places + 1]", "ids[places]", "the current and the next tokens were swapped"),
    (
        "one-late",
        "ids[places - 1]",
        "ids[places]",
        "the pairs began one place too early: with place 0, the last token came first",
    ),
    (
        "positions",
        "places % vocab_size",
        "ids[places + 1]",
        "the positions were used as current tokens, not the ids there",
    ),
    (
        "targets-positions",
        "ids[places]",
        "(places + 1) % vocab_size",
        "the positions were used as targets, not the ids there",
    ),
    ("next-id", "ids[places]", "(ids[places] + 1) % vocab_size", "1 was added to the token, not to its position"),
    (
        "two-apart",
        "ids[places]",
        "ids[np.minimum(places + 2, len(ids) - 1)]",
        "the targets are two places further on, not one",
    ),
):
    mistake(name, _LOSS, f"loss, dW = bigram_loss({current}, {following}, W)", common=name == "backwards").explain(f"""
        {what}
        why: The current tokens are the ids at the places that were drawn, and the next tokens those one place further
             on.
        ask: For place 0, which two tokens form the pair?""")
mistake("whole-text", _LOSS, "loss, dW = bigram_loss(ids[:-1], ids[1:], W)").explain("""
    every step used all pairs of the text, not a batch
    why: The places that were drawn were not used. On a long text, a step would take very long.
    ask: How many pairs does each of your steps use?""")
mistake(
    "one-window", _PLACES, "places = (int(rng.integers(len(ids) - 1)) + np.arange(batch_size)) % (len(ids) - 1)"
).explain("""
    a batch is one stretch of the text, not pairs from everywhere
    why: Neighbouring pairs resemble each other, so such a batch says less about the whole text.
    ask: How many random numbers does your code draw for one batch?""")
mistake("in-order", _PLACES, "places = (len(losses) * batch_size + np.arange(batch_size)) % (len(ids) - 1)").explain("""
    the batches were taken from the text in order, not drawn
    why: The docstring fixes the draw, so that a generator in the same state gives the same run in every
             implementation.
    ask: Where does your code use the argument rng?""")
mistake("last-place-never-drawn", "len(ids) - 1, size", "max(len(ids) - 2, 1), size", common=True).explain("""
    the last pair of the text was never drawn
    why: N tokens have N − 1 pairs, and rng.integers excludes its upper end.
    ask: Which is the largest place that your code can draw?""")
mistake(
    "first-place-never-drawn", _PLACES, "places = rng.integers(min(1, len(ids) - 2), len(ids) - 1, size=batch_size)"
).explain("""
    the first pair of the text was never drawn
    why: Places are counted from 0.
    ask: Which is the smallest place that your code can draw?""")
mistake(
    "one-place-too-many",
    "len(ids) - 1, size",
    "len(ids), size",
    _LOSS,
    "loss, dW = bigram_loss(ids[places], np.append(ids, ids[0])[places + 1], W)",
).explain("""
    the last token was drawn as a current token, though nothing follows it
    why: N tokens have N − 1 pairs, so the upper end for rng.integers is N − 1.
    ask: Which is the largest place that your code can draw, and which token comes after it?""")
mistake("one-place-too-many-fails", "len(ids) - 1, size", "len(ids), size").explain("""
    the last token can be drawn as a current token, and then the index of its target is out of range
    why: N tokens have N − 1 pairs, so the upper end for rng.integers is N − 1.
    ask: Which is the largest place that your code can draw, and which token comes after it?""")
for name, code, what in (
    (
        "without-repetition",
        "rng.permutation(len(ids) - 1)[np.arange(batch_size) % (len(ids) - 1)]",
        "the places were drawn without repetition, from a permutation",
    ),
    (
        "by-choice",
        "rng.choice(len(ids) - 1, size=min(batch_size, len(ids) - 1), replace=False)",
        "the places were drawn without repetition, with rng.choice",
    ),
    (
        "random-floats",
        "(rng.random(batch_size) * (len(ids) - 1)).astype(np.int64)",
        "the places were made from rng.random, not from rng.integers",
    ),
    (
        "drawn-twice",
        "[rng.integers(len(ids) - 1, size=batch_size) for _ in range(2)][1]",
        "a second batch was drawn for each step, and the first not used",
    ),
    (
        "as-columns",
        "rng.integers(len(ids) - 1, size=(batch_size, 2))[:, 0]",
        "more places were drawn than pairs are used",
    ),
):
    mistake(name, _PLACES, f"places = {code}").explain(f"""
        {what}
        why: The docstring fixes the draw, so that a generator in the same state gives the same run in every
             implementation.
        ask: Which call of rng does the docstring give?""")
mistake(
    "targets-drawn-separately",
    _LOSS,
    "loss, dW = bigram_loss(ids[places], ids[1 + rng.integers(len(ids) - 1, size=batch_size)], W)",
).explain("""
    the targets were drawn separately from the current tokens
    why: The next token stands right after the current one, so both come from the same draw.
    ask: How are the places of your targets related to those of the current tokens?""")
for seed in (0, 1, 42, 1234):
    mistake(f"own-generator-{seed}", "losses = []", f"losses, rng = [], np.random.default_rng({seed})").explain(f"""
        a new generator with the seed {seed} was made, instead of using rng
        why: Every run then draws the same batches, whatever generator is passed in.
        ask: Where does your code use the argument rng?""")
mistake(
    "generator-per-step", _PLACES, "places = np.random.default_rng(len(losses)).integers(len(ids) - 1, size=batch_size)"
).explain("""
    a new generator was made in each step, instead of using rng
    why: Every run then draws the same batches, whatever generator is passed in.
    ask: Where does your code use the argument rng?""")
for name, start, what in (
    ("ones", "np.ones((vocab_size, vocab_size))", "ones"),
    ("identity", "np.eye(vocab_size)", "the identity matrix"),
    ("uniform-probabilities", "np.full((vocab_size, vocab_size), 1 / vocab_size)", "1 / V everywhere"),
    ("random", "rng.normal(size=(vocab_size, vocab_size))", "normal random numbers"),
    ("small-random", "0.01 * rng.normal(size=(vocab_size, vocab_size))", "normal random numbers times 0.01"),
    ("uniform-random", "rng.random((vocab_size, vocab_size))", "random numbers between 0 and 1"),
    ("counts", "np.log(bigram_counts(ids, vocab_size))", "the logarithms of the counted probabilities"),
):
    mistake(f"starts-from-{name}", _ZEROS, f"W = {start}").explain(f"""
        the table started from {what}, not from zeros
        why: From zeros, the first loss is log V, and no random number is used up before the first batch.
        ask: What is your table if there are no steps?""")
for name, rate, what in (
    ("divided-by-batch", "lr / batch_size", "divided by the batch size"),
    ("times-batch", "lr * batch_size", "multiplied by the batch size"),
    ("decays", "lr / (1 + len(losses))", "divided by the number of the step"),
    ("decays-linearly", "lr * (1 - len(losses) / steps)", "lowered in a straight line to 0"),
    ("halved", "lr / 2", "divided by 2"),
    ("times-v", "lr * vocab_size", "multiplied by V"),
    ("divided-by-steps", "lr / steps", "divided by the number of steps"),
):
    mistake(f"rate-{name}", _UPDATE, f"W = sgd_step(W, dW, {rate})").explain(f"""
        the learning rate was {what}
        why: Every step uses the same lr, and the loss is a mean already.
        ask: Which learning rate do your first and your last step have?""")
mistake("another-rate", _UPDATE, "W = sgd_step(W, dW, CONSTANT)", constant=0.1).explain("""
    the learning rate was always {constant}
    why: The caller says how far a step goes.
    ask: Where does your code use the argument lr?""")
mistake("one-step-too-few", _LOOP, "for _ in range(steps - 1):").explain("""
    one step too few was taken
    why: `steps` losses should be returned, one for each step.
    ask: How many losses do you return for steps = 1?""")
mistake("one-step-too-many", _LOOP, "for _ in range(steps + 1):").explain("""
    one step too many was taken
    why: `steps` losses should be returned, one for each step. With steps = 0, the table stays at zeros.
    ask: How many losses do you return for steps = 0?""")
mistake("first-step-only", _RETURN, "    return W, losses\n    return W, losses").explain("""
    the function returns after the first step
    why: The return statement is inside the loop.
    ask: How many losses do you return?""")
for name, code, what in (
    ("before-last-step", "W + lr * dW if steps else W, losses", "the table before the last step was returned"),
    ("probabilities", "softmax(W), losses", "probabilities were returned, not scores"),
    (
        "counted",
        "np.log(bigram_counts(ids, vocab_size, 1e-9)), losses",
        "the table of the counts was returned, not the trained one",
    ),
    ("float32", "W.astype(np.float32), losses", "the table is float32, not float64"),
    ("transposed", "W.T.copy(), losses", "the table was transposed"),
    ("gradient", "dW if steps else W, losses", "the last gradient was returned, not the table"),
    ("results-exchanged", "losses, W", "the results were returned in the wrong order"),
    ("table-only", "W", "only the table was returned"),
    ("losses-as-array", "W, np.array(losses)", "the losses are an array, not a list"),
    ("losses-as-tuple", "W, tuple(losses)", "the losses are a tuple, not a list"),
    ("last-loss-only", "W, losses[-1:]", "only the last loss was returned"),
    ("last-loss", "W, loss if steps else 0.0", "the last loss was returned, not the list of all"),
    (
        "mean-loss",
        "W, float(np.mean(losses)) if steps else 0.0",
        "the mean of the losses was returned, not the list of all",
    ),
    ("losses-rounded", "W, [round(loss, 4) for loss in losses]", "the losses were rounded"),
    (
        "running-mean",
        "W, [float(np.mean(losses[: i + 1])) for i in range(len(losses))]",
        "the running means of the losses were returned",
    ),
    ("losses-summed", "W, np.cumsum(losses).tolist()", "the losses were added up"),
    ("losses-reversed", "W, losses[::-1]", "the losses are in the reverse order"),
    ("losses-with-place", "W, list(enumerate(losses))", "the losses are pairs with the number of the step"),
):
    mistake(name, _RETURN, f"return {code}").explain(f"""
        {what}
        why: The function returns the learned table of scores, and the loss of each batch as a list of Python floats.
        ask: What are the type and the contents of each of your results?""")
mistake("losses-as-numpy", _KEEP, "losses.append(np.float64(loss))").explain("""
    the losses are NumPy numbers, not Python floats
    why: They are printed and saved differently.
    ask: What is the type of the first loss in your list?""")
mistake("summed-losses", _KEEP, "losses.append(loss * batch_size)").explain("""
    the losses were multiplied by the batch size
    why: bigram_loss returns a mean, and the mean is what should be kept.
    ask: What is your first loss, and what is log V?""")
mistake("every-second-loss", _KEEP, "if len(losses) % 2 == 0:\n            " + _KEEP).explain("""
    not every loss was kept
    why: `steps` losses should be returned, one for each step.
    ask: How many losses do you return for 30 steps?""")
mistake("size-from-the-text", _ZEROS, "W = np.zeros((int(np.max(ids)) + 1,) * 2)").explain("""
    the size of the table was taken from the text, not from vocab_size
    why: A text need not contain every token of the vocabulary.
    ask: What is the shape of your table for the text 0 1 and a vocabulary of 27 tokens?""")
mistake(
    "gradient-not-fresh",
    _LOSS,
    "loss, new = bigram_loss(ids[places], ids[places + 1], W)\n        dW = new if not losses else dW",
).explain("""
    every step used the gradient of the first batch
    why: The gradient changes with the table and with the batch.
    ask: In which step is your dW computed?""")
for share in (0.5, 0.8, 0.9, 0.95, 0.99):
    mistake(
        f"momentum-{share}",
        _LOOP,
        "velocity = 0.0\n    for _ in range(steps):",
        _UPDATE,
        f"velocity = {share} * velocity + dW\n        W = sgd_step(W, velocity, lr)",
    ).explain(f"""
        momentum was used: {share} of the previous step was added to each step
        why: Here every step is lr times the gradient of its own batch.
        ask: On which batches should the second step depend?""")
for decay in (0.0001, 0.001, 0.01, 0.1):
    mistake(f"weight-decay-{decay}", _UPDATE, f"W = sgd_step(W, dW + {decay} * W, lr)").explain(f"""
        the table was pulled towards 0 in each step: {decay} · W was added to the gradient
        why: That is weight decay, a kind of smoothing. Here the step is lr times the gradient, and nothing else.
        ask: What does your step do to a row of a token that does not occur in the batch?""")
mistake("step-twice", _UPDATE, _UPDATE + "\n        " + _UPDATE).explain("""
    two steps were taken for each batch
    why: The second one uses a gradient that is out of date.
    ask: How often does your loop change the table?""")
