"""Mistakes in `training`: single training steps, and the mean loss."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP_WITH_OPTIONS = "adamw_step(params, grads, state, lr, betas, eps, weight_decay)"

mistake = MISTAKES.for_functions("training.train_step")
mistake("loss-after-the-step", "loss, params,", "gpt_loss(x, y, params, config)[0], params,", common=True).explain("""
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
for lost in (("betas",), ("eps",), ("weight_decay",)):
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
mistake("always-clipped", _LIMIT, "if True:", "(grads, max_norm)", "(grads, max_norm or 1.0)").explain("""
    the gradients were clipped to 1 even with max_norm=None
    why: None means no clipping.
    ask: What does your code do if max_norm is None?""")
mistake("rate-ignored", "grads, state, lr", "grads, state, 1e-3").explain("""
    the learning rate was ignored: 0.001 was always used
    why: The learning rate of a step is an argument.
    ask: Which learning rate does adamw_step get?""")
mistake("old-parameters-returned", "params, state = adamw_step", "_, state = adamw_step").explain("""
    the old parameters were returned
    why: adamw_step returns new ones, and changes nothing in place.
    ask: What do you do with the first result of adamw_step?""")
mistake("old-state-returned", "params, state = adamw_step", "params, _ = adamw_step").explain("""
    the old state was returned
    why: The next step needs the new averages.
    ask: What do you do with the second result of adamw_step?""")
mistake(
    "parameters-replaced", "    params, state =", "    new, state =", "    return", "    params.update(new)\n    return"
).explain("""
    the parameters that were passed in were changed
    why: The caller's dictionary then holds the new arrays.
    ask: Which of your lines write into an argument?""")

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
    why: That is called the perplexity. It is always larger than the loss, and cannot be drawn beside the training loss.
    ask: What does your code do after it has computed the mean?""")
mistake("answers-are-questions", "cross_entropy(logits, y)", "cross_entropy(logits, x)").explain("""
    x was used as the targets: y was ignored
    why: The loss compares the scores with the tokens that come next.
    ask: What are the targets?""")
mistake("batches-read-twice", "n_tokens = 0.0, 0", "n_tokens, n_batches = 0.0, 0, sum(1 for _ in batches)").explain("""
    the batches were read twice
    why: A generator gives every batch only once: a second loop over it finds nothing.
    ask: How many of your loops go through batches?""")
mistake("batches-counted", "    total, n_tokens = 0.0, 0", "    total, n_tokens = 0.0, 0 * len(batches)").explain("""
    len(batches) was used, which a generator does not have
    why: `batches` may be any iterable. The number of batches is known after the loop.
    ask: What does your code need the number of batches for?""")
_NO_BATCH = """    if n_tokens == 0:
        raise ValueError("there must be at least one batch")
"""
mistake("no-batch-accepted", _NO_BATCH, "", "return total / n_tokens", "return total / max(n_tokens, 1)").explain("""
without a batch, 0 was returned
why: The mean of nothing does not exist, and a loss of 0 looks like a perfect model.
ask: What does your function do with an empty list of batches?""")
