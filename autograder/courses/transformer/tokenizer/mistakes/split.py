"""Mistakes in `tokenizer`: the split of the text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("tokenizer.train_val_split")
mistake("rounded", "int(len(ids) * train_fraction)", "round(len(ids) * train_fraction)", common=True).explain("""
    the size of the training part was rounded to nearest, not down
    why: `int` discards the fraction; `round` may go up. The two parts then differ by one character from the expected
         ones.
    ask: What are int(8.75) and round(8.75)? How many of 35 ids does your training part get with a fraction of 0.25?""")
mistake("results-exchanged", "ids[:n_train], ids[n_train:]", "ids[n_train:], ids[:n_train]", common=True).explain("""
    the two parts were returned in the wrong order
    why: The model would be trained on the small part.
    ask: For ten ids and train_fraction=0.9, how many ids does your first result have?""")
mistake("shuffled", "ids = np.asarray(ids)", "ids = np.random.default_rng(0).permutation(ids)").explain("""
    the ids were shuffled before the split
    why: Single characters in random order are no longer language.
    ask: If you decode the training part, can you still read it?""")
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
mistake("rounded-half-up", "(len(ids) * train_fraction)", "(len(ids) * train_fraction + 0.5)", common=True).explain("""
    the size of the training part was rounded to nearest, not down
    why: `int` discards the fraction. The two parts then differ by one character from the expected ones.
    ask: What is int(8.75)? How many of 35 ids does your training part get with a fraction of 0.25?""")
mistake("rounded-up", "(len(ids) * train_fraction)", "(np.ceil(len(ids) * train_fraction))", common=True).explain("""
    the size of the training part was rounded up, not down
    why: One character then ends up in the wrong part whenever the product is not a whole number.
    ask: What is int(8.75)? How many of 35 ids does your training part get with a fraction of 0.25?""")
mistake("validation-from-the-end", "[:n_train], ids[n_train:]", "[:n_train], ids[-(len(ids) - n_train) :]").explain("""
    the validation part was taken from the end: ids[-n:], which fails if n is 0
    why: -0 is 0, so that ids[-0:] is everything and ids[:-0] is empty.
    ask: What are ids[-0:] and ids[:-0]?""")
for default in (0.8, 0.7, 0.75, 0.5, 0.95):
    mistake(f"default-{default}", "train_fraction=0.9", f"train_fraction={default}", common=True).explain(f"""
        the default of train_fraction is {default}, not 0.9
        why: A call that does not pass train_fraction gets the default.
        ask: How many of 100 ids does train_val_split(ids) keep for training in your code?""")
