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
    the loss is the one after the step
    why: It costs another forward pass, and it is no longer the loss of a batch that the model has not seen.
    ask: With which parameters is the returned loss computed?""")
mistake("not-clipped", "grads, _ = clip", "_, _ = clip", common=True).explain("""
    the gradient is not clipped
    why: clip_grad_norm returns new gradients; the old ones stay as they are.
    ask: Which gradients does adamw_step get?""")
mistake("state-forgotten", "grads, state, lr", "grads, {}, lr", common=True).explain("""
    every step starts with an empty state
    why: Then there are no running averages: each step is a first step.
    ask: Which state does adamw_step get?""")
mistake("options-dropped", _STEP_WITH_OPTIONS, "adamw_step(params, grads, state, lr)").explain("""
    betas, eps and weight_decay are not handed on, so that every step has the defaults
    why: With the defaults nothing shows.
    ask: Which of the arguments of train_step reach your adamw_step?""")
mistake("clip-not-unpacked", "grads, _ = clip_grad_norm", "grads = clip_grad_norm").explain("""
    clip_grad_norm returns two things, and both were taken for the gradients
    why: A pair of gradients and norm has no entry for a parameter's name.
    ask: What does clip_grad_norm return? How many names stand on the left?""")
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
    why: Clipping limits the step, and has to come before it. Nothing limits the length of the parameters.
    ask: What is too long, if a batch is strange: the gradient, or the parameters?""")
mistake("answers-are-questions", "gpt_loss(x, y,", "gpt_loss(x, x,").explain("""
    x was taken for the answers, too: y is not used
    why: The model learns to repeat the character it sees, which is of no use for the next one.
    ask: What are the targets of gpt_loss?""")
mistake("shifted-again", "gpt_loss(x, y,", "gpt_loss(x[..., :-1], y[..., 1:],").explain("""
    x and y were moved against each other once more
    why: get_batch has done that: y[b, t] is what comes after x[b, t].
    ask: Which character should be predicted from x[0, 0]? Where does it stand in y?""")

mistake = MISTAKES.for_functions("training.estimate_loss")
mistake("mean-of-means", " * np.size(y)", "", "+= np.size(y)", "+= 1", common=True).explain("""
    the mean of the batches' losses was taken, however large they are
    why: Every token counts the same: a batch of two tokens must not weigh as much as one of two hundred.
    ask: How many tokens stand behind each of the numbers that you average?""")
mistake("texts-counted", "* np.size(y)", "* len(y)", "n_tokens += np.size(y)", "n_tokens += len(y)").explain("""
    the batches were weighted by their texts, not by their tokens
    why: Where the texts of one batch are shorter, its tokens count too much.
    ask: Two batches of one text, 5 tokens and 1: how much should the single token count?""")
mistake("sum-not-mean", "* np.size(y)", "", "n_tokens += np.size(y)", "n_tokens = 1").explain("""
    the losses of the batches were added up, not averaged
    why: The result then grows with the number of batches.
    ask: If all batches have the loss 3, what is their mean?""")
mistake("last-batch-only", "total += ", "total = ", "n_tokens += ", "n_tokens = ").explain("""
    the loss of the last batch alone was returned
    why: The loop overwrites what the batches before gave.
    ask: After the loop, which batches does your result know of?""")
mistake("perplexity", "return total / n_tokens", "return math.exp(total / n_tokens)").explain("""
    this is the perplexity, the exponential of the mean loss
    why: What is asked for is the mean loss itself.
    ask: Which step comes after the mean in your code?""")

mistake = MISTAKES.for_functions("training.train")
mistake("state-ignored", "    if state:", "    if False:", common=True).explain("""
    the state that was handed in is not used
    why: After a break the running averages start at 0 again, and the run goes another way.
    ask: Which state does the first step of a second call get?""")
mistake("t-restarts", 'flat_state["step"] = state["step"]', 'flat_state["step"] = 0', common=True).explain("""
    the averages go on, but the step starts at 0 again
    why: The bias correction then blows up averages that are no longer near 0.
    ask: What should state['step'] be after 5 steps, a break, and 4 more?""")
mistake("first-rate-for-all", "rates = lr if", "rates = itertools.repeat(next(iter(lr))) if", common=True).explain("""
    every step has the first of the learning rates
    why: lr may be an iterable with one number for each batch: a schedule.
    ask: Which learning rate does your second step have?""")
mistake(
    "gradients-add-up",
    "    losses = []",
    "    losses, total = [], 0.0",
    'grads = {"all": pack(grads, like=params)}',
    'total = total + pack(grads, like=params)\n        grads = {"all": total}',
).explain("""
    the gradients of earlier batches are added to those of the new one
    why: In PyTorch they add up until zero_grad; here gpt_loss gives new ones every time.
    ask: On which batches should the gradient of the third step depend?""")
mistake("not-clipped", "if max_norm is not None:", "if False:", common=True).explain("""
    the gradients are not clipped
    why: max_norm did not reach the step.
    ask: Which of the arguments of train reach your train_step?""")
mistake("weight-decay-dropped", "rate, betas, eps, weight_decay)", "rate, betas, eps)").explain("""
    weight_decay is not handed on, so that every run has the default
    why: With the default nothing shows.
    ask: Which of the arguments of train reach your train_step?""")
mistake("options-dropped", _TRAIN_WITH_OPTIONS, "flat_state, rate)").explain("""
    betas, eps and weight_decay are not handed on, so that every run has the defaults
    why: With the defaults nothing shows.
    ask: Which of the arguments of train reach your train_step?""")
mistake(
    "options-and-norm-dropped", _TRAIN_WITH_OPTIONS, "flat_state, rate)", "if max_norm is not None:", "if False:"
).explain("""
    betas, eps, weight_decay and max_norm are not handed on, so that every run has the defaults
    why: With the defaults nothing shows.
    ask: Which of the arguments of train reach your train_step?""")
mistake("one-rate-only", "rates = lr if np.iterable(lr) else itertools.repeat", "rates = itertools.repeat").explain("""
    lr is always taken for one number: a list of rates is not handled
    why: lr may be an iterable with one number for each batch: a schedule.
    ask: What is lr in train(..., lr=[0.1, 0.05]), and what does your step do with it?""")
mistake(
    "same-batch",
    "    losses = []\n",
    "    losses = []\n    first = batches[0]\n",
    "loss, grads = gpt_loss(x, y,",
    "x, y = first\n        loss, grads = gpt_loss(x, y,",
).explain("""
    every step was taken on the first batch
    why: The model then learns one batch by heart.
    ask: On which batch is the second step taken?""")
mistake("loss-after-the-step", "losses.append(loss)", "losses.append(gpt_loss(x, y, named, config)[0])").explain("""
    the losses are those after each step, not before it
    why: What a step is taken on is known without another forward pass.
    ask: With which parameters was the loss computed that you keep?""")
