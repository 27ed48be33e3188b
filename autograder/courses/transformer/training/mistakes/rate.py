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
mistake("one-step-ahead", "= (step - warmup_steps)", "= (step - warmup_steps + 1)", common=True).explain("""
    the cosine is one step ahead
    why: The first step after the warm-up should still have the full rate: steps are counted from 0.
    ask: What should progress be when step equals warmup_steps?""")
mistake("divided-by-all-steps", "/ (total_steps - warmup_steps)", "/ total_steps").explain("""
    the progress of the cosine was divided by total_steps
    why: The cosine has total_steps - warmup_steps steps. It does not reach min_lr, and the rate jumps there at the end.
    ask: What should progress be at total_steps, and what is it in your code?""")
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
    "warm-up-of-0", "if step < warmup_steps:", "_ = max_lr * (step + 1) / warmup_steps\n    if step < warmup_steps:"
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
mistake("steps-from-1", "    if step < warmup_steps:\n", "    step -= 1\n    if step < warmup_steps:\n").explain("""
    the steps were counted from 1: every rate came one step too late
    why: Step 0 is the first one, with the rate max_lr / warmup_steps.
    ask: What is your learning rate at step 0?""")
mistake("zero-after-the-end", "return float(min_lr)", "return 0.0").explain("""
from total_steps on, the rate is 0
why: It should stay at min_lr.
ask: With min_lr=0.1, what is your rate at total_steps - 1, and what is it one step later?""")
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
