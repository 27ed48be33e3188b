"""Mistakes in `embeddings` that concern ids outside the vocabulary, a single id, and no ids."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_OUTSIDE = "outside = (ids < 0) | (ids >= vocab_size)"
_TABLES = ("embeddings.one_hot", "embeddings.embed_tokens", "embeddings.embed_tokens_backward")
_ALL = (*_TABLES, "embeddings.embed")

# Which ids count as outside, and what that means: (name, condition, title, why, ask).
_ACCEPTED = (
    (
        "ids-not-checked",
        "ids != ids",
        "ids outside the vocabulary were not rejected with a ValueError",
        "NumPy reports only ids that are too large, as an IndexError. Index -1 silently takes the last row.",
        "What does your function do with the id -1, and what with the id V?",
    ),
    (
        "negative-ids-accepted",
        "ids >= vocab_size",
        "negative ids were not rejected",
        "Index -1 silently takes the last row, which belongs to another token.",
        "What does your function do with the id -1?",
    ),
    (
        "large-ids-accepted",
        "ids < 0",
        "ids that are too large were not rejected with a ValueError",
        "An IndexError speaks of axes. A ValueError can show the wrong id and the size of the vocabulary.",
        "What does your function do with the id V?",
    ),
    (
        "id-after-the-last-accepted",
        "(ids < 0) | (ids > vocab_size)",
        "the id V was not rejected with a ValueError: the largest id is V - 1",
        "Ids are counted from 0, so V itself is already too large.",
        "Which is the largest id of a vocabulary of 5 tokens? Does your comparison reject the next one?",
    ),
    *(
        (
            f"only-{name}-id-checked",
            f"((ids < 0) | (ids >= vocab_size)) & (np.arange(ids.size).reshape(ids.shape) == {place})",
            f"only the {name} id was checked",
            "An id outside the vocabulary may be anywhere in the text.",
            "What does your function do if the id in the middle of a text is wrong?",
        )
        for name, place in (("first", "0"), ("last", "ids.size - 1"))
    ),
    (
        "only-refused-if-all-are-outside",
        "np.full(ids.shape, ((ids < 0) | (ids >= vocab_size)).all())",
        "a text was rejected only if all its ids are outside the vocabulary",
        "One wrong id is enough: `any`, not `all`.",
        "What does your function do if one id of three is wrong?",
    ),
)

mistake = MISTAKES.for_functions(*_ALL)
for name, condition, title, why, ask in _ACCEPTED:
    mistake(name, _OUTSIDE, f"outside = {condition}", inside="_check_ids", common=True).explain(f"""
        {title}
        why: {why}
        ask: {ask}""")
# Where ids are not checked, the answers and errors depend on how the rows are found.
_PAIRS = "rows[np.arange(ids.size), ids.reshape(-1)] = 1.0"
for function, form, accepted, look_up in (
    ("one_hot", "index", _ACCEPTED[:2], "return np.eye(vocab_size)[ids]"),
    (
        *("one_hot", "pairs", _ACCEPTED[:1]),
        f"rows = np.zeros((ids.size, vocab_size))\n{_PAIRS}\nreturn rows.reshape(*ids.shape, vocab_size)",
    ),
    (
        *("embed_tokens_backward", "index", _ACCEPTED[:2]),
        "dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)\nnp.add.at(dW, ids, dout)\nreturn dW",
    ),
):
    mistake = MISTAKES.for_functions(f"embeddings.{function}")
    for name, condition, title, why, ask in accepted:
        check = f"ids = np.asarray(ids)\nif ({condition}).any():\n    raise ValueError('outside')\n"
        mistake(f"{name}-by-{form}").body(check + look_up).explain(f"""
            {title}
            why: {why}
            ask: {ask}""")

mistake = MISTAKES.for_functions(*_ALL)
for name, expression, how in (
    ("wrapped", "ids % vocab_size", "wrapped around: ids % V"),
    ("clipped", "np.clip(ids, 0, vocab_size - 1)", "clipped to the nearest valid id"),
):
    mistake(f"ids-{name}", _OUTSIDE, f"ids = {expression}\n    outside = ids != ids", inside="_check_ids").explain(f"""
        ids outside the vocabulary were {how}
        why: An id outside the table is a sign of an earlier bug, which then goes unnoticed.
        ask: What should your function do with an id that no token has?""")
mistake = MISTAKES.for_functions(*_TABLES)
for name, method in (("smallest", "min"), ("largest", "max")):
    mistake(f"no-ids-refused-{name}", _OUTSIDE, f"ids.{method}()\n    {_OUTSIDE}", inside="_check_ids").explain(f"""
        an array without ids gave an error: .{method}() needs at least one entry
        why: A batch may be empty, and no id of it is outside the vocabulary.
        ask: What is np.zeros((2, 0)).{method}(), and what is (np.zeros((2, 0)) < 0).any()?""")
mistake = MISTAKES.for_functions(*_TABLES[:2])
mistake("single-id-refused-loop", _OUTSIDE, f"iter(ids)\n    {_OUTSIDE}", inside="_check_ids").explain("""
    a single id, an array without axes, gave an error
    why: `ids` may have any number of axes, or none. It then has neither a length nor a first axis.
    ask: What is the shape of np.array(2)? Which of your lines needs an axis?""")
