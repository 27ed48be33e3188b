"""Mistakes in assignment 10: training steps and the training loop."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_STEP_WITH_OPTIONS = "adamw_step(params, grads, state, lr, betas, eps, weight_decay)"
_TRAIN_WITH_OPTIONS = "flat_state, rate, betas, eps, weight_decay)"

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
    betas, eps and weight_decay were not passed on
    why: Every step then uses the defaults. The mistake stays hidden until somebody sets another value.
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
    why: That is the perplexity. The docstring asks for the mean loss itself.
    ask: What does your code do after it has computed the mean?""")

mistake = MISTAKES.for_functions("training.train")
mistake("state-ignored", "    if state:", "    if False:", common=True).explain("""
    the state that was passed in was not used
    why: The running averages then start at 0 again, so a resumed run differs from an uninterrupted one.
    ask: Which state does the first step of a second call get?""")
mistake("t-restarts", 'flat_state["step"] = state["step"]', 'flat_state["step"] = 0', common=True).explain("""
    the averages were resumed, but `step` started at 0 again
    why: The bias correction then enlarges averages that are no longer close to 0.
    ask: What should state["step"] be after 5 steps, a break, and 4 more steps?""")
mistake("first-rate-for-all", "rates = lr if", "rates = itertools.repeat(next(iter(lr))) if", common=True).explain("""
    every step used the first of the learning rates
    why: lr may be an iterable with one rate for each batch: a schedule.
    ask: Which learning rate does your second step have?""")
mistake(
    "gradients-add-up",
    "    losses = []",
    "    losses, total = [], 0.0",
    'grads = {"all": pack(grads, like=params)}',
    'total = total + pack(grads, like=params)\n        grads = {"all": total}',
).explain("""
    the gradients of earlier batches were added to those of the new one
    why: PyTorch accumulates gradients until zero_grad. Here, gpt_loss returns new ones every time.
    ask: On which batches should the gradient of the third step depend?""")
mistake("not-clipped", "if max_norm is not None:", "if False:", common=True).explain("""
    the gradients were not clipped: max_norm was ignored
    why: The mistake stays hidden with the default, max_norm=None.
    ask: Which of the arguments of train reach your train_step?""")
mistake("weight-decay-dropped", "rate, betas, eps, weight_decay)", "rate, betas, eps)").explain("""
    weight_decay was not passed on
    why: Every run then uses the default. The mistake stays hidden until somebody sets another value.
    ask: Which of the arguments of train reach your train_step?""")
mistake("options-dropped", _TRAIN_WITH_OPTIONS, "flat_state, rate)").explain("""
    betas, eps and weight_decay were not passed on
    why: Every run then uses the defaults. The mistake stays hidden until somebody sets another value.
    ask: Which of the arguments of train reach your train_step?""")
mistake(
    "options-and-norm-dropped", _TRAIN_WITH_OPTIONS, "flat_state, rate)", "if max_norm is not None:", "if False:"
).explain("""
    betas, eps, weight_decay and max_norm were not passed on
    why: Every run then uses the defaults. The mistake stays hidden until somebody sets another value.
    ask: Which of the arguments of train reach your train_step?""")
mistake("one-rate-only", "rates = lr if np.iterable(lr) else itertools.repeat", "rates = itertools.repeat").explain("""
    lr was always used as one number: an iterable of rates is not handled
    why: lr may be an iterable with one rate for each batch: a schedule.
    ask: What is lr in train(..., lr=[0.1, 0.05]), and what does your code do with it?""")
mistake(
    "same-batch",
    "    losses = []\n",
    "    losses = []\n    first = batches[0]\n",
    "loss, grads = gpt_loss(x, y,",
    "x, y = first\n        loss, grads = gpt_loss(x, y,",
).explain("""
    every step used the first batch
    why: The model then memorizes a single batch.
    ask: On which batch is the second step taken?""")
mistake("loss-after-the-step", "losses.append(loss)", "losses.append(gpt_loss(x, y, named, config)[0])").explain("""
    the losses after each step were returned, not those before it
    why: The loss before the step comes with the gradients. The one after it needs another call of gpt_loss.
    ask: With which parameters were the losses computed that you return?""")
