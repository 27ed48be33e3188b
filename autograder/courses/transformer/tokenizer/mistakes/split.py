"""Mistakes in `tokenizer`: the split of the text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("tokenizer.train_val_split")
mistake("rounded", "int(len(ids) * train_fraction)", "round(len(ids) * train_fraction)", common=True).explain("""
    the size of the training part was rounded to nearest, not down
    why: `int` discards the fraction; `round` may go up. The two parts then differ by one character from the expected
         ones.
    ask: What is int(8.75), and what is round(8.75)? Which one does the docstring ask for?""")
mistake(
    "validation-cut-off", "int(len(ids) * train_fraction)", "len(ids) - int(len(ids) * (1 - train_fraction))"
).explain("""
    the size of the validation part was rounded down, not that of training
    why: One character then ends up in the wrong part whenever the product is not a whole number.
    ask: For which of the two sizes does the docstring give a formula?""")
mistake(
    "results-exchanged", "return ids[:n_train], ids[n_train:]", "return ids[n_train:], ids[:n_train]", common=True
).explain("""
    the two parts were returned in the wrong order
    why: The model would be trained on the small part.
    ask: In which order does the docstring list the two parts?""")
mistake(
    "end-for-training",
    "return ids[:n_train], ids[n_train:]",
    "n_val = len(ids) - n_train\n    return ids[n_val:], ids[:n_val]",
).explain("""
    the end of the text is for training, the beginning for validation
    why: The sizes are correct, but each part holds the wrong characters.
    ask: Which end of the text does the docstring use for training?""")
mistake("shuffled", "ids = np.asarray(ids)", "ids = np.random.default_rng(0).permutation(ids)").explain("""
    the ids were shuffled before the split
    why: Single characters in random order are no longer language.
    ask: If you decode the training part, can you still read it?""")
mistake("overlapping", "ids[n_train:]", "ids[max(n_train - 1, 0) :]").explain("""
    one character is in both parts
    why: A slice excludes its end, so the second slice has to begin exactly where the first one ends.
    ask: How long are the two parts together?""")
mistake("gap", "ids[n_train:]", "ids[n_train + 1 :]").explain("""
    one character is in neither part
    why: A slice excludes its end, so the second slice has to begin exactly where the first one ends.
    ask: How long are the two parts together?""")
for name, condition, title, ask in (
    ("fraction-not-checked", "if False:", "impossible fractions were accepted", "90"),
    ("above-one-accepted", "if not 0 < train_fraction:", "fractions above 1 were accepted", "90"),
    ("only-above-one-refused", "if train_fraction > 1:", "fractions that are not above 0 were accepted", "-0.5"),
    ("zero-accepted", "if not 0 <= train_fraction <= 1:", "a fraction of 0 was accepted", "0"),
):
    mistake(name, "if not 0 < train_fraction <= 1:", condition, common=True).explain(f"""
        {title}
        why: A fraction of 90 where 0.9 was meant leaves nothing for validation, and one of 0 nothing for training,
             without any error.
        ask: What does your function do with train_fraction={ask}?""")
mistake("one-refused", "<= 1:", "< 1:").explain("""
    a fraction of 1 was rejected
    why: 1 is allowed: all of the text is for training and none for validation.
    ask: Which fractions does the docstring allow?""")
mistake("dtype-changed", "np.asarray(ids)", "np.asarray(ids, dtype=np.int64)").explain("""
    the ids were converted to int64
    why: Both parts keep the dtype of `ids`, because large texts are often stored in small integers.
    ask: What is the dtype of your parts when `ids` is uint16?""")
mistake("fraction-ignored", "len(ids) * train_fraction", "len(ids) * 0.9", common=True).explain("""
    `train_fraction` was ignored: the fraction is always 0.9
    why: The mistake stays hidden with the default.
    ask: Which of the function's arguments does your code not use?""")
mistake("size-not-whole", "int(len(ids) * train_fraction)", "len(ids) * train_fraction", common=True).explain("""
    the size of the training part is a float, which cannot be a slice bound
    why: The length times the fraction is a float even where it is a whole number, and slices need integers.
    ask: What is the type of 10 * 0.9? How do you turn it into an integer?""")
mistake("cut-from-the-end").body("""
    if not 0 < train_fraction <= 1:
        raise ValueError("train_fraction must be above 0 and at most 1")
    ids = np.asarray(ids)
    n_val = int(len(ids) * (1 - train_fraction))
    return ids[:-n_val], ids[-n_val:]
""").explain("""
    the split was counted from the end: ids[:-n] and ids[-n:]
    why: If n is 0, ids[:-0] is empty, so that everything goes to validation. Also, n was rounded down, where the size
         of the training part should be.
    ask: What is ids[:-0]?""")
mistake("fraction-for-validation", "int(len(ids) * train_fraction)", "int(len(ids) * (1 - train_fraction))").explain("""
    the fraction was used for the validation part
    why: The model would be trained on the small part.
    ask: With train_fraction=0.9, which of the two parts should be the large one?""")
mistake(
    "rounded-half-up", "int(len(ids) * train_fraction)", "int(len(ids) * train_fraction + 0.5)", common=True
).explain("""
    the size of the training part was rounded to nearest, not down
    why: `int` discards the fraction. The two parts then differ by one character from the expected ones.
    ask: What is int(8.75)? Which size does the docstring ask for?""")
mistake(
    "rounded-up", "int(len(ids) * train_fraction)", "int(np.ceil(len(ids) * train_fraction))", common=True
).explain("""
    the size of the training part was rounded up, not down
    why: One character then ends up in the wrong part whenever the product is not a whole number.
    ask: What is int(8.75)? Which size does the docstring ask for?""")
mistake("fraction-truncated", "int(len(ids) * train_fraction)", "len(ids) * int(train_fraction)").explain("""
    the fraction itself was rounded down, to 0
    why: The product has to be rounded, not the fraction.
    ask: What is int(0.9)?""")
for name, train, val, which in (
    ("validation", "ids[:n_train]", "ids[-(len(ids) - n_train) :]", "validation part was taken from the end: ids[-n:]"),
    ("training", "ids[: -(len(ids) - n_train)]", "ids[n_train:]", "training part was cut from the end: ids[:-n]"),
    (
        "both",
        "ids[: -(len(ids) - n_train)]",
        "ids[-(len(ids) - n_train) :]",
        "parts were counted from the end: ids[:-n], ids[-n:]",
    ),
):
    mistake(f"{name}-from-the-end", "return ids[:n_train], ids[n_train:]", f"return {train}, {val}").explain(f"""
        the {which}, which fails if n is 0
        why: -0 is 0, so that ids[-0:] is everything and ids[:-0] is empty.
        ask: What are ids[-0:] and ids[:-0]?""")
for name, shift, which in (("later", "+ 1", "too long"), ("earlier", "- 1", "too short")):
    mistake(f"cut-one-{name}", "int(len(ids) * train_fraction)", f"int(len(ids) * train_fraction) {shift}").explain(f"""
        the training part is one character {which}
        why: A slice excludes its end: ids[:n] has n entries.
        ask: How many entries does ids[:8] have?""")
for name, part, title in (
    ("overlapping-training", "n_train + 1", "one character is in both parts"),
    ("gap-in-training", "max(n_train - 1, 0)", "one character is in neither part"),
):
    mistake(name, "ids[:n_train]", f"ids[: {part}]").explain(f"""
        {title}
        why: A slice excludes its end, so the second slice has to begin exactly where the first one ends.
        ask: How long are the two parts together?""")
for name, size, which in (
    ("training", "max(1, int(len(ids) * train_fraction))", "training"),
    ("validation", "min(len(ids) - 1, int(len(ids) * train_fraction))", "validation"),
):
    mistake(f"at-least-one-for-{name}", "int(len(ids) * train_fraction)", size).explain(f"""
        at least one character was kept for {which}
        why: The docstring gives the sizes for every fraction and length, even where a part is empty.
        ask: How many ids are for training if there is one, and the fraction is 0.5? And if the fraction is 1?""")
mistake(
    "lists", "return ids[:n_train], ids[n_train:]", "return ids[:n_train].tolist(), ids[n_train:].tolist()"
).explain("""
    lists were returned, not arrays
    why: Both parts should have the dtype of `ids`, and a list has none.
    ask: What is the type of ids[:3] if `ids` is an array?""")
for dtype in ("float64", "int32"):
    mistake(f"dtype-changed-to-{dtype}", "np.asarray(ids)", f"np.asarray(ids, dtype=np.{dtype})").explain(f"""
        the ids were converted to {dtype}
        why: Both parts keep the dtype of `ids`.
        ask: What is the dtype of your parts when `ids` is uint16?""")
for part, new in (
    ("training", "ids[:n_train].astype(np.int64), ids[n_train:]"),
    ("validation", "ids[:n_train], ids[n_train:].astype(np.int64)"),
):
    mistake(f"dtype-of-{part}-changed", "ids[:n_train], ids[n_train:]", new).explain(f"""
        the ids of the {part} part were converted to int64
        why: Both parts keep the dtype of `ids`, because large texts are often stored in small integers.
        ask: What is the dtype of each of your parts when `ids` is uint16?""")
for seed in (0, 1, 42, 1337):
    for name, generator in (("generator", "default_rng"), ("legacy", "RandomState")):
        if (seed, name) != (0, "generator"):
            mistake(
                f"shuffled-{name}-{seed}",
                "ids = np.asarray(ids)",
                f"ids = np.random.{generator}({seed}).permutation(ids)",
            ).explain("""
                the ids were shuffled before the split
                why: Single characters in random order are no longer language.
                ask: If you decode the training part, can you still read it?""")
mistake("reversed", "ids = np.asarray(ids)", "ids = np.asarray(ids)[::-1]").explain("""
    the text was reversed before the split
    why: Both parts keep the order of the text.
    ask: Is the first id of the training part the first id of the text?""")
for default in (0.8, 0.7, 0.75, 0.5, 0.95):
    mistake(f"default-{default}", "train_fraction=0.9", f"train_fraction={default}", common=True).explain(f"""
        the default of train_fraction is {default}, not 0.9
        why: A call that does not pass train_fraction gets the default.
        ask: Which default does the docstring give for train_fraction?""")
