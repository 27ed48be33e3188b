"""Mistakes in `training`: single training steps, and the mean loss."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP_WITH_OPTIONS = "adamw_step(params, grads, state, lr, betas, eps, weight_decay)"

mistake = MISTAKES.for_functions("training.train_step")
mistake(
    "loss-after-the-step",
    "    return loss, params, state",
    "    return gpt_loss(x, y, params, config)[0], params, state",
    common=True,
).explain("""
    the loss after the step was returned, not the one before it
    why: It needs a second call of gpt_loss, and the model has already been trained on this batch.
    ask: With which parameters is the returned loss computed?""")
mistake("not-clipped", "grads, _ = clip", "_, _ = clip", common=True).explain("""
    the gradient was not clipped
    why: clip_grad_norm returns new gradients; those that you pass in are not changed.
    ask: Which gradients does adamw_step get?""")
mistake("state-forgotten", "grads, state, lr", "grads, {}, lr", common=True).explain("""
    every step started with an empty state
    why: There are then no running averages: each step is treated as the first.
    ask: Which state does adamw_step get?""")
mistake("options-dropped", _STEP_WITH_OPTIONS, "adamw_step(params, grads, state, lr)").explain("""
    betas, eps and weight_decay were ignored
    why: Every step then uses the defaults. The mistake stays hidden until another value is set.
    ask: Which of the arguments of train_step reach your adamw_step?""")
for lost in (
    ("betas",),
    ("eps",),
    ("weight_decay",),
    ("betas", "eps"),
    ("betas", "weight_decay"),
    ("eps", "weight_decay"),
):
    passed = "".join(f", {name}={name}" for name in ("betas", "eps", "weight_decay") if name not in lost)
    mistake(
        f"{'-and-'.join(lost)}-dropped", _STEP_WITH_OPTIONS, f"adamw_step(params, grads, state, lr{passed})"
    ).explain(f"""
    {" and ".join(lost)} {"were" if len(lost) > 1 else "was"} ignored
    why: Every step then uses the default. The mistake stays hidden until another value is set.
    ask: Which of the arguments of train_step reach your adamw_step?""")
mistake("clip-not-unpacked", "grads, _ = clip_grad_norm", "grads = clip_grad_norm").explain("""
    both results of clip_grad_norm together were used as the gradients
    why: clip_grad_norm returns a pair, gradients and norm. A pair has no entry under a parameter's name.
    ask: What does clip_grad_norm return? How many names are there to the left of your equals sign?""")
mistake(
    "parameters-clipped",
    "    if max_norm is not None:\n        grads, _ = clip_grad_norm(grads, max_norm)\n",
    "",
    "    return loss, params, state",
    "    if max_norm is not None:\n"
    "        params, _ = clip_grad_norm(params, max_norm)\n"
    "    return loss, params, state",
).explain("""
    the new parameters were clipped, not the gradients
    why: Clipping limits the length of the gradient, before the step. The parameters themselves are not limited.
    ask: What can be too long when a batch is unusual: the gradient or the parameters?""")
mistake("answers-are-questions", "gpt_loss(x, y,", "gpt_loss(x, x,").explain("""
    x was used as the targets, too: y was ignored
    why: The model then learns to repeat the current token instead of predicting the next one.
    ask: What are the targets of gpt_loss?""")
mistake("shifted-again", "gpt_loss(x, y,", "gpt_loss(x[..., :-1], y[..., 1:],").explain("""
    x and y were shifted against each other a second time
    why: get_batch has already done that: y[b, t] is the token that follows x[b, t].
    ask: Which token should be predicted from x[0, 0]? Where is it in y?""")

_LIMIT = "if max_norm is not None:"
mistake("limit-of-0-ignored", _LIMIT, "if max_norm:").explain("""
    max_norm=0 was treated like None: nothing was clipped
    why: `if max_norm` treats 0 like None. Only None means that nothing is clipped.
    ask: What is bool(0.0)?""")
mistake(
    "always-clipped", _LIMIT, "if True:", "clip_grad_norm(grads, max_norm)", "clip_grad_norm(grads, max_norm or 1.0)"
).explain("""
    the gradients were clipped to 1 even with max_norm=None
    why: None means no clipping.
    ask: What does your code do if max_norm is None?""")
mistake("always-clipped-by-none", _LIMIT, "if True:").explain("""
    clip_grad_norm was called even with max_norm=None
    why: None is not a number. It means that nothing is clipped.
    ask: What does your code do if max_norm is None?""")
mistake("limit-ignored", "clip_grad_norm(grads, max_norm)", "clip_grad_norm(grads, 1.0)").explain("""
    the gradients were clipped to 1, whatever max_norm is
    why: max_norm is the largest norm allowed.
    ask: Which arguments does clip_grad_norm get?""")
mistake("clipped-by-norm-returned", "grads, _ = clip_grad_norm", "_, grads = clip_grad_norm").explain("""
    the norm was used as the gradients: the results of clip_grad_norm were taken in the wrong order
    why: clip_grad_norm returns first the gradients, then the norm.
    ask: In which order does clip_grad_norm return its results?""")
mistake(
    "clipped-array-by-array",
    "        grads, _ = clip_grad_norm(grads, max_norm)\n",
    "        grads = {name: clip_grad_norm({name: g}, max_norm)[0][name] for name, g in grads.items()}\n",
).explain("""
    every array was clipped separately
    why: All gradients together are one long vector.
    ask: How often is clip_grad_norm called in one step?""")
mistake("rate-ignored", "grads, state, lr", "grads, state, 1e-3").explain("""
    the learning rate was ignored: 0.001 was always used
    why: The learning rate of a step is an argument.
    ask: Which learning rate does adamw_step get?""")
mistake(
    "two-steps",
    "    return loss, params, state",
    f"    params, state = {_STEP_WITH_OPTIONS}\n    return loss, params, state",
).explain("""
    two steps were taken with the same gradients
    why: One call takes one step.
    ask: How often is adamw_step called?""")
mistake("old-parameters-returned", "params, state = adamw_step", "_, state = adamw_step").explain("""
    the old parameters were returned
    why: adamw_step returns new ones, and changes nothing in place.
    ask: What do you do with the first result of adamw_step?""")
mistake("old-state-returned", "params, state = adamw_step", "params, _ = adamw_step").explain("""
    the old state was returned
    why: The next step needs the new averages.
    ask: What do you do with the second result of adamw_step?""")
mistake("nothing-returned-new", "params, state = adamw_step", "_, _ = adamw_step").explain("""
    the old parameters and the old state were returned
    why: adamw_step returns new ones, and changes nothing in place.
    ask: What do you do with the results of adamw_step?""")
mistake(
    "parameters-replaced",
    "    params, state = adamw_step",
    "    new, state = adamw_step",
    "    return loss, params, state",
    "    params.update(new)\n    return loss, params, state",
).explain("""
    the parameters that were passed in were changed
    why: The caller's dictionary then holds the new arrays.
    ask: Which of your lines write into an argument?""")
mistake(
    "state-replaced",
    "    params, state = adamw_step",
    "    params, new = adamw_step",
    "    return loss, params, state",
    "    state.update(new)\n    return loss, params, state",
).explain("""
    the state that was passed in was changed
    why: A caller who kept the old state, to go back to it, finds it changed.
    ask: Which of your lines write into an argument?""")
mistake(
    "gradient-descent",
    "params, state = adamw_step(params, grads, state, lr, betas, eps, weight_decay)",
    "params = {name: p - lr * grads[name] for name, p in params.items()}",
).explain("""
    plain gradient descent was used, not AdamW
    why: train_step takes a step with adamw_step.
    ask: Which function of this assignment computes the new parameters?""")
for name, order in (
    ("loss-last", "params, state, loss"),
    ("state-first", "loss, state, params"),
    ("loss-in-between", "params, loss, state"),
):
    mistake(f"results-{name}", "return loss, params, state", f"return {order}").explain(f"""
    the results are in the order {order}
    why: The docstring lists the loss first, then the parameters, then the state.
    ask: In which order does the docstring list the results?""")
mistake("loss-missing", "return loss, params, state", "return params, state").explain("""
    the loss was not returned
    why: It shows how training is going.
    ask: How many values does the docstring list under Returns?""")
mistake("numpy-loss", "return loss, params, state", "return np.float64(loss), params, state").explain("""
    the loss is a NumPy scalar, not a Python float
    why: gpt_loss returns a Python float; a NumPy function turns it into a NumPy scalar.
    ask: What is type(loss) in your code?""")

for name, rng, text in (
    ("rng-not-passed-on", "None", "nothing was dropped, although rng was passed in"),
    (
        "dropped-without-rng",
        "np.random.default_rng(0) if rng is None else rng",
        "without rng, a generator was created, and values were dropped",
    ),
):
    mistake(name, "params, config, rng)", f"params, config, {rng})").explain(f"""
        {text}
        why: gpt drops values only if it gets a generator: in training, and nowhere else.
        ask: What does gpt_loss get as its last argument?""")

mistake = MISTAKES.for_functions("training.estimate_loss")
mistake("mean-of-means", " * np.size(y)", "", "+= np.size(y)", "+= 1", common=True).explain("""
    the losses of the batches were averaged without regard to their sizes
    why: Every token counts equally: a batch of two tokens must not weigh as much as one of two hundred.
    ask: How many tokens does each of the losses that you average come from?""")
mistake("texts-counted", "* np.size(y)", "* len(y)", "n_tokens += np.size(y)", "n_tokens += len(y)").explain("""
    the batches were weighted by their number of texts, not of tokens
    why: The tokens of a batch with shorter texts then count too much.
    ask: There are two batches of one text each, with 5 tokens and 1 token. How much should the single token count?""")
mistake("sum-not-mean", "* np.size(y)", "", "n_tokens += np.size(y)", "n_tokens = 1").explain("""
    the losses of the batches were added up, not averaged
    why: The result then grows with the number of batches.
    ask: If the loss of every batch is 3, what is the mean?""")
mistake("last-batch-only", "total += ", "total = ", "n_tokens += ", "n_tokens = ").explain("""
    only the loss of the last batch was returned
    why: Each iteration of the loop overwrites the results of the batches before.
    ask: After the loop, which batches does your result depend on?""")
mistake("perplexity", "return total / n_tokens", "return math.exp(total / n_tokens)").explain("""
    the exponential of the mean loss was returned
    why: That is called the perplexity. The docstring asks for the mean loss itself.
    ask: What does your code do after it has computed the mean?""")
mistake(
    "rows-of-all-batches", "* np.size(y)", "* np.shape(y)[-1]", "n_tokens += np.size(y)", "n_tokens += np.shape(y)[-1]"
).explain("""
    the batches were weighted by the length of their texts, not by their number of tokens
    why: The tokens of a batch with more texts then count too little.
    ask: How many tokens are there in a batch of 3 texts of 5 tokens?""")
mistake(
    "first-batch-only", "        n_tokens += np.size(y)\n", "        n_tokens += np.size(y)\n        break\n"
).explain("""
    only the loss of the first batch was returned
    why: A return inside the loop ends it in its first iteration.
    ask: Is your return inside or after the loop?""")
mistake("one-batch-less", "    for x, y in batches:", "    for x, y in list(batches)[:-1]:").explain("""
    the last batch was left out
    why: Every batch counts.
    ask: How many batches does your loop visit?""")
mistake("answers-are-questions", "cross_entropy(logits, y)", "cross_entropy(logits, x)").explain("""
    x was used as the targets: y was ignored
    why: The loss compares the scores with the tokens that come next.
    ask: What are the targets?""")
mistake("questions-are-answers", "gpt(x, params", "gpt(y, params").explain("""
    y was used as the input: x was ignored
    why: The model reads x and predicts y.
    ask: Which tokens does the model read?""")
mistake("pair-exchanged", "for x, y in batches", "for y, x in batches").explain("""
    x and y were swapped
    why: A batch is a pair (x, y): the tokens to read, and the tokens that come next.
    ask: Which of the two comes first in a batch?""")
mistake("divided-twice", "return total / n_tokens", "return total / n_tokens / max(1, n_tokens)").explain("""
    the mean was divided by the number of tokens twice
    why: cross_entropy already is a mean.
    ask: If every token has the loss 3, what is the mean?""")
mistake("not-weighted-but-divided", " * np.size(y)", "").explain("""
    the losses of the batches were added and divided by the number of tokens
    why: The loss of a batch is already a mean: it has to be multiplied by its number of tokens before the sum.
    ask: If the loss of every batch is 3, what is the mean?""")
mistake("weighted-but-divided-by-batches", "n_tokens += np.size(y)", "n_tokens += 1").explain("""
    the sum over all tokens was divided by the number of batches
    why: The mean over all tokens divides by the number of tokens.
    ask: If every token has the loss 3, what is the mean?""")
mistake("bits", "return total / n_tokens", "return total / n_tokens / math.log(2)").explain("""
    the mean loss is in bits: it was divided by log 2
    why: The cross-entropy of this course uses natural logarithms.
    ask: What is the loss of a model that gives every token the probability 1/V?""")
mistake(
    "batches-read-twice",
    "    total, n_tokens = 0.0, 0\n    for x, y in batches:\n",
    "    total, n_tokens, n_batches = 0.0, 0, sum(1 for _ in batches)\n    for x, y in batches:\n",
).explain("""
    the batches were read twice
    why: A generator gives every batch only once: a second loop over it finds nothing.
    ask: How many of your loops go through batches?""")
mistake(
    "batches-counted", "    total, n_tokens = 0.0, 0\n", "    total, n_tokens = 0.0, 0 * len(batches)\n"
).explain("""
    len(batches) was used, which a generator does not have
    why: `batches` may be any iterable. The number of batches is known after the loop.
    ask: What does your code need the number of batches for?""")
_NO_BATCH = """    if n_tokens == 0:
        raise ValueError("there must be at least one batch")
"""
for name, code, text in (
    ("no-batch-accepted", "total / max(n_tokens, 1)", "without a batch, 0 was returned"),
    ("no-batch-nan", "float(np.float64(total) / np.float64(n_tokens))", "without a batch, nan was returned"),
    (
        "no-batch-divides-by-0",
        "total / n_tokens",
        "without a batch, ZeroDivisionError was raised, not ValueError",
    ),
):
    mistake(name, _NO_BATCH, "", "return total / n_tokens", f"return {code}").explain(f"""
    {text}
    why: The mean of nothing does not exist. The docstring promises ValueError.
    ask: What does your function do with an empty list of batches?""")
mistake("numpy-mean", "return total / n_tokens", "return np.float64(total / n_tokens)").explain("""
    the mean is a NumPy scalar, not a Python float
    why: np.mean and np.average return NumPy's own numbers. float(…) makes a Python float.
    ask: What is type(np.mean([1.0, 2.0]))?""")
