"""Mistakes in `generation`: the steps of a forward pass with a key/value cache."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("generation.generate_cached")
mistake(
    "post-norm",
    'pre = config.norm == "pre"',
    "pre = False",
    inside="_next_logits",
).explain("""
    the blocks were computed as post-norm, whatever config.norm says: the norms came after the additions
    why: In a pre-norm model, each step reads layernorm(x), and its result is added to x itself.
    ask: What does gpt pass to block as the norm?""")
