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
    the bias correction divided by 1 - β instead of 1 - βᵗ
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
    ask: Which defaults does the signature in the assignment have, and which does yours have?""")
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
    β₁ and β₂ were swapped
    why: With the defaults, the average of the gradients should cover about 10 steps, that of their squares about 1000.
    ask: Which of the two betas belongs to m, and which to v?""")
mistake(
    "params-in-place",
    "new_params[name] = p * (1 - lr * weight_decay)",
    "p *= 1 - lr * weight_decay\n        new_params[name] = p",
).explain("""
    the parameters that were passed in were changed
    why: `p -= …` and `p *= …` write into the caller's array.
    ask: Which of your lines create a new array, and which write into one that was passed in?""")
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
    "matrices-decay-only", "p * (1 - lr * weight_decay)", "p * (1 - (lr * weight_decay if p.ndim > 1 else 0.0))"
).body(ADAM).explain("""
    the weight decay was applied to matrices only, not to vectors
    why: Many training scripts do that, with two groups of parameters. In this function, λ applies to every parameter.
    ask: To which parameters does λ apply, according to the docstring?""")
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

mistake("only-v-corrected", "m_hat, v_hat = m / (1 - beta1**step), v", "m_hat, v_hat = m, v").body(ADAM).explain("""
    m was not corrected for its start at 0
    why: With the default betas, m is ten times too small after one step, and so is the step.
    ask: Both averages start at 0. Which of them do you correct?""")
mistake(
    "correction-without-root", "lr * root2 / (1 - beta1**step)", "lr * root2 * root2 / (1 - beta1**step)"
).explain("""
    the correction of v is outside the root: the root was taken of v, not of v̂
    why: √v̂ is √v / √(1 - β₂ᵗ). After one step, the difference is a factor of about 32.
    ask: Is v corrected before or after the root is taken?""")
mistake(
    "corrections-exchanged",
    "m / (1 - beta1**step), v / (1 - beta2**step)",
    "m / (1 - beta2**step), v / (1 - beta1**step)",
).body(ADAM).explain("""
    β₁ and β₂ were swapped in the bias corrections
    why: m is an average with β₁, and its correction needs the same number.
    ask: Which of the two betas belongs to m, and which to v?""")
for name, old, new, which in (
    ("m", "m / (1 - beta1**step)", "m * (1 - beta1**step)", "m was"),
    ("v", "v / (1 - beta2**step)", "v * (1 - beta2**step)", "v was"),
):
    mistake(f"{name}-multiplied-by-correction", old, new).body(ADAM).explain(f"""
    {which} multiplied by its bias correction, not divided
    why: The average starts at 0 and is too small at first. Dividing by 1 - βᵗ makes it larger.
    ask: Should the correction make the average larger or smaller?""")
for name, shift, text in (
    ("large", "+ 1", "one too large"),
    ("small", "- 1 + (step == 1)", "one too small from the second step on"),
):
    mistake(
        f"t-too-{name}",
        "m / (1 - beta1**step), v / (1 - beta2**step)",
        f"m / (1 - beta1**(step {shift})), v / (1 - beta2**(step {shift}))",
    ).body(ADAM).explain(f"""
    t is {text} in the bias correction
    why: The first step has t = 1, the second has t = 2.
    ask: What is t in your first step, and what is it in your second?""")
mistake(
    "t-counts-arrays",
    "for name, p in params.items():\n",
    "step -= 1\n    for name, p in params.items():\n        step += 1\n",
).body(ADAM).explain("""
    t was increased once for every array, not once for every step
    why: The bias correction then differs from array to array, and `step` is much too large.
    ask: How large is state["step"] after one step of a model with three arrays?""")
for which, text, old, new in (
    ("m", "m", '"m": new_m', '"m": state.get("m", new_m)'),
    ("v", "v", '"v": new_v', '"v": state.get("v", new_v)'),
):
    mistake(f"{which}-not-updated", old, new).explain(f"""
    the old {text} was returned in the new state
    why: The next step then starts from an average that leaves out this gradient.
    ask: Which {text} is in the state that you return: the one before or the one after this step?""")
mistake(
    "old-state-returned", '"m": new_m, "v": new_v', '"m": state.get("m", new_m), "v": state.get("v", new_v)'
).explain("""
    the old m and v were returned in the new state
    why: The next step then starts from averages that leave out this gradient.
    ask: Which m and v are in the state that you return: those before or those after this step?""")
mistake(
    "old-averages-used",
    "- lr * m_hat / (np.sqrt(v_hat) + eps)",
    "- lr * (m_before / (1 - beta1**step)) / (np.sqrt(v_before / (1 - beta2**step)) + eps)",
).body(ADAM).explain("""
    the step used the averages of the state that was passed in, without this gradient
    why: m and v are updated first, and the step uses the new ones.
    ask: Does your first step depend on the gradient?""")
mistake("state-of-last-array", '"m": new_m, "v": new_v', '"m": m, "v": v').explain("""
    the new state holds m and v of the last array only
    why: Every array needs averages of its own.
    ask: What are m and v after the end of your loop?""")
mistake("m-restarts", 'm += beta1 * state["m"][name]', "pass").explain("""
    the old m was not used: every step started m from 0 again
    why: m is a running average: β₁ of the old one stays.
    ask: Does your m in the second step depend on the first gradient?""")
mistake("v-restarts", 'v += beta2 * state["v"][name]', "pass").explain("""
    the old v was not used: every step started v from 0 again
    why: v is a running average: β₂ of the old one stays.
    ask: Does your v in the second step depend on the first gradient?""")
mistake(
    "averages-restart", "            m += beta1", "            pass  #", "            v += beta2", "            pass  #"
).explain("""
    the old m and v were not used: every step started them from 0 again
    why: Both are running averages: β of the old value stays.
    ask: Do your m and v in the second step depend on the first gradient?""")
for name, old, new, which in (
    ("m-shares", "beta1 * m_before + (1 - beta1) * g", "(1 - beta1) * m_before + beta1 * g", "the average m"),
    ("v-shares", "beta2 * v_before + (1 - beta2) * g * g", "(1 - beta2) * v_before + beta2 * g * g", "the average v"),
):
    mistake(f"{name}-exchanged", old, new).body(ADAM).explain(f"""
    β and 1 - β were swapped in {which}
    why: With β = 0.9, an average should keep nine tenths of itself in every step. It keeps one tenth.
    ask: How much of the old average should remain after one step?""")
for name, old, new, which in (
    ("m-added-in-full", "(1 - beta1) * g", "g", "m"),
    ("v-added-in-full", "(1 - beta2) * g * g", "g * g", "v"),
):
    mistake(name, old, new).body(ADAM).explain(f"""
    the new gradient was added to {which} without the factor 1 - β
    why: {which} then becomes many times too large.
    ask: If the gradient is always 1, which value should {which} approach?""")
for name, old, new, which in (
    ("m", "(1 - beta1) * g", "(1 - beta2) * g", "the gradient's share of m is 1 - β₂, not 1 - β₁"),
    ("v", "(1 - beta2) * g * g", "(1 - beta1) * g * g", "the gradient's share of v is 1 - β₁, not 1 - β₂"),
    ("old-m", "beta1 * m_before", "beta2 * m_before", "the share of the old m is β₂, not β₁"),
    ("old-v", "beta2 * v_before", "beta1 * v_before", "the share of the old v is β₁, not β₂"),
    ("both-m", "beta1 * m_before + (1 - beta1) * g", "beta2 * m_before + (1 - beta2) * g", "m was computed with β₂"),
    (
        "both-v",
        "beta2 * v_before + (1 - beta2) * g * g",
        "beta1 * v_before + (1 - beta1) * g * g",
        "v was computed with β₁",
    ),
):
    mistake(f"wrong-beta-for-{name}", old, new).body(ADAM).explain(f"""
    {which}
    why: β₁ belongs to the average of the gradients, β₂ to that of their squares.
    ask: Which of the two betas belongs to m, and which to v?""")
for name, kept in (("m", "m_hat, v"), ("v", "m, v_hat")):
    mistake(f"corrected-{name}-kept", "new_m[name], new_v[name] = m, v", f"new_m[name], new_v[name] = {kept}").body(
        ADAM
    ).explain(f"""
    the corrected {name} was stored in the state
    why: The next step then corrects it a second time.
    ask: Which of the two does the next step start from in the formula?""")
mistake("absolute-value", "(1 - beta2) * g * g", "(1 - beta2) * np.abs(g)").body(ADAM).explain("""
    v is an average of |g|, not of g²
    why: The root is then taken of a number that is not a square, so the step changes when all gradients double.
    ask: If all gradients double, how should the step change?""")
mistake(
    "largest-v",
    "v_hat = m / (1 - beta1**step), v / (1 - beta2**step)",
    "v_hat = m / (1 - beta1**step), np.maximum(v, v_before) / (1 - beta2**step)",
).body(ADAM).explain("""
    the larger of the old and the new v was used
    why: That resembles AMSGrad, a variant of Adam. Here, v may also fall.
    ask: Does the formula in the docstring contain a maximum?""")
mistake(
    "nesterov",
    "m_hat, v_hat = m / (1 - beta1**step)",
    "m_hat, v_hat = (beta1 * m + (1 - beta1) * g) / (1 - beta1**step)",
).body(ADAM).explain("""
    the gradient was added to m a second time for the step
    why: That is Nesterov's variant, Nadam. The step of AdamW uses m̂ alone.
    ask: How often does the new gradient enter your step?""")
mistake("sign-only", "lr * m_hat / (np.sqrt(v_hat) + eps)", "lr * np.sign(m_hat)").body(ADAM).explain("""
    only the sign of m̂ was used
    why: Adam divides m̂ by √v̂. The quotient is near ±1 only if the gradients agree.
    ask: Where does v occur in your step?""")
mistake("momentum-only", "lr * m_hat / (np.sqrt(v_hat) + eps)", "lr * m_hat").body(ADAM).explain("""
    the step was not divided by √v̂ + ε
    why: The step is then the average gradient alone, its momentum. Adam gives every parameter a step of about the same
         size.
    ask: Where does v occur in your step?""")
for name, old, new, text in (
    *(
        (
            "eps-ignored" if eps == "1e-8" else f"eps-is-{eps}",
            "np.sqrt(v_hat) + eps",
            f"np.sqrt(v_hat) + {eps}",
            f"eps was ignored: {eps} was always used",
        )
        for eps in ("1e-8", "1e-7", "1e-6", "1e-5")
    ),
    ("betas-ignored", "= betas", "= 0.9, 0.999", "betas was ignored: 0.9 and 0.999 were always used"),
    ("beta1-ignored", "= betas", "= 0.9, betas[1]", "β₁ was ignored: 0.9 was always used"),
    ("beta2-ignored", "= betas", "= betas[0], 0.999", "β₂ was ignored: 0.999 was always used"),
    *(
        (
            "weight-decay-ignored" if decay == "0.01" else f"weight-decay-is-{decay}",
            "lr * weight_decay",
            f"lr * {decay}",
            f"weight_decay was ignored: {decay} was always used",
        )
        for decay in ("0.01", "0.1", "0.001")
    ),
):
    mistake(name, old, new).body(ADAM).explain(f"""
    {text}
    why: The mistake shows only when the argument has another value than this one.
    ask: Where does your code use this argument?""")
mistake("decay-halved", "(1 - lr * weight_decay)", "(1 - lr * weight_decay / 2)").body(ADAM).explain("""
    the weight decay is half as strong as it should be
    why: The factor is 1 - lr λ.
    ask: Which number multiplies the old parameter in the formula?""")
mistake("decay-doubled", "(1 - lr * weight_decay)", "(1 - 2 * lr * weight_decay)").body(ADAM).explain("""
    the weight decay is twice as strong as it should be: 1 - 2 lr λ
    why: The derivative of λ p² is 2 λ p, but the factor of AdamW is 1 - lr λ.
    ask: Which number multiplies the old parameter in the formula?""")
mistake(
    "decay-of-tables-left-out",
    "(1 - lr * weight_decay)",
    "(1 - (lr * weight_decay if name != list(params)[0] else 0.0))",
).body(ADAM).explain("""
    the first array has no weight decay
    why: In this function, λ applies to every parameter.
    ask: To which parameters does λ apply, according to the docstring?""")
mistake(
    "decay-divided",
    "new[name] = p * (1 - lr * weight_decay) - lr * m_hat / (np.sqrt(v_hat) + eps)",
    "new[name] = p - lr * (m_hat + weight_decay * p) / (np.sqrt(v_hat) + eps)",
).body(ADAM).explain("""
    the weight decay was divided by √v̂ + ε, together with m̂
    why: AdamW keeps the decay apart from the step: p (1 - lr λ) does not depend on the gradients.
    ask: What happens to a parameter whose gradient is always 0?""")
mistake(
    "decay-without-step",
    "p * (1 - lr * weight_decay) - lr * m_hat / (np.sqrt(v_hat) + eps)",
    "p * (1 - lr * weight_decay)",
).body(ADAM).explain("""
    only the weight decay was applied, not the step
    why: A later assignment to the same name overwrites the result of the step.
    ask: Do your new parameters depend on the gradients?""")

mistake = MISTAKES.for_functions("training.adamw_step")
for name, old, corrected, title in (
    ("v-with-beta1", "v / (1 - beta2**step)", "v / (1 - beta1**step)", "v was corrected with β₁ᵗ, not β₂ᵗ"),
    ("m-with-beta2", "m / (1 - beta1**step)", "m / (1 - beta2**step)", "m was corrected with β₂ᵗ, not β₁ᵗ"),
    ("v-not", "v / (1 - beta2**step)", "v", "v was not corrected for its start at 0"),
):
    if name != "v-not":  # alone, that mistake is above
        mistake(f"{name}-corrected", old, corrected).body(ADAM).explain(f"""
            {title}
            why: Each average is corrected with the β that it is an average with.
            ask: Which of the two betas belongs to m, and which to v?""")
    for decay, factor, other in (
        ("without-lr", "(1 - weight_decay)", "the weight decay was not multiplied by the learning rate"),
        ("missing", "1.0", "there was no weight decay"),
    ):
        edits = (old, corrected, "(1 - lr * weight_decay)", factor)
        mistake(f"{name}-corrected-and-decay-{decay}", *edits).body(ADAM).explain(f"""
            {title}, and {other}
            why: The first changes the length of the early steps, the second how fast large parameters shrink.
            ask: Compare each factor with the formula: what stands before λ, and which β below m and v?""")
