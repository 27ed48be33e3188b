"""Mistakes in assignment 10: training."""

from autograder.courses.transformer.mistakes._training_formulas import FORMULAS
from autograder.engine.diagnosis.mistake import Mistake

_ADAMW = (
    Mistake(
        "training.adamw_step",
        "no-bias-correction",
        "the bias correction is missing",
        "Both averages start at 0; without the correction the first steps are about three times too long.",
        "How large is m after the first step, compared with the gradient? What makes up for that?",
        edits=(
            ("root2 = math.sqrt(1 - beta2**step)", "root2 = 1.0"),
            ("lr * root2 / (1 - beta1**step)", "lr"),
        ),
        common=True,
    ),
    Mistake(
        "training.adamw_step",
        "only-m-corrected",
        "v was not corrected for its start at 0",
        "After one step v is a thousand times too small, and the step 32 times too long.",
        "Both averages start at 0. Which of them do you correct?",
        edits=(("root2 = math.sqrt(1 - beta2**step)", "root2 = 1.0"),),
    ),
    Mistake(
        "training.adamw_step",
        "beta-without-power",
        "the bias correction divides by 1 - β instead of 1 - βᵗ",
        "The first step is right. Later the averages have seen more, and would be blown up for ever.",
        "What should the correction be after a million steps?",
        edits=(("beta2**step", "beta2"), ("beta1**step", "beta1")),
        common=True,
    ),
    Mistake(
        "training.adamw_step",
        "t-from-0",
        "t is counted from 0 in the bias correction",
        "The first step is number 1; with t = 0 the correction divides by 0, and everything is nan.",
        "What is 1 - βᵗ in your very first step?",
        edits=(("beta2**step", "beta2 ** (step - 1)"), ("(1 - beta1**step)", "np.float64(1 - beta1 ** (step - 1))")),
    ),
    Mistake(
        "training.adamw_step",
        "t-stands-still",
        "the step in the new state does not go up",
        "Every step then takes itself for the first one, and its bias correction is far too strong.",
        "What does the state say about the number of steps after two calls?",
        edits=(('"step": step,', '"step": step - 1,'),),
    ),
    Mistake(
        "training.adamw_step",
        "eps-inside-root",
        "ε stands inside the root",
        "√(v + 1e-8) is at least 1e-4: parameters with small gradients hardly move.",
        "Is ε added before or after the root is taken?",
        edits=(
            ("denominator = np.sqrt(v)", "denominator = np.sqrt(v + eps * root2 * root2)"),
            ("denominator += eps * root2", "pass"),
        ),
        common=True,
    ),
    Mistake(
        "training.adamw_step",
        "eps-before-correction",
        "ε was added to √v before the bias correction",
        "In the first steps it acts as if it were many times larger.",
        "To which of the two is ε added: √v, or the root of the corrected v?",
        edits=(("denominator += eps * root2", "denominator += eps"),),
    ),
    Mistake(
        "training.adamw_step",
        "default-eps",
        "the default of ε is 1e-7",
        "Keras has 1e-7; PyTorch, the paper and this kit have 1e-8.",
        "Compare the defaults in your signature with those of the assignment.",
        edits=(("eps=1e-8", "eps=1e-7"),),
    ),
    Mistake(
        "training.adamw_step",
        "decay-in-gradient",
        "the weight decay was added to the gradient",
        "That is Adam with L2: the decay goes through the averages and is divided by √v. AdamW keeps it out of both.",
        "What is the W in AdamW? Do your m and v depend on weight_decay?",
        edits=(
            ("g = grads[name]", "g = grads[name] + weight_decay * p"),
            ("p * (1 - lr * weight_decay)", "p.copy()"),
        ),
        common=True,
    ),
    Mistake(
        "training.adamw_step",
        "decay-without-lr",
        "the weight decay was not multiplied by the learning rate",
        "With 0.01 every step takes one percent of all weights away, whatever the learning rate is.",
        "What should happen to the parameters if lr is 0?",
        edits=(("1 - lr * weight_decay", "1 - weight_decay"),),
        common=True,
    ),
    Mistake(
        "training.adamw_step",
        "decay-after-step",
        "the weight decay acts on the parameter after the step, not on the old one",
        "The step itself is shortened, too. The difference is tiny, and grows with every step.",
        "Which p is multiplied by 1 - lr λ in the formula: the one before or the one after the step?",
        edits=(
            ("p * (1 - lr * weight_decay)", "p - update"),
            ("new_params[name] -= update", "new_params[name] *= 1 - lr * weight_decay"),
        ),
    ),
    Mistake(
        "training.adamw_step",
        "betas-exchanged",
        "β₁ and β₂ are exchanged",
        "The average of gradients should forget in about 10 steps, that of their squares in about 1000.",
        "Which of the betas belongs to m?",
        edits=(("beta1, beta2 = map", "beta2, beta1 = map"),),
    ),
    Mistake(
        "training.adamw_step",
        "params-in-place",
        "the parameters are changed in place",
        "`p -= …` writes into the caller's array.",
        "Which of your lines make a new array, and which write into one that was handed to you?",
        edits=(
            (
                "new_params[name] = p * (1 - lr * weight_decay)",
                "p *= 1 - lr * weight_decay\n        new_params[name] = p",
            ),
        ),
    ),
)

_CLIP = (
    Mistake(
        "training.clip_grad_norm",
        "each-by-itself",
        "every array was clipped by itself",
        "The gradient is one long vector: each array by itself bends its direction, and the whole may stay too long.",
        "How many different factors does your function multiply by?",
        body="""
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))
    clipped = {}
    for name, g in grads.items():
        own = math.sqrt(float(np.vdot(g, g)))
        clipped[name] = g * min(1.0, max_norm / (own + 1e-6))
    return clipped, norm
""",
        common=True,
    ),
    Mistake(
        "training.clip_grad_norm",
        "always-scaled",
        "short gradients were made longer",
        "Clipping never makes anything longer: the factor is at most 1.",
        "What is your factor if the norm is 0.1 and max_norm is 5?",
        edits=(("if scale >= 1:", "if False:"),),
        common=True,
    ),
    Mistake(
        "training.clip_grad_norm",
        "numbers-clipped",
        "each number was clipped to ±max_norm",
        "That is clipping by value: it bends the direction, and does not limit the norm.",
        "Is [3, 4] clipped to norm 1 still in the same direction?",
        edits=(("g * scale", "np.clip(g, -max_norm, max_norm)"),),
        common=True,
    ),
    Mistake(
        "training.clip_grad_norm",
        "sum-of-norms",
        "the norms of the arrays were added up",
        "The square of the whole norm is the sum of all squares: add the squares first, and take the root once.",
        "How long is the vector (3, 4), and what do the lengths of its parts add up to?",
        edits=(
            ("math.sqrt(sum(float(np.vdot(g, g)) for", "sum(math.sqrt(float(np.vdot(g, g))) for"),
            ("grads.values()))", "grads.values())"),
        ),
    ),
    Mistake(
        "training.clip_grad_norm",
        "norm-after",
        "the norm after clipping was returned",
        "The norm before is what one wants to watch: it shows how wild the gradients are.",
        "What does the docstring say about the second result?",
        edits=(("for name, g in grads.items()}, norm", "for name, g in grads.items()}, norm * scale"),),
    ),
    Mistake(
        "training.clip_grad_norm",
        "in-place",
        "the gradients are changed in place",
        "torch's function does that; this one leaves its arguments alone.",
        "Which of your lines write into an array that was handed to you?",
        edits=(
            (
                "return {name: g * scale for name, g in grads.items()}, norm",
                "for g in grads.values():\n        g *= scale\n    return dict(grads), norm",
            ),
        ),
    ),
)

_RATE = (
    Mistake(
        "training.learning_rate",
        "warm-up-from-0",
        "the warm-up starts at 0",
        "The first batch is then computed for nothing; this schedule starts at max_lr / warmup_steps.",
        "What is your learning rate at step 0?",
        edits=(("max_lr * (step + 1)", "max_lr * step"),),
        common=True,
    ),
    Mistake(
        "training.learning_rate",
        "warm-up-in-progress",
        "the cosine counts from step 0, as if there had been no warm-up",
        "After the warm-up the rate jumps down: part of the wave is gone already.",
        "What should progress be at the first step after the warm-up, and at the last step?",
        edits=(("(step - warmup_steps) / (total_steps - warmup_steps)", "step / total_steps"),),
        common=True,
    ),
    Mistake(
        "training.learning_rate",
        "one-step-ahead",
        "the cosine is one step ahead",
        "The first step after the warm-up still has the full rate; steps are counted from 0.",
        "What should progress be when step is warmup_steps?",
        edits=(("progress = (step - warmup_steps)", "progress = (step - warmup_steps + 1)"),),
        common=True,
    ),
    Mistake(
        "training.learning_rate",
        "sinks-to-0",
        "the cosine sinks to 0 instead of min_lr",
        "Then the rate jumps up to min_lr at the end.",
        "What does your formula give when the cosine is -1?",
        edits=(("min_lr + (max_lr - min_lr) * (1", "max_lr * (1"),),
    ),
    Mistake(
        "training.learning_rate",
        "whole-wave",
        "the cosine goes through a whole wave: down and up again",
        "Half a wave leads from the largest value to the smallest.",
        "At which angle is the cosine smallest, and which angle do you reach at the end?",
        edits=(("math.cos(math.pi", "math.cos(2 * math.pi"),),
    ),
    Mistake(
        "training.learning_rate",
        "rises-after-the-end",
        "after total_steps the rate rises again",
        "A cosine goes on for ever; the schedule stays at min_lr.",
        "What is your learning rate long after total_steps?",
        edits=(("if step >= total_steps:", "if step == total_steps:"),),
    ),
)

_STEP = (
    Mistake(
        "training.train_step",
        "loss-after-the-step",
        "the loss is the one after the step",
        "It costs another forward pass, and it is no longer the loss of a batch that the model has not seen.",
        "With which parameters is the returned loss computed?",
        edits=(("    return loss, params, state", "    return gpt_loss(x, y, params, config)[0], params, state"),),
        common=True,
    ),
    Mistake(
        "training.train_step",
        "not-clipped",
        "the gradient is not clipped",
        "clip_grad_norm returns new gradients; the old ones stay as they are.",
        "Which gradients does adamw_step get?",
        edits=(("grads, _ = clip", "_, _ = clip"),),
        common=True,
    ),
    Mistake(
        "training.train_step",
        "state-forgotten",
        "every step starts with an empty state",
        "Then there are no running averages: each step is a first step.",
        "Which state does adamw_step get?",
        edits=(("grads, state, lr", "grads, {}, lr"),),
        common=True,
    ),
)

_ESTIMATE = (
    Mistake(
        "training.estimate_loss",
        "mean-of-means",
        "the mean of the batches' losses was taken, however large they are",
        "Every token counts the same: a batch of two tokens must not weigh as much as one of two hundred.",
        "How many tokens stand behind each of the numbers that you average?",
        edits=((" * np.size(y)", ""), ("+= np.size(y)", "+= 1")),
        common=True,
    ),
)

_TRAIN = (
    Mistake(
        "training.train",
        "state-ignored",
        "the state that was handed in is not used",
        "After a break the running averages start at 0 again, and the run goes another way.",
        "Which state does the first step of a second call get?",
        edits=(("    if state:", "    if False:"),),
        common=True,
    ),
    Mistake(
        "training.train",
        "t-restarts",
        "the averages go on, but the step starts at 0 again",
        "The bias correction then blows up averages that are no longer near 0.",
        "What should state['step'] be after 5 steps, a break, and 4 more?",
        edits=(('flat_state["step"] = state["step"]', 'flat_state["step"] = 0'),),
        common=True,
    ),
    Mistake(
        "training.train",
        "first-rate-for-all",
        "every step has the first of the learning rates",
        "lr may be an iterable with one number for each batch: a schedule.",
        "Which learning rate does your second step have?",
        edits=(("rates = lr if", "rates = itertools.repeat(next(iter(lr))) if"),),
        common=True,
    ),
    Mistake(
        "training.train",
        "gradients-add-up",
        "the gradients of earlier batches are added to those of the new one",
        "In PyTorch they add up until zero_grad; here gpt_loss gives new ones every time.",
        "On which batches should the gradient of the third step depend?",
        edits=(
            ("    losses = []", "    losses, total = [], 0.0"),
            (
                'grads = {"all": pack(grads, like=params)}',
                'total = total + pack(grads, like=params)\n        grads = {"all": total}',
            ),
        ),
    ),
    Mistake(
        "training.train",
        "not-clipped",
        "the gradients are not clipped",
        "max_norm did not reach the step.",
        "Which of the arguments of train reach your train_step?",
        edits=(("if max_norm is not None:", "if False:"),),
        common=True,
    ),
    Mistake(
        "training.train",
        "weight-decay-dropped",
        "weight_decay is not handed on, so that every run has the default",
        "With the default nothing shows.",
        "Which of the arguments of train reach your train_step?",
        edits=(("rate, betas, eps, weight_decay)", "rate, betas, eps)"),),
    ),
)

MISTAKES = _ADAMW + _CLIP + _RATE + _STEP + _ESTIMATE + _TRAIN + FORMULAS
