"""Mistakes in `training`: the training loop."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_TRAIN_WITH_OPTIONS = "flat_state, rate, betas, eps, weight_decay)"

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
for lost in (("betas",), ("eps",), ("weight_decay",)):
    passed = "".join(f", {name}={name}" for name in ("betas", "eps", "weight_decay") if name not in lost)
    mistake(f"{'-and-'.join(lost)}-dropped", _TRAIN_WITH_OPTIONS, f"flat_state, rate{passed})").explain(f"""
    {" and ".join(lost)} {"were" if len(lost) > 1 else "was"} ignored
    why: Every step then uses the default. The mistake stays hidden until another value is set.
    ask: Which of the arguments of train reach your train_step?""")
mistake(
    "options-and-norm-dropped", _TRAIN_WITH_OPTIONS, "flat_state, rate)", "if max_norm is not None:", "if False:"
).explain("""
    betas, eps, weight_decay and max_norm were ignored
    why: Every run then uses the defaults. The mistake stays hidden until another value is set.
    ask: Which of the arguments of train reach your train_step?""")
mistake("one-rate-only", "rates = lr if np.iterable(lr) else itertools.repeat", "rates = itertools.repeat").explain("""
    lr was always used as one number: an iterable of rates was not handled
    why: lr may be an iterable with one rate for each batch: a schedule.
    ask: What is lr in train(..., lr=[0.1, 0.05]), and what does your code do with it?""")
mistake("same-batch", "loss, grads = gpt_loss", "x, y = batches[0]\n        loss, grads = gpt_loss").explain("""
    every step used the first batch
    why: The model then memorizes a single batch.
    ask: On which batch is the second step taken?""")
mistake("loss-after-the-step", "losses.append(loss)", "losses.append(gpt_loss(x, y, named, config)[0])").explain("""
    the losses after each step were returned, not those before it
    why: The loss before the step comes with the gradients. The one after it needs another call of gpt_loss.
    ask: With which parameters were the losses computed that you return?""")
# The loop as most people write it.
_LOOP = """
    rates = iter(lr) if np.iterable(lr) else itertools.repeat(lr)
    state, losses = state or {}, []
    for (x, y), rate in zip(batches, rates, strict=False):
        loss, params, state = train_step(params, state, x, y, config, rate, betas, eps, weight_decay, max_norm, rng)
        losses.append(loss)
    return dict(params), state, losses
"""
_STEP = "train_step(params, state, x, y, config, rate, betas, eps, weight_decay, max_norm, rng)"
_LR = "What does your code do with lr=0.1, with an array of rates, and with a generator of rates?"
# The question of a mistake is the first one whose word is in the name.
_QUESTIONS = {
    "state": "Which state does each step start from, and which one do you return?",
    "parameters": "Which parameters does each step start from, and which ones do you return?",
    "listed": "How many batches and learning rates have been read before your first step?",
    "rates-only": _LR,
    "lists-and-numbers": _LR,
    "rates-with-length": _LR,
    "rates-indexed": _LR,
    "rate": "Which learning rate does each of your steps get, and when does training end?",
    "counted": "What is len of a generator? What does your code need the number of batches for?",
    "answers": "What are the targets of a batch (x, y)?",
}
mistake(
    "always-clipped", "max_norm is not None", "True", "grads, max_norm", "grads, 1.0 if max_norm is None else max_norm"
).explain("""
    the gradients were clipped to 1 even with max_norm=None
    why: None means no clipping.
    ask: What does your code do if max_norm is None?""")
for name, edits, text, why in (
    (
        "rates-must-suffice",
        ("strict=False", "strict=np.iterable(lr)"),
        "an error was raised where there were not as many batches as learning rates",
        "Training ends when there are no more batches, or no more learning rates.",
    ),
    (
        "answers-are-questions",
        (_STEP, _STEP.replace("x, y,", "x, x,")),
        "x was used as the targets, too: y was ignored",
        "The model then learns to repeat the current token instead of predicting the next one.",
    ),
    (
        "old-parameters-returned",
        (
            "state, losses = state or {}, []",
            "start, state, losses = params, state or {}, []",
            "return dict(params)",
            "return dict(start)",
        ),
        "the parameters that were passed in were returned, not the trained ones",
        "train_step returns new parameters, and changes nothing in place.",
    ),
    (
        "old-state-returned",
        (
            "state, losses = state or {}, []",
            "state, losses = state or {}, []\n    start = state",
            "return dict(params), state",
            "return dict(params), start",
        ),
        "the state that was passed in was returned, not the new one",
        "A later call needs the state after the last step to resume the run.",
    ),
    (
        "empty-state-fails",
        ("state or {}", "{} if state is None else {**state, 'step': state['step']}"),
        "the state {} was not taken as a new run",
        "None and {} both mean a new run.",
    ),
    (
        "state-lost-without-batch",
        ("return dict(params), state, losses", "return dict(params), state if losses else {}, losses"),
        "without a batch, the state was lost",
        "It is returned unchanged.",
    ),
    (
        "batches-listed",
        ("zip(batches", "zip(list(batches)"),
        "all batches were read before the first step",
        "The batches may come from an endless generator.",
    ),
    (
        "batches-counted",
        ("itertools.repeat(lr)", "[lr] * len(batches)", "iter(lr)", "iter(lr) if len(batches) else []"),
        "len(batches) was used, which a generator does not have",
        "`batches` may be any iterable.",
    ),
    (
        "rates-only",
        ("iter(lr) if np.iterable(lr) else itertools.repeat(lr)", "iter(lr)"),
        "lr was always used as an iterable: a single number was not handled",
        "A single number is the rate of all steps.",
    ),
    (
        "lists-and-numbers-only",
        ("np.iterable(lr)", "isinstance(lr, list)"),
        "only a list of learning rates was handled, no other iterable",
        "lr may be an array or a generator, too.",
    ),
):
    ask = next(question for word, question in _QUESTIONS.items() if word in name)
    mistake(name, *edits).body(_LOOP).explain(f"""
    {text}
    why: {why}
    ask: {ask}""")

for name, rng, text, why in (
    (
        "rng-not-passed-on",
        "None",
        "nothing was dropped, although rng was passed in",
        "Only with rng does gpt drop values.",
    ),
    (
        "dropped-without-rng",
        "np.random.default_rng(0) if rng is None else rng",
        "without rng, a generator was created, and values were dropped",
        "Without rng, nothing is dropped.",
    ),
):
    mistake(
        name,
        "named, config, rng)",
        f"named, config, {rng})",
        "    losses = []\n",
        "    import copy\n\n    losses = []\n",
    ).explain(f"""
        {text}
        why: {why}
        ask: Which generator does gpt_loss get in the second step, and in which state?""")
