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
    why: Both averages start at 0. With the default betas, the first steps are about three times too long without the
         correction.
    ask: After the first step, how large is m compared with the gradient? What should correct that?""")
mistake("only-m-corrected", "root2 = math.sqrt(1 - beta2**step)", "root2 = 1.0").explain("""
    v was not corrected for its start at 0
    why: With the default betas, v is a thousand times too small after one step, and the step is 32 times too long.
    ask: Both averages start at 0. Which of them do you correct?""")
mistake("beta-without-power", "beta2**step", "beta2", "beta1**step", "beta1", common=True).explain("""
    the bias correction divides by 1 - β instead of 1 - βᵗ
    why: The first step is correct. Later, the averages contain more gradients, and the division makes them too large.
    ask: What should the correction be after a million steps?""")
mistake(
    "t-from-0", "beta2**step", "beta2 ** (step - 1)", "(1 - beta1**step)", "np.float64(1 - beta1 ** (step - 1))"
).explain("""
    t was counted from 0 in the bias correction
    why: The first step has t = 1. With t = 0, the correction divides by 0 and the result is nan.
    ask: What is 1 - βᵗ in your very first step?""")
mistake("t-stands-still", '"step": step,', '"step": step - 1,').explain("""
    `step` in the new state was not increased
    why: Every step is then treated as the first, and its bias correction is much too strong.
    ask: What is state["step"] after two calls?""")
mistake(
    "eps-inside-root",
    "denominator = np.sqrt(v)",
    "denominator = np.sqrt(v + eps * root2 * root2)",
    "denominator += eps * root2",
    "pass",
    common=True,
).explain("""
    ε was added inside the root
    why: √(v̂ + 1e-8) is at least 1e-4, so parameters with small gradients hardly move.
    ask: Is ε added before or after the root is taken?""")
mistake("eps-before-correction", "denominator += eps * root2", "denominator += eps").explain("""
    ε was added to √v before the bias correction
    why: In the first steps, ε then acts as if it were many times larger.
    ask: To which of the two should ε be added: √v, or the root of the corrected v?""")
mistake("default-eps", "eps=1e-8", "eps=1e-7").explain("""
    the default of ε is 1e-7
    why: The default is 1e-7 in Keras, but 1e-8 in the paper, in PyTorch and in Headway.
    ask: Compare the defaults in your function's signature with those of the assignment.""")
mistake(
    "decay-in-gradient",
    "g = grads[name]",
    "g = grads[name] + weight_decay * p",
    "p * (1 - lr * weight_decay)",
    "p.copy()",
    common=True,
).explain("""
    the weight decay was added to the gradient
    why: That is Adam with L2 regularization: the decay enters the averages and is divided by √v̂. AdamW keeps it out
         of both.
    ask: What does the W in AdamW stand for? Do your m and v depend on weight_decay?""")
mistake("decay-without-lr", "1 - lr * weight_decay", "1 - weight_decay", common=True).explain("""
    the weight decay was not multiplied by the learning rate
    why: With λ = 0.01, every step then removes one percent of every parameter, whatever the learning rate is.
    ask: What should happen to the parameters if lr is 0?""")
mistake(
    "decay-after-step",
    "p * (1 - lr * weight_decay)",
    "p - update",
    "new_params[name] -= update",
    "new_params[name] *= 1 - lr * weight_decay",
).explain("""
    the weight decay was applied after the step, not to the old parameter
    why: The update is then shortened as well. The difference is tiny at first and accumulates.
    ask: Which p is multiplied by 1 - lr λ in the formula: the one before or the one after the step?""")
mistake("betas-exchanged", "beta1, beta2 = map", "beta2, beta1 = map").explain("""
    β₁ and β₂ were exchanged
    why: With the defaults, the average of the gradients should cover about 10 steps, that of their squares about 1000.
    ask: Which of the two betas belongs to m?""")
mistake(
    "params-in-place",
    "new_params[name] = p * (1 - lr * weight_decay)",
    "p *= 1 - lr * weight_decay\n        new_params[name] = p",
).explain("""
    the parameters were changed in place
    why: `p -= …` and `p *= …` write into the caller's array.
    ask: Which of your lines create a new array, and which write into one that was passed in?""")
mistake("gradient-not-squared", "(1 - beta2) * g * g", "(1 - beta2) * g").body(_ADAM).explain("""
    v is an average of the gradients, not of their squares
    why: v can then be negative, and its root nan.
    ask: What is the root taken of? Can it be negative?""")
mistake("average-squared", "(1 - beta2) * g * g", "(1 - beta2) * m * m").body(_ADAM).explain("""
    v is an average of m², not of the squared gradients
    why: A gradient that alternates between 1 and -1 should give a small m and a large v.
    ask: For the gradients 1, -1, 1, -1: how large should v become, and how large is yours?""")
mistake(
    "shares-exchanged",
    "beta1 * m_before + (1 - beta1) * g",
    "(1 - beta1) * m_before + beta1 * g",
    "beta2 * v_before + (1 - beta2) * g * g",
    "(1 - beta2) * v_before + beta2 * g * g",
).body(_ADAM).explain("""
    β and 1 - β were exchanged in the averages
    why: With β₁ = 0.9, m should keep nine tenths of itself in every step. It keeps one tenth.
    ask: With β₂ = 0.999, how much of the old v should remain after one step?""")
mistake("added-in-full", "(1 - beta1) * g", "g", "(1 - beta2) * g * g", "g * g").body(_ADAM).explain("""
    the new gradient was added without the factor 1 - β
    why: With the default betas, m becomes 10 times too large, and v 1000 times.
    ask: If the gradient is always 1, which value should m approach?""")
mistake("corrected-averages-kept", "new_m[name], new_v[name] = m, v", "new_m[name], new_v[name] = m_hat, v_hat").body(
    _ADAM
).explain("""
    the corrected averages were stored in the state
    why: The next step then corrects them a second time. The correction is only for the update; the state holds m and
         v.
    ask: Which of the two does the next step start from in the formula: m or m̂?""")
mistake("beta-times-step", "beta1**step", "beta1 * step", "beta2**step", "beta2 * step").body(_ADAM).explain("""
    the bias correction divides by 1 - β·t, not by 1 - βᵗ
    why: The first step is correct. Later, 1 - β·t is negative.
    ask: With β = 0.9 and t = 20, what is your correction, and what should it be?""")
mistake("no-root", "np.sqrt(v_hat) + eps", "v_hat + eps").body(_ADAM).explain("""
    m̂ was divided by v̂, not by its root
    why: v̂ is an average of squares. Without the root, parameters with small gradients take large steps, and the
         reverse.
    ask: If all gradients double, how should the step change?""")
mistake("no-eps", "np.sqrt(v_hat) + eps", "np.sqrt(v_hat)").body(_ADAM).explain("""
    ε was not used
    why: A parameter whose gradient has always been 0 is then updated by 0/0, which is nan.
    ask: What is the first step of a parameter whose gradient is 0?""")
mistake("uphill", "- lr * m_hat", "+ lr * m_hat").body(_ADAM).explain("""
    the step was added, not subtracted
    why: The gradient points in the direction in which the loss increases.
    ask: Does the loss go up or down along the gradient?""")
mistake("no-decay", "p * (1 - lr * weight_decay)", "p").body(_ADAM).explain("""
    the weight decay was not used
    why: The W in AdamW is the weight decay. Its default here is 0.01.
    ask: Where is λ in your code?""")
mistake("decay-grows", "(1 - lr * weight_decay)", "(1 + lr * weight_decay)").body(_ADAM).explain("""
    the weight decay makes the parameters larger
    why: It should pull every parameter a little towards 0.
    ask: With a gradient of 0, is the new parameter closer to 0 than the old one?""")
mistake(
    "matrices-decay-only", "p * (1 - lr * weight_decay)", "p * (1 - (lr * weight_decay if p.ndim > 1 else 0.0))"
).body(_ADAM).explain("""
    the weight decay was applied to matrices only, not to vectors
    why: Many training scripts do that, with two groups of parameters. In this function, λ applies to every parameter.
    ask: To which parameters does λ apply, according to the docstring?""")
mistake("gradient-for-average", "- lr * m_hat", "- lr * g").body(_ADAM).explain("""
    the step uses the gradient itself, not its average m̂
    why: In the first step, the two are equal. Later, the average smooths out the noise of single batches.
    ask: Where does m appear in your step?""")
mistake(
    "state-in-place",
    'return new_params, {"step": step, "m": new_m, "v": new_v}',
    'state.update({"step": step, "m": new_m, "v": new_v})\n    return new_params, state',
).explain("""
    the state that was passed in was changed
    why: A caller who kept the old state, to go back to it, finds it changed.
    ask: Which dictionary do you return: a new one, or the one that was passed in?""")

mistake = MISTAKES.for_functions("training.clip_grad_norm")
mistake("each-by-itself", common=True).body("""
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))
    clipped = {}
    for name, g in grads.items():
        own = math.sqrt(float(np.vdot(g, g)))
        clipped[name] = g * min(1.0, max_norm / (own + 1e-6))
    return clipped, norm
""").explain("""
    every array was clipped separately
    why: All gradients together are one long vector. Clipping each array changes its direction, and the whole can still
         be too long.
    ask: By how many different factors does your function multiply?""")
mistake("always-scaled", "if scale >= 1:", "if False:", common=True).explain("""
    short gradients were made longer
    why: Clipping never makes a gradient longer: the factor is at most 1.
    ask: What is your factor if the norm is 0.1 and max_norm is 5?""")
mistake("numbers-clipped", "g * scale", "np.clip(g, -max_norm, max_norm)", common=True).explain("""
    each entry was clipped to ±max_norm
    why: That is clipping by value: it changes the direction, and it does not limit the norm.
    ask: After your clipping to 1, does [3, 4] still have the same direction?""")
mistake(
    "sum-of-norms",
    "math.sqrt(sum(float(np.vdot(g, g)) for",
    "sum(math.sqrt(float(np.vdot(g, g))) for",
    "grads.values()))",
    "grads.values())",
).explain("""
    the norms of the arrays were added up
    why: The square of the whole norm is the sum of all squares: add up the squares first, then take one root.
    ask: How long is the vector (3, 4), and what is the sum of the lengths of its two parts?""")
mistake("norm-after", "for name, g in grads.items()}, norm", "for name, g in grads.items()}, norm * scale").explain("""
    the norm after clipping was returned
    why: The norm before clipping is the one to watch: it shows whether training is stable.
    ask: Which norm does the docstring list as the second result?""")
mistake(
    "in-place",
    "return {name: g * scale for name, g in grads.items()}, norm",
    "for g in grads.values():\n        g *= scale\n    return dict(grads), norm",
).explain("""
    the gradients were changed in place
    why: PyTorch's clip_grad_norm_ does that. This function leaves its arguments unchanged.
    ask: Which of your lines write into an array that was passed in?""")
for name, wrong_divisor, code in (
    ("no-small-number", "norm", "(norm or math.inf)"),
    ("no-small-number-at-0", "norm", "np.float64(norm)"),
    ("another-small-number", "norm + 1e-8", "(norm + 1e-8)"),
):
    mistake(name, "(norm + 1e-6)", code, group="small number beside the norm").explain(f"""
        max_norm was divided by {wrong_divisor}, not by norm + 1e-6
        why: The 1e-6 is PyTorch's, against division by 0. For norms near 1 it changes about the sixth digit; for tiny
             norms it matters more.
        ask: What is max_norm divided by in the formula of the docstring?""")
mistake(
    "largest-number",
    "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
    "max(float(np.abs(g).max()) for g in grads.values())",
).explain("""
    the largest absolute entry was used as the norm
    why: The norm is the length of all gradients as one long vector: the root of the sum of all squares.
    ask: What is the norm of a gradient of four entries that are all 1?""")
mistake(
    "no-root",
    "math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))",
    "sum(float(np.vdot(g, g)) for g in grads.values())",
).explain("""
    the root is missing from the norm: it is the sum of the squares
    why: A gradient that is twice as long should have twice the norm, not four times.
    ask: What is the norm of a gradient of four entries that are all 2?""")
mistake("norm-not-returned", "return dict(grads), norm", "return dict(grads)", "items()}, norm", "items()}").explain("""
    only the gradients were returned, without the norm
    why: It is useful to watch the norm before clipping: where it jumps, training is unstable.
    ask: How many values does the docstring list under Returns?""")

mistake = MISTAKES.for_functions("training.learning_rate")
mistake("warm-up-from-0", "max_lr * (step + 1)", "max_lr * step", common=True).explain("""
    the warm-up starts at 0
    why: With a learning rate of 0, the first batch has no effect. This schedule starts at max_lr / warmup_steps.
    ask: What is your learning rate at step 0?""")
mistake(
    "warm-up-in-progress", "(step - warmup_steps) / (total_steps - warmup_steps)", "step / total_steps", common=True
).explain("""
    the cosine counts from step 0, as if there were no warm-up
    why: After the warm-up, the rate jumps down, because the cosine does not start at its beginning.
    ask: What should progress be at the first step after the warm-up, and what at total_steps?""")
mistake(
    "one-step-ahead", "progress = (step - warmup_steps)", "progress = (step - warmup_steps + 1)", common=True
).explain("""
    the cosine is one step ahead
    why: The first step after the warm-up should still have the full rate: steps are counted from 0.
    ask: What should progress be when step equals warmup_steps?""")
mistake("sinks-to-0", "min_lr + (max_lr - min_lr) * (1", "max_lr * (1").explain("""
    the cosine decays to 0 instead of min_lr
    why: The rate then jumps up to min_lr at the end.
    ask: What does your formula give when the cosine is -1?""")
mistake("whole-wave", "math.cos(math.pi", "math.cos(2 * math.pi").explain("""
    the cosine goes through a whole wave: down and up again
    why: Half a wave goes from the largest value to the smallest.
    ask: At which angle is the cosine smallest, and which angle do you reach at the end?""")
mistake("rises-after-the-end", "if step >= total_steps:", "if step == total_steps:").explain("""
    after total_steps, the rate rises again
    why: A cosine is periodic. The schedule stays at min_lr.
    ask: What is your learning rate long after total_steps?""")
mistake("warm-up-one-longer", "(step + 1) / warmup_steps", "(step + 1) / (warmup_steps + 1)").explain("""
    the warm-up divides by warmup_steps + 1
    why: The full rate is then reached one step too late.
    ask: With a warm-up of 4 steps, which rate should step 3 have, the last of them?""")
mistake("warm-up-from-min", "max_lr * (step + 1) /", "min_lr + (max_lr - min_lr) * (step + 1) /").explain("""
    the warm-up starts from min_lr instead of 0
    why: In the formula, the rate is the fraction (step + 1) / warmup_steps of max_lr; min_lr does not occur.
    ask: With a warm-up of 4 steps, which fraction of max_lr should step 0 have?""")
mistake("straight-line", "(1 + math.cos(math.pi * progress)) / 2", "(1 - progress)").explain("""
    the rate decays along a straight line, not along a cosine
    why: A cosine falls slowly at first, fastest in the middle, and slowly again at the end.
    ask: What is cos(π · progress) when progress is 1/4?""")
mistake("ends-one-step-early", "/ (total_steps - warmup_steps)", "/ max(1, total_steps - warmup_steps - 1)").explain("""
    min_lr is reached one step too early
    why: The cosine was divided by one step too few: it should reach min_lr at total_steps, one step after the last.
    ask: How large should progress be at total_steps, and how large at total_steps - 1?""")
mistake(
    "total-without-warm-up",
    "step >= total_steps",
    "step >= total_steps + warmup_steps",
    "/ (total_steps - warmup_steps)",
    "/ total_steps",
).explain("""
    total_steps was counted from the end of the warm-up
    why: It is counted from step 0, with the warm-up. Otherwise the decay is too slow and ends too late.
    ask: At which step should min_lr be reached?""")
mistake("amplitude-not-reduced", "(max_lr - min_lr) *", "max_lr *").explain("""
    the cosine was scaled by max_lr, not by max_lr - min_lr
    why: Right after the warm-up, the rate is then max_lr + min_lr.
    ask: Which rate does your formula give when progress is 0?""")
mistake("no-half", "(1 + math.cos(math.pi * progress)) / 2", "(1 + math.cos(math.pi * progress))").explain("""
    the factor ½ of the cosine is missing
    why: 1 + cos goes from 2 to 0, not from 1 to 0.
    ask: Which rate does your formula give when progress is 0?""")
mistake(
    "warm-up-of-0",
    "    if step < warmup_steps:\n",
    "    _ = max_lr * (step + 1) / warmup_steps\n    if step < warmup_steps:\n",
).explain("""
    warmup_steps=0 leads to a division by 0
    why: The fraction of the warm-up is computed even when there is no warm-up.
    ask: With warmup_steps=0, which of your lines are executed?""")
