"""Mistakes in `training`: AdamW."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

ADAM = """
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
    "no-bias-correction", "= math.sqrt(1 - beta2**step)", "= 1.0", "lr * root2 / (1 - beta1**step)", "lr", common=True
).explain("""
    the bias correction is missing
    why: Both averages start at 0. With the default betas, the first steps are about three times too long without the
         correction.
    ask: After the first step, how large is m compared with the gradient? What should correct that?""")
mistake("beta-without-power", "beta2**step", "beta2", "beta1**step", "beta1", common=True).explain("""
    the bias correction divided by 1 - β instead of 1 - βᵗ
    why: The first step is correct. Later, the averages contain more gradients, and the division makes them too large.
    ask: What should the correction be after a million steps?""")
mistake("t-stands-still", '"step": step,', '"step": step - 1,').explain("""
    `step` in the new state was not increased
    why: Every step is then treated as the first, and its bias correction is much too strong.
    ask: What is state["step"] after two calls?""")
mistake(
    "eps-inside-root", ".sqrt(v)", ".sqrt(v + eps * root2 * root2)", "denominator += eps * root2", "pass", common=True
).explain("""
    ε was added inside the root
    why: √(v̂ + 1e-8) is at least 1e-4, so parameters with small gradients hardly move.
    ask: Is ε added before or after the root is taken?""")
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
mistake("betas-exchanged", "beta1, beta2 = map", "beta2, beta1 = map").explain("""
    β₁ and β₂ were swapped
    why: With the defaults, the average of the gradients should cover about 10 steps, that of their squares about 1000.
    ask: Which of the two betas belongs to m, and which to v?""")
mistake("first-beta-for-new-squares", "v *= 1 - beta2", "v *= 1 - beta1").explain("""
    in v, the new square was multiplied by 1 - β₁, not by 1 - β₂
    why: The two factors of an average must add up to 1. With the default betas, v becomes 100 times too large.
    ask: Which two factors of v add up to 1 in the formula, and which two in your code?""")
mistake("gradient-not-squared", "(1 - beta2) * g * g", "(1 - beta2) * g").body(ADAM).explain("""
    v is an average of the gradients, not of their squares
    why: v can then be negative, and its root nan.
    ask: What is the root taken of? Can it be negative?""")
mistake("average-squared", "(1 - beta2) * g * g", "(1 - beta2) * m * m").body(ADAM).explain("""
    v is an average of m², not of the squared gradients
    why: A gradient that alternates between 1 and -1 should give a small m and a large v.
    ask: For the gradients 1, -1, 1, -1: how large should v become, and how large is yours?""")
mistake(
    "shares-exchanged",
    "beta1 * m_before + (1 - beta1) * g",
    "(1 - beta1) * m_before + beta1 * g",
    "beta2 * v_before + (1 - beta2) * g * g",
    "(1 - beta2) * v_before + beta2 * g * g",
).body(ADAM).explain("""
    β and 1 - β were swapped in the averages
    why: With β₁ = 0.9, m should keep nine tenths of itself in every step. It keeps one tenth.
    ask: With β₂ = 0.999, how much of the old v should remain after one step?""")
mistake("added-in-full", "(1 - beta1) * g", "g", "(1 - beta2) * g * g", "g * g").body(ADAM).explain("""
    the new gradient was added without the factor 1 - β
    why: With the default betas, m becomes 10 times too large, and v 1000 times.
    ask: If the gradient is always 1, which value should m approach?""")
mistake("corrected-averages-kept", "new_m[name], new_v[name] = m, v", "new_m[name], new_v[name] = m_hat, v_hat").body(
    ADAM
).explain("""
    the corrected averages were stored in the state
    why: The next step then corrects them a second time. The correction is only for the update; the state holds m and
         v.
    ask: Which of the two does the next step start from in the formula: m or m̂?""")
mistake("beta-times-step", "beta1**step", "beta1 * step", "beta2**step", "beta2 * step").body(ADAM).explain("""
    the bias correction divided by 1 - β·t, not by 1 - βᵗ
    why: The first step is correct. Later, 1 - β·t is negative.
    ask: With β = 0.9 and t = 20, what is your correction, and what should it be?""")
mistake("no-root", "np.sqrt(v_hat) + eps", "v_hat + eps").body(ADAM).explain("""
    m̂ was divided by v̂, not by its root
    why: v̂ is an average of squares. Without the root, parameters with small gradients take large steps, and the
         reverse.
    ask: If all gradients double, how should the step change?""")
mistake("no-eps", "np.sqrt(v_hat) + eps", "np.sqrt(v_hat)").body(ADAM).explain("""
    ε was not used
    why: A parameter whose gradient has always been 0 is then updated by 0/0, which is nan.
    ask: What is the first step of a parameter whose gradient is 0?""")
mistake("uphill", "- lr * m_hat", "+ lr * m_hat").body(ADAM).explain("""
    the step was added, not subtracted
    why: The gradient points in the direction in which the loss increases.
    ask: Does the loss go up or down along the gradient?""")
mistake("no-decay", "p * (1 - lr * weight_decay)", "p").body(ADAM).explain("""
    the weight decay was not used
    why: The W in AdamW is the weight decay. Its default here is 0.01.
    ask: Where is λ in your code?""")
mistake("decay-grows", "(1 - lr * weight_decay)", "(1 + lr * weight_decay)").body(ADAM).explain("""
    the weight decay made the parameters larger
    why: It should pull every parameter a little towards 0.
    ask: With a gradient of 0, is the new parameter closer to 0 than the old one?""")
mistake(
    "decay-after-step",
    *("p * (1 - lr * weight_decay)", "(p"),
    *("(np.sqrt(v_hat) + eps)", "(np.sqrt(v_hat) + eps)) * (1 - lr * weight_decay)"),
).body(ADAM).explain("""
    the weight decay acted on the parameter after the step, not before it
    why: The decay is λ times the old p. Otherwise it also shortens the step that was just taken.
    ask: From which p do you take lr λ p: the old one, or the one that the step has changed?""")
mistake(
    "matrices-decay-only", "p * (1 - lr * weight_decay)", "p * (1 - (lr * weight_decay if p.ndim > 1 else 0.0))"
).body(ADAM).explain("""
    the weight decay was applied to matrices only, not to vectors
    why: Many training scripts do that, with two groups of parameters. In this function, λ applies to every parameter.
    ask: With lr=0.1, λ=0.5 and a gradient of 0, what becomes of a bias of 1 in one of your steps?""")
mistake("gradient-for-average", "- lr * m_hat", "- lr * g").body(ADAM).explain("""
    the step used the gradient itself, not its average m̂
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

mistake("state-of-last-array", '"m": new_m, "v": new_v', '"m": m, "v": v').explain("""
    the new state holds m and v of the last array only
    why: Every array needs averages of its own.
    ask: What are m and v after the end of your loop?""")
mistake(
    "largest-v",
    "v_hat = m / (1 - beta1**step), v / (1 - beta2**step)",
    "v_hat = m / (1 - beta1**step), np.maximum(v, v_before) / (1 - beta2**step)",
).body(ADAM).explain("""
    the larger of the old and the new v was used
    why: That resembles AMSGrad, a variant of Adam. Here, v may also fall.
    ask: The first gradient is 10, and all others are 0. How does v change from step to step in your code?""")
for name, old, new, right in (
    ("eps", "np.sqrt(v_hat) + eps", "np.sqrt(v_hat) + 1e-8", "1e-8"),
    ("weight-decay", "lr * weight_decay", "lr * 0.01", "0.01"),
):
    mistake(f"{name}-ignored", old, new).body(ADAM).explain(f"""
        {name.replace("-", "_")} was ignored: {right} was always used
        why: The mistake shows only when the argument has another value than this one.
        ask: Where does your code use this argument?""")
