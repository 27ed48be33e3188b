"""Mistakes in `generation`: options that should be rejected, or that should not."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_NEGATIVE = "if not temperature >= 0:"
_SMALL_K = "if top_k is not None and top_k < 1:"
_BAD_P = "if top_p is not None and not 0 < top_p <= 1:"
_RAW = ("softmax(logits, temperature=temperature)", "softmax(logits / temperature)")

mistake = MISTAKES.for_functions("generation.next_token_probs")
mistake("no-errors", _NEGATIVE, "if False:", _SMALL_K, "if False:", _BAD_P, "if False:", *_RAW).explain("""
    temperature, top_k and top_p were not checked
    why: A negative temperature or a top_k of 0 gives numbers that mean nothing. An error says what is wrong.
    ask: Which values of the options does the docstring reject?""")
mistake("negative-temperature-accepted", _NEGATIVE, "if False:", *_RAW).explain("""
    a negative temperature was accepted
    why: Dividing by it turns the order around: the least probable token becomes the most probable.
    ask: What does your code return with temperature=-1?""")
for name, condition in (("greedy", "temperature <= 0"), ("as-positive", "temperature == 0")):
    mistake(
        f"negative-temperature-{name}",
        _NEGATIVE,
        "if False:",
        "if temperature == 0:",
        f"if {condition}:",
        "softmax(logits, temperature=temperature)",
        "softmax(logits, temperature=abs(temperature))",
    ).explain(f"""
        a negative temperature was treated like {"0" if name == "greedy" else "a positive one"}
        why: It has no meaning, so it probably comes from a bug in the calling code. The docstring promises ValueError.
        ask: What does your code return with temperature=-1?""")
for name, what, edits in (
    ("any-k-accepted", "a top_k below 1 was accepted", (_SMALL_K, "if False:")),
    ("k-of-0-accepted", "a top_k of 0 was accepted", (_SMALL_K, "if top_k is not None and top_k < 0:")),
    (
        "k-of-0-ignored",
        "a top_k of 0 was treated like None",
        (_SMALL_K, "if top_k is not None and top_k < 0:", "    if top_k is not None:", "    if top_k:"),
    ),
    (
        "small-k-ignored",
        "a top_k below 1 was treated like None",
        (_SMALL_K, "if False:", "    if top_k is not None:", "    if top_k is not None and top_k > 0:"),
    ),
    (
        "small-k-as-1",
        "a top_k below 1 was treated like 1",
        (_SMALL_K, "if False:", "ranked[..., top_k:]", "ranked[..., max(top_k, 1) :]"),
    ),
    ("any-p-accepted", "a top_p outside of (0, 1] was accepted", (_BAD_P, "if False:")),
    ("large-p-accepted", "a top_p above 1 was accepted", (_BAD_P, "if top_p is not None and top_p <= 0:")),
    ("small-p-accepted", "a top_p of 0 or less was accepted", (_BAD_P, "if top_p is not None and top_p > 1:")),
    ("p-of-0-accepted", "a top_p of 0 was accepted", (_BAD_P, "if top_p is not None and not 0 <= top_p <= 1:")),
    (
        "p-of-0-keeps-nothing",
        "a top_p of 0 was accepted: no token is left, and the result is nan",
        (
            _BAD_P,
            "if top_p is not None and not 0 <= top_p <= 1:",
            "ranked[..., 1:][mass[..., :-1] >= top_p] = 0.0",
            "ranked[(mass - ranked if top_p > 0 else mass) >= top_p] = 0.0",
        ),
    ),
    (
        "p-of-0-ignored",
        "a top_p of 0 was treated like None",
        (
            _BAD_P,
            "if top_p is not None and not 0 <= top_p <= 1:",
            "top_p is not None and top_p < 1:",
            "top_p and top_p < 1:",
        ),
    ),
):
    mistake(name, *edits).explain(f"""
        {what}
        why: The value has no meaning, so it probably comes from a bug in the calling code. The docstring promises
             ValueError.
        ask: For which values of top_k and top_p does the docstring promise an error?""")
mistake("p-of-1-refused", "0 < top_p <= 1", "0 < top_p < 1").explain("""
    top_p = 1 was rejected
    why: 1 is allowed, and keeps all tokens.
    ask: Which end of the interval (0, 1] belongs to it?""")
_CHECKS = (
    "    if top_k is not None and top_k < 1:\n"
    '        raise ValueError(f"top_k must be at least 1, got {top_k}")\n'
    "    if top_p is not None and not 0 < top_p <= 1:\n"
    '        raise ValueError(f"top_p must be in (0, 1], got {top_p}")\n'
)
mistake("greedy-unchecked", _CHECKS, "", "    probs = softmax(", _CHECKS + "    probs = softmax(").explain("""
    with temperature 0, top_k and top_p were not checked
    why: The greedy case returns before the checks. A wrong option is an error with every temperature.
    ask: Which of your lines come first: the checks, or the greedy case?""")
mistake(
    "assertions",
    '        raise ValueError(f"temperature must not be negative, got {temperature}")',
    "        raise AssertionError",
    '        raise ValueError(f"top_k must be at least 1, got {top_k}")',
    "        raise AssertionError",
    '        raise ValueError(f"top_p must be in (0, 1], got {top_p}")',
    "        raise AssertionError",
).explain("""
    assertions were used, which raise AssertionError, not ValueError
    why: Callers expect the documented type, and `python -O` removes assertions.
    ask: Which exception does `assert` raise?""")
