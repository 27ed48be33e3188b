"""Mistakes in `generation`: options that should be rejected, or that should not."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_NEGATIVE = "if not temperature >= 0:"
_SMALL_K = "if top_k is not None and top_k < 1:"
_BAD_P = "if top_p is not None and not 0 < top_p <= 1:"
_RAW = ("softmax(logits, temperature=temperature)", "softmax(logits / temperature)")

mistake = MISTAKES.for_functions("generation.next_token_probs")
mistake("negative-temperature-accepted", _NEGATIVE, "if False:", *_RAW).explain("""
    a negative temperature was accepted
    why: Dividing by it turns the order around: the least probable token becomes the most probable.
    ask: What does your code return with temperature=-1?""")
for name, what, edits in (
    ("any-k-accepted", "a top_k below 1 was accepted", (_SMALL_K, "if False:")),
    (
        "k-of-0-ignored",
        "a top_k of 0 was treated like None",
        (_SMALL_K, "if top_k is not None and top_k < 0:", "    if top_k is not None:", "    if top_k:"),
    ),
    ("large-p-accepted", "a top_p above 1 was accepted", (_BAD_P, "if top_p is not None and top_p <= 0:")),
):
    mistake(name, *edits).explain(f"""
        {what}
        why: The value has no meaning, so it probably comes from a bug in the calling code. An error shows it
             where it happens, not in the text that is drawn.
        ask: Which tokens are "the most probable 0", and which add up to at least 1.5? What does your code keep?""")
mistake("p-of-1-refused", "0 < top_p <= 1", "0 < top_p < 1").explain("""
    top_p = 1 was rejected
    why: 1 is allowed, and keeps all tokens.
    ask: Which end of the interval (0, 1] belongs to it?""")
