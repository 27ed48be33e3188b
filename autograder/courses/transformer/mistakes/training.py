"""Mistakes in assignment 10: training."""

from autograder.courses.transformer.mistakes._training_loop import MISTAKES as LOOP
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(LOOP)

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

mistake = MISTAKES.for_functions("training.adamw_step")
mistake(
    "no-bias-correction",
    "root2 = math.sqrt(1 - beta2**step)",
    "root2 = 1.0",
    "lr * root2 / (1 - beta1**step)",
    "lr",
    common=True,
).explain("""
    the bias correction is missing
    why: Both averages start at 0; without the correction the first steps are about three times too long.
    ask: How large is m after the first step, compared with the gradient? What makes up for that?""")
mistake("only-m-corrected", "root2 = math.sqrt(1 - beta2**step)", "root2 = 1.0").explain("""
    v was not corrected for its start at 0
    why: After one step v is a thousand times too small, and the step 32 times too long.
    ask: Both averages start at 0. Which of them do you correct?""")
mistake("beta-without-power", "beta2**step", "beta2", "beta1**step", "beta1", common=True).explain("""
    the bias correction divides by 1 - β instead of 1 - βᵗ
    why: The first step is right. Later the averages have seen more, and would be blown up for ever.
    ask: What should the correction be after a million steps?""")
mistake(
    "t-from-0", "beta2**step", "beta2 ** (step - 1)", "(1 - beta1**step)", "np.float64(1 - beta1 ** (step - 1))"
).explain("""
    t is counted from 0 in the bias correction
    why: The first step is number 1; with t = 0 the correction divides by 0, and everything is nan.
    ask: What is 1 - βᵗ in your very first step?""")
mistake("t-stands-still", '"step": step,', '"step": step - 1,').explain("""
    the step in the new state does not go up
    why: Every step then takes itself for the first one, and its bias correction is far too strong.
    ask: What does the state say about the number of steps after two calls?""")
mistake(
    "eps-inside-root",
    "denominator = np.sqrt(v)",
    "denominator = np.sqrt(v + eps * root2 * root2)",
    "denominator += eps * root2",
    "pass",
    common=True,
).explain("""
    ε stands inside the root
    why: √(v + 1e-8) is at least 1e-4: parameters with small gradients hardly move.
    ask: Is ε added before or after the root is taken?""")
mistake("eps-before-correction", "denominator += eps * root2", "denominator += eps").explain("""
    ε was added to √v before the bias correction
    why: In the first steps it acts as if it were many times larger.
    ask: To which of the two is ε added: √v, or the root of the corrected v?""")
mistake("default-eps", "eps=1e-8", "eps=1e-7").explain("""
    the default of ε is 1e-7
    why: Keras has 1e-7; PyTorch, the paper and Headway have 1e-8.
    ask: Compare the defaults in your signature with those of the assignment.""")
mistake(
    "decay-in-gradient",
    "g = grads[name]",
    "g = grads[name] + weight_decay * p",
    "p * (1 - lr * weight_decay)",
    "p.copy()",
    common=True,
).explain("""
    the weight decay was added to the gradient
    why: That is Adam with L2: the decay goes through the averages and is divided by √v. AdamW keeps it out of both.
    ask: What is the W in AdamW? Do your m and v depend on weight_decay?""")
mistake("decay-without-lr", "1 - lr * weight_decay", "1 - weight_decay", common=True).explain("""
    the weight decay was not multiplied by the learning rate
    why: With 0.01 every step takes one percent of all weights away, whatever the learning rate is.
    ask: What should happen to the parameters if lr is 0?""")
mistake(
    "decay-after-step",
    "p * (1 - lr * weight_decay)",
    "p - update",
    "new_params[name] -= update",
    "new_params[name] *= 1 - lr * weight_decay",
).explain("""
    the weight decay acts on the parameter after the step, not on the old one
    why: The step itself is shortened, too. The difference is tiny, and grows with every step.
    ask: Which p is multiplied by 1 - lr λ in the formula: the one before or the one after the step?""")
mistake("betas-exchanged", "beta1, beta2 = map", "beta2, beta1 = map").explain("""
    β₁ and β₂ are exchanged
    why: The average of gradients should forget in about 10 steps, that of their squares in about 1000.
    ask: Which of the betas belongs to m?""")
mistake(
    "params-in-place",
    "new_params[name] = p * (1 - lr * weight_decay)",
    "p *= 1 - lr * weight_decay\n        new_params[name] = p",
).explain("""
    the parameters are changed in place
    why: `p -= …` writes into the caller's array.
    ask: Which of your lines make a new array, and which write into one that was handed to you?""")
mistake("gradient-not-squared", "(1 - beta2) * g * g", "(1 - beta2) * g").body(_ADAM).explain("""
    v is an average of the gradients, not of their squares
    why: v may then be negative, and its root nan.
    ask: What is the root taken of? Can it be negative?""")
mistake("average-squared", "(1 - beta2) * g * g", "(1 - beta2) * m * m").body(_ADAM).explain("""
    v is an average of the squares of m, not of the squares of the gradient
    why: A gradient that goes back and forth has a small m and a large v: that is what v is for.
    ask: For gradients 1, -1, 1, -1: how large should v become, and how large does yours?""")
mistake(
    "shares-exchanged",
    "beta1 * m_before + (1 - beta1) * g",
    "(1 - beta1) * m_before + beta1 * g",
    "beta2 * v_before + (1 - beta2) * g * g",
    "(1 - beta2) * v_before + beta2 * g * g",
).body(_ADAM).explain("""
    β and 1 - β are exchanged: the average keeps a share 1 - β of itself
    why: With β₁ = 0.9 the average should forget a tenth in every step; it forgets nine tenths.
    ask: With β = 0.999, how much of the old average should be left after one step?""")
mistake("added-in-full", "(1 - beta1) * g", "g", "(1 - beta2) * g * g", "g * g").body(_ADAM).explain("""
    the new gradient is added in full, without the factor 1 - β
    why: The averages then grow to ten and a thousand times what they should be.
    ask: For a gradient that is always 1, what should m come to?""")
mistake("corrected-averages-kept", "new_m[name], new_v[name] = m, v", "new_m[name], new_v[name] = m_hat, v_hat").body(
    _ADAM
).explain("""
    the corrected averages were kept in the state, so that they are corrected again in the next step
    why: The correction is for the step that is taken; what goes on is the average as it is.
    ask: Which of the two, m or m̂, does the formula's next step begin with?""")
mistake("beta-times-step", "beta1**step", "beta1 * step", "beta2**step", "beta2 * step").body(_ADAM).explain("""
    the correction divides by 1 - β·t, not by 1 - βᵗ
    why: The first step is right. Later 1 - β·t is negative.
    ask: With β = 0.9 and t = 20, what is the correction, and what should it be?""")
mistake("no-root", "np.sqrt(v_hat) + eps", "v_hat + eps").body(_ADAM).explain("""
    m̂ was divided by v̂, not by its root
    why: v̂ is a square: the step would grow where gradients are small, and shrink where they are large.
    ask: If all gradients double, what should become of the step?""")
mistake("no-eps", "np.sqrt(v_hat) + eps", "np.sqrt(v_hat)").body(_ADAM).explain("""
    ε is not used
    why: A parameter whose gradient has always been 0 is divided by 0: nan.
    ask: What is the first step of a parameter whose gradient is 0?""")
mistake("uphill", "- lr * m_hat", "+ lr * m_hat").body(_ADAM).explain("""
    the step was added, not subtracted: uphill
    why: The gradient shows where the loss grows.
    ask: Does the loss go up or down along the gradient?""")
mistake("no-decay", "p * (1 - lr * weight_decay)", "p").body(_ADAM).explain("""
    the weight decay is not used
    why: The W in AdamW is the weight decay. Its default here is 0.01.
    ask: Where is λ in your code?""")
mistake("decay-grows", "(1 - lr * weight_decay)", "(1 + lr * weight_decay)").body(_ADAM).explain("""
    the weight decay makes the parameters larger
    why: It should pull every parameter a little towards 0.
    ask: With a gradient of 0, is the new parameter nearer to 0 than the old one?""")
mistake(
    "matrices-decay-only", "p * (1 - lr * weight_decay)", "p * (1 - (lr * weight_decay if p.ndim > 1 else 0.0))"
).body(_ADAM).explain("""
    only matrices decay: biases and gains do not
    why: Many training scripts do that, with two groups of parameters. This function lets every parameter decay.
    ask: Which parameters does λ act on, by the docstring?""")
mistake("gradient-for-average", "- lr * m_hat", "- lr * g").body(_ADAM).explain("""
    the step goes along the gradient itself, not along its average m̂
    why: In the first step that is the same. Later the average smooths out the noise of the batches.
    ask: What is m for, if it is not in your step?""")
mistake(
    "state-in-place",
    'return new_params, {"step": step, "m": new_m, "v": new_v}',
    'state.update({"step": step, "m": new_m, "v": new_v})\n    return new_params, state',
).explain("""
    the state that was handed in was changed
    why: Whoever keeps an old state to go back to finds it altered.
    ask: Which dictionary do you return: a new one, or the one that came in?""")

mistake = MISTAKES.for_functions("training.clip_grad_norm")
mistake("each-by-itself", common=True).body("""
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))
    clipped = {}
    for name, g in grads.items():
        own = math.sqrt(float(np.vdot(g, g)))
        clipped[name] = g * min(1.0, max_norm / (own + 1e-6))
    return clipped, norm
""").explain("""
    every array was clipped by itself
    why: The gradient is one long vector: each array by itself bends its direction, and the whole may stay too long.
    ask: How many different factors does your function multiply by?""")
mistake("always-scaled", "if scale >= 1:", "if False:", common=True).explain("""
    short gradients were made longer
    why: Clipping never makes anything longer: the factor is at most 1.
    ask: What is your factor if the norm is 0.1 and max_norm is 5?""")
mistake("numbers-clipped", "g * scale", "np.clip(g, -max_norm, max_norm)", common=True).explain("""
    each number was clipped to ±max_norm
    why: That is clipping by value: it bends the direction, and does not limit the norm.
    ask: Is [3, 4] clipped to norm 1 still in the same direction?""")
mistake(
    "sum-of-norms",
    "math.sqrt(sum(float(np.vdot(g, g)) for",
    "sum(math.sqrt(float(np.vdot(g, g))) for",
    "grads.values()))",
    "grads.values())",
).explain("""
    the norms of the arrays were added up
    why: The square of the whole norm is the sum of all squares: add the squares first, and take the root once.
    ask: How long is the vector (3, 4), and what do the lengths of its parts add up to?""")
mistake("norm-after", "for name, g in grads.items()}, norm", "for name, g in grads.items()}, norm * scale").explain("""
    the norm after clipping was returned
    why: The norm before is what one wants to watch: it shows how wild the gradients are.
    ask: What does the docstring say about the second result?""")
mistake(
    "in-place",
    "return {name: g * scale for name, g in grads.items()}, norm",
    "for g in grads.values():\n        g *= scale\n    return dict(grads), norm",
).explain("""
    the gradients are changed in place
    why: torch's function does that; this one leaves its arguments alone.
    ask: Which of your lines write into an array that was handed to you?""")
for name, title, divisor in (
    ("no-small-number", "the norm alone, without the 1e-6", "(norm or math.inf)"),
    ("no-small-number-at-0", "the norm alone, without the 1e-6", "np.float64(norm)"),
    ("another-small-number", "the norm and 1e-8, not 1e-6", "(norm + 1e-8)"),
):
    mistake(name, "(norm + 1e-6)", divisor, group="small number beside the norm").explain(f"""
        max_norm was divided by {title}
        why: The docstring has PyTorch's formula, max_norm / (norm + 1e-6). The difference is in the sixth digit; for
             small norms it is large.
        ask: What is divided by in the formula of the docstring?""")
mistake(
    "largest-number",
    "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
    "max(float(np.abs(g).max()) for g in grads.values())",
).explain("""
    the largest number of all gradients was taken for their norm
    why: The norm is the length of all gradients as one long vector: the root of the sum of all squares.
    ask: What is the norm of a gradient of four numbers that are all 1?""")
mistake(
    "no-root",
    "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
    "sum(float(np.vdot(g, g)) for g in grads.values())",
).explain("""
    the norm is missing its root: this is the sum of the squares
    why: A gradient that is twice as long has twice the norm, not four times.
    ask: What is the norm of a gradient of four numbers that are all 1?""")
mistake("norm-not-returned", "return dict(grads), norm", "return dict(grads)", "items()}, norm", "items()}").explain("""
    only the gradients were returned, without the norm
    why: The norm before clipping is worth a look in every step: where it jumps, training is in trouble.
    ask: How many things does the docstring list under Returns?""")

mistake = MISTAKES.for_functions("training.learning_rate")
mistake("warm-up-from-0", "max_lr * (step + 1)", "max_lr * step", common=True).explain("""
    the warm-up starts at 0
    why: The first batch is then computed for nothing; this schedule starts at max_lr / warmup_steps.
    ask: What is your learning rate at step 0?""")
mistake(
    "warm-up-in-progress", "(step - warmup_steps) / (total_steps - warmup_steps)", "step / total_steps", common=True
).explain("""
    the cosine counts from step 0, as if there had been no warm-up
    why: After the warm-up the rate jumps down: part of the wave is gone already.
    ask: What should progress be at the first step after the warm-up, and at the last step?""")
mistake(
    "one-step-ahead", "progress = (step - warmup_steps)", "progress = (step - warmup_steps + 1)", common=True
).explain("""
    the cosine is one step ahead
    why: The first step after the warm-up still has the full rate; steps are counted from 0.
    ask: What should progress be when step is warmup_steps?""")
mistake("sinks-to-0", "min_lr + (max_lr - min_lr) * (1", "max_lr * (1").explain("""
    the cosine sinks to 0 instead of min_lr
    why: Then the rate jumps up to min_lr at the end.
    ask: What does your formula give when the cosine is -1?""")
mistake("whole-wave", "math.cos(math.pi", "math.cos(2 * math.pi").explain("""
    the cosine goes through a whole wave: down and up again
    why: Half a wave leads from the largest value to the smallest.
    ask: At which angle is the cosine smallest, and which angle do you reach at the end?""")
mistake("rises-after-the-end", "if step >= total_steps:", "if step == total_steps:").explain("""
    after total_steps the rate rises again
    why: A cosine goes on for ever; the schedule stays at min_lr.
    ask: What is your learning rate long after total_steps?""")
mistake("warm-up-one-longer", "(step + 1) / warmup_steps", "(step + 1) / (warmup_steps + 1)").explain("""
    the warm-up divides by warmup_steps + 1
    why: Then the full rate is reached one step later than it should be.
    ask: With a warm-up of 4 steps, which rate should step 3 have, the last of them?""")
mistake("warm-up-from-min", "max_lr * (step + 1) /", "min_lr + (max_lr - min_lr) * (step + 1) /").explain("""
    the warm-up starts from min_lr instead of 0
    why: By the formula it is a share (step + 1) / warmup_steps of max_lr.
    ask: With a warm-up of 4 steps, which share of max_lr should step 0 have?""")
mistake("straight-line", "(1 + math.cos(math.pi * progress)) / 2", "(1 - progress)").explain("""
    the rate falls along a straight line, not along a cosine
    why: A cosine stays high at first, falls fastest in the middle, and ends gently.
    ask: What is cos(π · progress) a quarter of the way?""")
mistake("ends-one-step-early", "/ (total_steps - warmup_steps)", "/ max(1, total_steps - warmup_steps - 1)").explain("""
    min_lr is reached one step too early: the cosine was divided by one step less
    why: By the formula it is reached at total_steps, the first step after the last one.
    ask: How large should progress be at total_steps, and how large is it at total_steps - 1?""")
mistake(
    "total-without-warm-up",
    "step >= total_steps",
    "step >= total_steps + warmup_steps",
    "/ (total_steps - warmup_steps)",
    "/ total_steps",
).explain("""
    total_steps was counted from the end of the warm-up, not from step 0
    why: The cosine is then too slow, and ends later than it should.
    ask: At which step should min_lr be reached?""")
mistake("amplitude-not-reduced", "(max_lr - min_lr) *", "max_lr *").explain("""
    the cosine swings by max_lr, not by max_lr - min_lr
    why: After the warm-up the rate is then max_lr + min_lr.
    ask: Which rate does your formula give at progress 0?""")
mistake("no-half", "(1 + math.cos(math.pi * progress)) / 2", "(1 + math.cos(math.pi * progress))").explain("""
    the factor ½ of the cosine is missing
    why: 1 + cos goes from 2 to 0.
    ask: Which rate does your formula give at progress 0?""")
mistake(
    "warm-up-of-0",
    "    if step < warmup_steps:\n",
    "    _ = max_lr * (step + 1) / warmup_steps\n    if step < warmup_steps:\n",
).explain("""
    without a warm-up there is a division by 0
    why: The share of the warm-up is computed even if there is none.
    ask: With warmup_steps=0, which of your lines are run?""")
