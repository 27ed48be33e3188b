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
mistake("backwards", _LOSS, "loss, dW = bigram_loss(ids[places + 1], ids[places], W)", common=True).explain("""
    the current and the next tokens were swapped
    why: The current tokens are the ids at the places that were drawn, and the next tokens those one place further
         on.
    ask: For place 0, which two tokens form the pair?""")
mistake("whole-text", _LOSS, "loss, dW = bigram_loss(ids[:-1], ids[1:], W)").explain("""
    every step used all pairs of the text, not a batch
    why: The places that were drawn were not used. On a long text, a step would take very long.
    ask: How many pairs does each of your steps use?""")
mistake("last-place-never-drawn", "len(ids) - 1, size", "max(len(ids) - 2, 1), size", common=True).explain("""
    the last pair of the text was never drawn
    why: N tokens have N − 1 pairs, and rng.integers excludes its upper end.
    ask: Which is the largest place that your code can draw?""")
for name, code, what in (
    (
        "without-repetition",
        "rng.permutation(len(ids) - 1)[np.arange(batch_size) % (len(ids) - 1)]",
        "the places were drawn without repetition, from a permutation",
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
        why: Everybody who draws in the same way gets the same run from the same seed, loss by loss. This code gets
             another one.
        ask: How many numbers does a step of yours draw for 32 pairs, and can a place occur twice among them?""")
for name, start, what in (
    ("ones", "np.ones((vocab_size, vocab_size))", "ones"),
    ("random", "rng.normal(size=(vocab_size, vocab_size))", "normal random numbers"),
):
    mistake(f"starts-from-{name}", _ZEROS, f"W = {start}").explain(f"""
        the table started from {what}, not from zeros
        why: From zeros, the first loss is log V, and no random number is used up before the first batch.
        ask: What is your table if there are no steps?""")
for name, rate, what in (
    ("decays", "lr / (1 + len(losses))", "divided by the number of the step"),
    ("halved", "lr / 2", "divided by 2"),
):
    mistake(f"rate-{name}", _UPDATE, f"W = sgd_step(W, dW, {rate})").explain(f"""
        the learning rate was {what}
        why: Every step uses the same lr, and the loss is a mean already.
        ask: Which learning rate do your first and your last step have?""")
mistake("one-step-too-few", _LOOP, "for _ in range(steps - 1):").explain("""
    one step too few was taken
    why: `steps` losses should be returned, one for each step.
    ask: How many losses do you return for steps = 1?""")
mistake("one-step-too-many", _LOOP, "for _ in range(steps + 1):").explain("""
    one step too many was taken
    why: `steps` losses should be returned, one for each step. With steps = 0, the table stays at zeros.
    ask: How many losses do you return for steps = 0?""")
for name, code, what in (
    ("probabilities", "softmax(W), losses", "probabilities were returned, not scores"),
    ("float32", "W.astype(np.float32), losses", "the table is float32, not float64"),
    ("results-exchanged", "losses, W", "the results were returned in the wrong order"),
    ("losses-as-array", "W, np.array(losses)", "the losses are an array, not a list"),
):
    mistake(name, _RETURN, f"return {code}").explain(f"""
        {what}
        why: The function returns the learned table of scores, and the loss of each batch as a list of Python floats.
        ask: What are the type and the contents of each of your results?""")
mistake("size-from-the-text", _ZEROS, "W = np.zeros((int(np.max(ids)) + 1,) * 2)").explain("""
    the size of the table was taken from the text, not from vocab_size
    why: A text need not contain every token of the vocabulary.
    ask: What is the shape of your table for the text 0 1 and a vocabulary of 27 tokens?""")
