"""Mistakes in `training`: the learning rate."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("training.learning_rate")
mistake("warm-up-from-0", "max_lr * (step + 1)", "max_lr * step", common=True).explain("""
    the warm-up started at 0
    why: With a learning rate of 0, the first batch has no effect. This schedule starts at max_lr / warmup_steps.
    ask: What is your learning rate at step 0?""")
mistake(
    "warm-up-in-progress", "(step - warmup_steps) / (total_steps - warmup_steps)", "step / total_steps", common=True
).explain("""
    the cosine counted from step 0, as if there were no warm-up
    why: After the warm-up, the rate jumps down, because the cosine does not start at its beginning.
    ask: What should progress be at the first step after the warm-up, and what at total_steps?""")
mistake(
    "one-step-ahead", "progress = (step - warmup_steps)", "progress = (step - warmup_steps + 1)", common=True
).explain("""
    the cosine is one step ahead
    why: The first step after the warm-up should still have the full rate: steps are counted from 0.
    ask: What should progress be when step equals warmup_steps?""")
mistake("sinks-to-0", "min_lr + (max_lr - min_lr) * (1", "max_lr * (1").explain("""
    the cosine decayed to 0 instead of min_lr
    why: The rate then jumps up to min_lr at the end.
    ask: What does your formula give when the cosine is -1?""")
mistake("whole-wave", "math.cos(math.pi", "math.cos(2 * math.pi").explain("""
    the cosine went through a whole wave: down and up again
    why: Half a wave goes from the largest value to the smallest.
    ask: At which angle is the cosine smallest, and which angle do you reach at the end?""")
mistake("rises-after-the-end", "if step >= total_steps:", "if step == total_steps:").explain("""
    after total_steps, the rate rose again
    why: A cosine is periodic. The schedule stays at min_lr.
    ask: What is your learning rate long after total_steps?""")
mistake("warm-up-one-longer", "(step + 1) / warmup_steps", "(step + 1) / (warmup_steps + 1)").explain("""
    the warm-up divided by warmup_steps + 1
    why: The full rate is then reached one step too late.
    ask: With a warm-up of 4 steps, which rate should step 3 have, the last of them?""")
mistake("warm-up-from-min", "max_lr * (step + 1) /", "min_lr + (max_lr - min_lr) * (step + 1) /").explain("""
    the warm-up started from min_lr instead of 0
    why: In the formula, the rate is the fraction (step + 1) / warmup_steps of max_lr; min_lr does not occur.
    ask: With a warm-up of 4 steps, which fraction of max_lr should step 0 have?""")
mistake("straight-line", "(1 + math.cos(math.pi * progress)) / 2", "(1 - progress)").explain("""
    the rate decayed along a straight line, not along a cosine
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
    warmup_steps=0 led to a division by 0
    why: The fraction of the warm-up is computed even when there is no warm-up.
    ask: With warmup_steps=0, which of your lines are executed?""")
mistake("zero-length-decay", "if step >= total_steps:", "if step > total_steps:").explain("""
    step = total_steps is treated like a step before the end
    why: With a warm-up until the end, progress is then 0/0.
    ask: Which branch does step = total_steps take, and what does it divide by when warmup_steps = total_steps?""")
mistake(
    "end-one-step-late",
    "if step >= total_steps:\n        return float(min_lr)",
    "if step > total_steps:\n        return float(min_lr)\n"
    "    if warmup_steps == total_steps:\n        return float(max_lr)",
).explain("""
    with a warm-up until the end, step = total_steps still has the full rate
    why: From total_steps on, the rate is min_lr.
    ask: Which rate should step = total_steps have?""")
mistake("warm-up-one-step-more", "if step < warmup_steps:", "if step <= warmup_steps and warmup_steps:").explain("""
    step = warmup_steps still belonged to the warm-up
    why: The steps of the warm-up are 0 to warmup_steps - 1. The next one would have a rate above max_lr.
    ask: Is the condition step < warmup_steps or step <= warmup_steps?""")
mistake("warm-up-one-step-more-and-0", "if step < warmup_steps:", "if step <= warmup_steps:").explain("""
    step = warmup_steps still belonged to the warm-up, which divided by 0 without a warm-up
    why: The steps of the warm-up are 0 to warmup_steps - 1.
    ask: Is the condition step < warmup_steps or step <= warmup_steps?""")
mistake("no-warm-up", "if step < warmup_steps:", "if False:").explain("""
    there is no warm-up: the cosine was used for its steps, too
    why: In the first steps, the averages of AdamW come from few gradients. A small rate limits the damage.
    ask: Which branch does step 0 take?""")
mistake("constant-warm-up", "max_lr * (step + 1) / warmup_steps", "max_lr").explain("""
    the rate is max_lr during the whole warm-up
    why: It should rise in equal steps from max_lr / warmup_steps to max_lr.
    ask: With a warm-up of 4 steps, which fraction of max_lr should step 0 have?""")
mistake("warm-up-from-min-and-0", "max_lr * (step + 1) /", "min_lr + (max_lr - min_lr) * step /").explain("""
    the warm-up started from min_lr, and at step 0 it had not risen yet
    why: In the formula, the rate is the fraction (step + 1) / warmup_steps of max_lr; min_lr does not occur.
    ask: With a warm-up of 4 steps, which fraction of max_lr should step 0 have?""")
mistake("quadratic-warm-up", "(step + 1) / warmup_steps", "((step + 1) / warmup_steps) ** 2").explain("""
    the warm-up rose with the square of the step
    why: The warm-up is linear.
    ask: With a warm-up of 4 steps, which fraction of max_lr should step 1 have?""")
mistake("warm-up-of-total", "(step + 1) / warmup_steps", "(step + 1) / total_steps").explain("""
    the warm-up divided by total_steps
    why: The full rate should be reached after warmup_steps.
    ask: With a warm-up of 4 steps, which fraction of max_lr should step 3 have?""")
mistake("steps-from-1", "    if step < warmup_steps:\n", "    step -= 1\n    if step < warmup_steps:\n").explain("""
    the steps were counted from 1: every rate came one step too late
    why: Step 0 is the first one, with the rate max_lr / warmup_steps.
    ask: What is your learning rate at step 0?""")
mistake("one-step-early", "    if step < warmup_steps:\n", "    step += 1\n    if step < warmup_steps:\n").explain("""
    every rate came one step too early
    why: The steps are counted from 0, and only the warm-up adds 1.
    ask: What is your learning rate at step 0?""")
mistake("divided-by-total", "/ (total_steps - warmup_steps)", "/ total_steps").explain("""
    progress was divided by total_steps, not by the length of the decay
    why: progress should reach 1 at total_steps. It starts to count after the warm-up, so the rest is shorter.
    ask: How large is progress at total_steps?""")
mistake("ends-one-step-late", "/ (total_steps - warmup_steps)", "/ (total_steps - warmup_steps + 1)").explain("""
    the cosine reached min_lr one step too late
    why: It was divided by one step too many.
    ask: How large should progress be at total_steps?""")
for name, code, text in (
    ("rising", "(1 - math.cos(math.pi * progress))", "the cosine rose: the rate went from min_lr to max_lr"),
    ("sine", "(1 + math.sin(math.pi * progress))", "the sine was used, not the cosine"),
    ("quarter-wave", "2 * math.cos(math.pi * progress / 2)", "a quarter of a cosine wave was used, not half of one"),
    ("degrees", "(1 + math.cos(180 * progress))", "the angle is in degrees: math.cos needs radians"),
    ("no-pi", "(1 + math.cos(progress))", "the factor π is missing in the cosine"),
    ("no-one", "math.cos(math.pi * progress)", "the 1 before the cosine is missing"),
):
    mistake(name, "(1 + math.cos(math.pi * progress))", code).explain(f"""
    {text}
    why: (1 + cos(π progress)) / 2 falls from 1 to 0 while progress goes from 0 to 1.
    ask: Which values does your formula give for progress = 0, ½ and 1?""")
mistake(
    "clamped",
    "float(min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * progress)) / 2)",
    "float(max(min_lr, max_lr * (1 + math.cos(math.pi * progress)) / 2))",
).explain("""
    the cosine decayed to 0, and was cut off at min_lr
    why: The cosine should end at min_lr: it falls more slowly.
    ask: Where does min_lr occur in the formula of the docstring?""")
mistake(
    "exponential-decay",
    "min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * progress)) / 2",
    "max_lr * (max(min_lr, 1e-12) / max_lr) ** progress",
).explain("""
    the rate decayed exponentially, not along a cosine
    why: A cosine falls slowly at first, fastest in the middle, and slowly again at the end.
    ask: What is cos(π · progress) when progress is ½?""")
for name, code, text in (("zero", "0.0", "0"), ("max", "float(max_lr)", "max_lr")):
    mistake(f"{name}-after-the-end", "return float(min_lr)", f"return {code}").explain(f"""
    from total_steps on, the rate is {text}
    why: It should stay at min_lr.
    ask: Which rate does the docstring give for step ≥ total_steps?""")
_STEP = """    if step < 0:
        raise ValueError(f"step must not be negative, got {step}")
"""
for name, edits, text in (
    ("negative-step-accepted", (_STEP, ""), "a negative step was accepted"),
    (
        "negative-warm-up-accepted",
        ("if not 0 <= warmup_steps <= total_steps", "if warmup_steps > total_steps"),
        "a negative warm-up was accepted",
    ),
    (
        "long-warm-up-accepted",
        ("if not 0 <= warmup_steps <= total_steps", "if warmup_steps < 0"),
        "a warm-up longer than total_steps was accepted",
    ),
):
    mistake(name, *edits).explain(f"""
    {text}
    why: The schedule has no meaning then, and a bug in the calling code should not stay hidden.
    ask: For which arguments should your function raise ValueError?""")
for name, old, new, text in (
    (
        "warm-up-until-the-end-refused",
        "<= warmup_steps <= total_steps",
        "<= warmup_steps < total_steps",
        "warmup_steps = total_steps was rejected",
    ),
    ("no-warm-up-refused", "not 0 <= warmup_steps", "not 0 < warmup_steps", "warmup_steps = 0 was rejected"),
    ("first-step-refused", "step < 0", "step <= 0", "step 0 was rejected"),
    ("last-step-refused", "step < 0", "step < 0 or step > total_steps", "a step after total_steps was rejected"),
):
    mistake(name, old, new).explain(f"""
    {text}
    why: The docstring does not list it among the errors.
    ask: For which arguments should your function raise ValueError?""")
mistake("numpy-rate", "float(min_lr + (max_lr - min_lr) *", "np.float64(min_lr + (max_lr - min_lr) *").explain("""
    the rate of the cosine is a NumPy scalar, not a Python float
    why: np.cos returns NumPy's own numbers, which make float32 arrays float64. math.cos returns a Python float.
    ask: What is type(np.cos(0.0))?""")
