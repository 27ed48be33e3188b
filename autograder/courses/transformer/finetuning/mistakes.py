"""Known mistakes in finetuning: changes to the official solution that students are likely to make, with an explanation.

Replace them. `mistake(NAME, OLD, NEW)` replaces OLD with NEW, which must occur exactly once in the function. For
a mistake that needs other code, write `mistake(NAME).body("…")` before `.explain`. A student whose answers are exactly
those of the changed function is shown the explanation. `headway verify` proves that each mistake fails a check.
"""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("finetuning.finetuning")

mistake("mean-of-columns", "axis=-1", "axis=0").explain("""
    the mean was taken over each column, not over each row
    why: The numbers of a row are along the last axis.
    ask: Which axis has the numbers that belong to one row?""")

mistake("mean-added", "x - x.mean", "x + x.mean").explain("""
    the mean was added, not subtracted
    why: What remains of a row must have the mean 0.
    ask: What is the mean of each row that you return?""")
