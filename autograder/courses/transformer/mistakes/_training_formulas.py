"""Mistakes in assignment 10 about formulas: AdamW, the norm, the schedule, and what a loop hands on."""

from autograder.engine.diagnosis.mistake import Mistake

_ADAM = """
    step = state.get("step", 0) + 1
    beta1, beta2 = betas
    new, new_m, new_v = {}, {}, {}
    for name, p in params.items():
        g = grads[name]
        m_before, v_before = (state["m"][name], state["v"][name]) if state else (0.0, 0.0)
        m = beta1 * m_before + (1 - beta1) * g
        v = beta2 * v_before + (1 - beta2) * g * g
        m_hat, v_hat = m / (1 - beta1**step), v / (1 - beta2**step)
        new[name] = p * (1 - lr * weight_decay) - lr * m_hat / (np.sqrt(v_hat) + eps)
        new_m[name], new_v[name] = m, v
    return new, {"step": step, "m": new_m, "v": new_v}
"""
_STEP_WITH_OPTIONS = "adamw_step(params, grads, state, lr, betas, eps, weight_decay)"
_TRAIN_WITH_OPTIONS = "flat_state, rate, betas, eps, weight_decay)"


def _adam(name: str, title: str, explanation: str, hint: str, *edits: tuple[str, str]) -> Mistake:
    """A mistake in AdamW as it is usually written."""
    body = _ADAM
    for old, new in edits:
        assert old in body
        body = body.replace(old, new)
    return Mistake("training.adamw_step", name, title, explanation, hint, body=body)


FORMULAS = (
    # --- adamw_step
    _adam(
        "gradient-not-squared",
        "v is an average of the gradients, not of their squares",
        "v may then be negative, and its root nan.",
        "What is the root taken of? Can it be negative?",
        ("(1 - beta2) * g * g", "(1 - beta2) * g"),
    ),
    _adam(
        "average-squared",
        "v is an average of the squares of m, not of the squares of the gradient",
        "A gradient that goes back and forth has a small m and a large v: that is what v is for.",
        "For gradients 1, -1, 1, -1: how large should v become, and how large does yours?",
        ("(1 - beta2) * g * g", "(1 - beta2) * m * m"),
    ),
    _adam(
        "shares-exchanged",
        "β and 1 - β are exchanged: the average keeps a share 1 - β of itself",
        "With β₁ = 0.9 the average should forget a tenth in every step; it forgets nine tenths.",
        "With β = 0.999, how much of the old average should be left after one step?",
        ("beta1 * m_before + (1 - beta1) * g", "(1 - beta1) * m_before + beta1 * g"),
        ("beta2 * v_before + (1 - beta2) * g * g", "(1 - beta2) * v_before + beta2 * g * g"),
    ),
    _adam(
        "added-in-full",
        "the new gradient is added in full, without the factor 1 - β",
        "The averages then grow to ten and a thousand times what they should be.",
        "For a gradient that is always 1, what should m come to?",
        ("(1 - beta1) * g", "g"),
        ("(1 - beta2) * g * g", "g * g"),
    ),
    _adam(
        "corrected-averages-kept",
        "the corrected averages were kept in the state, so that they are corrected again in the next step",
        "The correction is for the step that is taken; what goes on is the average as it is.",
        "Which of the two, m or m̂, does the formula's next step begin with?",
        ("new_m[name], new_v[name] = m, v", "new_m[name], new_v[name] = m_hat, v_hat"),
    ),
    _adam(
        "beta-times-step",
        "the correction divides by 1 - β·t, not by 1 - βᵗ",
        "The first step is right. Later 1 - β·t is negative.",
        "With β = 0.9 and t = 20, what is the correction, and what should it be?",
        ("beta1**step", "beta1 * step"),
        ("beta2**step", "beta2 * step"),
    ),
    _adam(
        "no-root",
        "m̂ was divided by v̂, not by its root",
        "v̂ is a square: the step would grow where gradients are small, and shrink where they are large.",
        "If all gradients double, what should become of the step?",
        ("np.sqrt(v_hat) + eps", "v_hat + eps"),
    ),
    _adam(
        "no-eps",
        "ε is not used",
        "A parameter whose gradient has always been 0 is divided by 0: nan.",
        "What is the first step of a parameter whose gradient is 0?",
        ("np.sqrt(v_hat) + eps", "np.sqrt(v_hat)"),
    ),
    _adam(
        "uphill",
        "the step was added, not subtracted: uphill",
        "The gradient shows where the loss grows.",
        "Does the loss go up or down along the gradient?",
        ("- lr * m_hat", "+ lr * m_hat"),
    ),
    _adam(
        "no-decay",
        "the weight decay is not used",
        "The W in AdamW is the weight decay. Its default here is 0.01.",
        "Where is λ in your code?",
        ("p * (1 - lr * weight_decay)", "p"),
    ),
    _adam(
        "decay-grows",
        "the weight decay makes the parameters larger",
        "It should pull every parameter a little towards 0.",
        "With a gradient of 0, is the new parameter nearer to 0 than the old one?",
        ("(1 - lr * weight_decay)", "(1 + lr * weight_decay)"),
    ),
    _adam(
        "matrices-decay-only",
        "only matrices decay: biases and gains do not",
        "Many training scripts do that, with two groups of parameters. This function lets every parameter decay.",
        "Which parameters does λ act on, by the docstring?",
        ("p * (1 - lr * weight_decay)", "p * (1 - (lr * weight_decay if p.ndim > 1 else 0.0))"),
    ),
    _adam(
        "gradient-for-average",
        "the step goes along the gradient itself, not along its average m̂",
        "In the first step that is the same. Later the average smooths out the noise of the batches.",
        "What is m for, if it is not in your step?",
        ("- lr * m_hat", "- lr * g"),
    ),
    Mistake(
        "training.adamw_step",
        "state-in-place",
        "the state that was handed in was changed",
        "Whoever keeps an old state to go back to finds it altered.",
        "Which dictionary do you return: a new one, or the one that came in?",
        edits=(
            (
                'return new_params, {"step": step, "m": new_m, "v": new_v}',
                'state.update({"step": step, "m": new_m, "v": new_v})\n    return new_params, state',
            ),
        ),
    ),
    # --- clip_grad_norm
    *(
        Mistake(
            "training.clip_grad_norm",
            name,
            f"max_norm was divided by {title}",
            "The docstring has PyTorch's formula, max_norm / (norm + 1e-6). The difference is in the sixth digit; for "
            "small norms it is large.",
            "What is divided by in the formula of the docstring?",
            edits=(("(norm + 1e-6)", divisor),),
            group="small number beside the norm",
        )
        for name, title, divisor in (
            ("no-small-number", "the norm alone, without the 1e-6", "(norm or math.inf)"),
            ("no-small-number-at-0", "the norm alone, without the 1e-6", "np.float64(norm)"),
            ("another-small-number", "the norm and 1e-8, not 1e-6", "(norm + 1e-8)"),
        )
    ),
    Mistake(
        "training.clip_grad_norm",
        "largest-number",
        "the largest number of all gradients was taken for their norm",
        "The norm is the length of all gradients as one long vector: the root of the sum of all squares.",
        "What is the norm of a gradient of four numbers that are all 1?",
        edits=(
            (
                "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
                "max(float(np.abs(g).max()) for g in grads.values())",
            ),
        ),
    ),
    Mistake(
        "training.clip_grad_norm",
        "no-root",
        "the norm is missing its root: this is the sum of the squares",
        "A gradient that is twice as long has twice the norm, not four times.",
        "What is the norm of a gradient of four numbers that are all 1?",
        edits=(
            (
                "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
                "sum(float(np.vdot(g, g)) for g in grads.values())",
            ),
        ),
    ),
    Mistake(
        "training.clip_grad_norm",
        "norm-not-returned",
        "only the gradients were returned, without the norm",
        "The norm before clipping is worth a look in every step: where it jumps, training is in trouble.",
        "How many things does the docstring list under Returns?",
        edits=(("return dict(grads), norm", "return dict(grads)"), ("grads.items()}, norm", "grads.items()}")),
    ),
    # --- learning_rate
    *(
        Mistake("training.learning_rate", name, title, explanation, hint, edits=edits)
        for name, title, explanation, hint, edits in (
            (
                "warm-up-one-longer",
                "the warm-up divides by warmup_steps + 1",
                "Then the full rate is reached one step later than it should be.",
                "With a warm-up of 4 steps, which rate should step 3 have, the last of them?",
                (("(step + 1) / warmup_steps", "(step + 1) / (warmup_steps + 1)"),),
            ),
            (
                "warm-up-from-min",
                "the warm-up starts from min_lr instead of 0",
                "By the formula it is a share (step + 1) / warmup_steps of max_lr.",
                "With a warm-up of 4 steps, which share of max_lr should step 0 have?",
                (("max_lr * (step + 1) / warmup_steps", "min_lr + (max_lr - min_lr) * (step + 1) / warmup_steps"),),
            ),
            (
                "straight-line",
                "the rate falls along a straight line, not along a cosine",
                "A cosine stays high at first, falls fastest in the middle, and ends gently.",
                "What is cos(π · progress) a quarter of the way?",
                (("(1 + math.cos(math.pi * progress)) / 2", "(1 - progress)"),),
            ),
            (
                "ends-one-step-early",
                "min_lr is reached one step too early: the cosine was divided by one step less",
                "By the formula it is reached at total_steps, the first step after the last one.",
                "How large should progress be at total_steps, and how large is it at total_steps - 1?",
                (("/ (total_steps - warmup_steps)", "/ max(1, total_steps - warmup_steps - 1)"),),
            ),
            (
                "total-without-warm-up",
                "total_steps was counted from the end of the warm-up, not from step 0",
                "The cosine is then too slow, and ends later than it should.",
                "At which step should min_lr be reached?",
                (
                    ("step >= total_steps", "step >= total_steps + warmup_steps"),
                    ("/ (total_steps - warmup_steps)", "/ total_steps"),
                ),
            ),
            (
                "amplitude-not-reduced",
                "the cosine swings by max_lr, not by max_lr - min_lr",
                "After the warm-up the rate is then max_lr + min_lr.",
                "Which rate does your formula give at progress 0?",
                (("(max_lr - min_lr) *", "max_lr *"),),
            ),
            (
                "no-half",
                "the factor ½ of the cosine is missing",
                "1 + cos goes from 2 to 0.",
                "Which rate does your formula give at progress 0?",
                (("(1 + math.cos(math.pi * progress)) / 2", "(1 + math.cos(math.pi * progress))"),),
            ),
            (
                "warm-up-of-0",
                "without a warm-up there is a division by 0",
                "The share of the warm-up is computed even if there is none.",
                "With warmup_steps=0, which of your lines are run?",
                (
                    (
                        "    if step < warmup_steps:\n",
                        "    _ = max_lr * (step + 1) / warmup_steps\n    if step < warmup_steps:\n",
                    ),
                ),
            ),
        )
    ),
    # --- train_step
    Mistake(
        "training.train_step",
        "options-dropped",
        "betas, eps and weight_decay are not handed on, so that every step has the defaults",
        "With the defaults nothing shows.",
        "Which of the arguments of train_step reach your adamw_step?",
        edits=((_STEP_WITH_OPTIONS, "adamw_step(params, grads, state, lr)"),),
    ),
    Mistake(
        "training.train_step",
        "clip-not-unpacked",
        "clip_grad_norm returns two things, and both were taken for the gradients",
        "A pair of gradients and norm has no entry for a parameter's name.",
        "What does clip_grad_norm return? How many names stand on the left?",
        edits=(("grads, _ = clip_grad_norm", "grads = clip_grad_norm"),),
    ),
    Mistake(
        "training.train_step",
        "parameters-clipped",
        "the new parameters were clipped, not the gradients",
        "Clipping limits the step, and has to come before it. Nothing limits the length of the parameters.",
        "What is too long, if a batch is strange: the gradient, or the parameters?",
        edits=(
            ("    if max_norm is not None:\n        grads, _ = clip_grad_norm(grads, max_norm)\n", ""),
            (
                "    return loss, params, state",
                (
                    "    if max_norm is not None:\n"
                    "        params, _ = clip_grad_norm(params, max_norm)\n"
                    "    return loss, params, state"
                ),
            ),
        ),
    ),
    Mistake(
        "training.train_step",
        "answers-are-questions",
        "x was taken for the answers, too: y is not used",
        "The model learns to repeat the character it sees, which is of no use for the next one.",
        "What are the targets of gpt_loss?",
        edits=(("gpt_loss(x, y,", "gpt_loss(x, x,"),),
    ),
    Mistake(
        "training.train_step",
        "shifted-again",
        "x and y were moved against each other once more",
        "get_batch has done that: y[b, t] is what comes after x[b, t].",
        "Which character should be predicted from x[0, 0]? Where does it stand in y?",
        edits=(("gpt_loss(x, y,", "gpt_loss(x[..., :-1], y[..., 1:],"),),
    ),
    # --- estimate_loss
    *(
        Mistake("training.estimate_loss", name, title, explanation, hint, edits=edits)
        for name, title, explanation, hint, edits in (
            (
                "texts-counted",
                "the batches were weighted by their texts, not by their tokens",
                "Where the texts of one batch are shorter, its tokens count too much.",
                "Two batches of one text, 5 tokens and 1: how much should the single token count?",
                (("* np.size(y)", "* len(y)"), ("n_tokens += np.size(y)", "n_tokens += len(y)")),
            ),
            (
                "sum-not-mean",
                "the losses of the batches were added up, not averaged",
                "The result then grows with the number of batches.",
                "If all batches have the loss 3, what is their mean?",
                (("* np.size(y)", ""), ("n_tokens += np.size(y)", "n_tokens = 1")),
            ),
            (
                "last-batch-only",
                "the loss of the last batch alone was returned",
                "The loop overwrites what the batches before gave.",
                "After the loop, which batches does your result know of?",
                (("total += ", "total = "), ("n_tokens += ", "n_tokens = ")),
            ),
            (
                "perplexity",
                "this is the perplexity, the exponential of the mean loss",
                "What is asked for is the mean loss itself.",
                "Which step comes after the mean in your code?",
                (("return total / n_tokens", "return math.exp(total / n_tokens)"),),
            ),
        )
    ),
    # --- train
    Mistake(
        "training.train",
        "options-dropped",
        "betas, eps and weight_decay are not handed on, so that every run has the defaults",
        "With the defaults nothing shows.",
        "Which of the arguments of train reach your train_step?",
        edits=((_TRAIN_WITH_OPTIONS, "flat_state, rate)"),),
    ),
    Mistake(
        "training.train",
        "options-and-norm-dropped",
        "betas, eps, weight_decay and max_norm are not handed on, so that every run has the defaults",
        "With the defaults nothing shows.",
        "Which of the arguments of train reach your train_step?",
        edits=((_TRAIN_WITH_OPTIONS, "flat_state, rate)"), ("if max_norm is not None:", "if False:")),
    ),
    Mistake(
        "training.train",
        "one-rate-only",
        "lr is always taken for one number: a list of rates is not handled",
        "lr may be an iterable with one number for each batch: a schedule.",
        "What is lr in train(..., lr=[0.1, 0.05]), and what does your step do with it?",
        edits=(("rates = lr if np.iterable(lr) else itertools.repeat(lr)", "rates = itertools.repeat(lr)"),),
    ),
    Mistake(
        "training.train",
        "same-batch",
        "every step was taken on the first batch",
        "The model then learns one batch by heart.",
        "On which batch is the second step taken?",
        edits=(
            ("    losses = []\n", "    losses = []\n    first = batches[0]\n"),
            ("loss, grads = gpt_loss(x, y,", "x, y = first\n        loss, grads = gpt_loss(x, y,"),
        ),
    ),
    Mistake(
        "training.train",
        "loss-after-the-step",
        "the losses are those after each step, not before it",
        "What a step is taken on is known without another forward pass.",
        "With which parameters was the loss computed that you keep?",
        edits=(("losses.append(loss)", "losses.append(gpt_loss(x, y, named, config)[0])"),),
    ),
)
