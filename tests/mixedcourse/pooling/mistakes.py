"""Mistakes in pooling."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("pooling.weighted_mean")
mistake("without-softmax", "softmax(scores)", "scores").explain("""
    the scores were not turned into weights
    why: Scores do not add up to 1.
    ask: Which function turns scores into weights?""")

mistake = MISTAKES.for_functions("pooling.causal_count")
mistake("over-rows", ".sum(axis=-1)", ".sum(axis=-2)").explain("""
    the mask was summed over the wrong axis
    why: Each row of the mask says what one position sees.
    ask: Which axis holds the positions that one position sees?""")
