"""Mistakes in assignment 1: splitting the text and drawing batches."""

from autograder.engine.diagnosis.mistake import Mistake

BATCHES = (
    # --- train_val_split
    Mistake(
        "tokenizer.train_val_split",
        "rounded",
        "the size of the first part was rounded, not cut off",
        "`int` cuts off what comes after the point; `round` may go up. It is one character more or less.",
        "What is int(8.25 + 0.5), and what is round(8.75)? Which one does the docstring ask for?",
        edits=(("int(len(ids) * train_fraction)", "round(len(ids) * train_fraction)"),),
        common=True,
    ),
    Mistake(
        "tokenizer.train_val_split",
        "validation-cut-off",
        "the size of the validation part was cut off, not that of the training part",
        "It is one character more or less.",
        "Which of the two sizes does the docstring give a formula for?",
        edits=(("int(len(ids) * train_fraction)", "len(ids) - int(len(ids) * (1 - train_fraction))"),),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "results-exchanged",
        "the two parts were returned in the wrong order",
        "The model would be trained on the small part.",
        "In which order does the docstring list the two parts?",
        edits=(("return ids[:n_train], ids[n_train:]", "return ids[n_train:], ids[:n_train]"),),
        common=True,
    ),
    Mistake(
        "tokenizer.train_val_split",
        "end-for-training",
        "the end of the text is for training, and the beginning for validation",
        "The sizes are right, the parts are not.",
        "Which part of the text does the docstring put where?",
        edits=(
            ("return ids[:n_train], ids[n_train:]", "n_val = len(ids) - n_train\n    return ids[n_val:], ids[:n_val]"),
        ),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "shuffled",
        "the text was shuffled before it was cut",
        "Single characters in a random order are no language any more.",
        "Is what comes out still readable?",
        edits=(("ids = np.asarray(ids)", "ids = np.random.default_rng(0).permutation(ids)"),),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "overlapping",
        "one character is in both parts",
        "A slice leaves out its end: the second one begins where the first one ended.",
        "How long are the two parts together?",
        edits=(("ids[n_train:]", "ids[max(n_train - 1, 0) :]"),),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "gap",
        "one character is in neither part",
        "A slice leaves out its end: the second one begins where the first one ended.",
        "How long are the two parts together?",
        edits=(("ids[n_train:]", "ids[n_train + 1 :]"),),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "fraction-not-checked",
        "impossible fractions are not refused",
        "A fraction of 90, where 0.9 was meant, leaves nothing for validation.",
        "What happens when somebody writes 90 and means per cent?",
        edits=(("if not 0 < train_fraction <= 1", "if False"),),
        common=True,
    ),
    Mistake(
        "tokenizer.train_val_split",
        "one-refused",
        "a fraction of 1 is refused",
        "1 is allowed: all for training, nothing for validation.",
        "Which fractions does the docstring allow?",
        edits=(("<= 1:", "< 1:"),),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "dtype-changed",
        "the integer type of the ids was changed to int64",
        "Both parts have the dtype of `ids`: a large text is often kept in small integers.",
        "What is the dtype of your parts when `ids` is uint16?",
        edits=(("np.asarray(ids)", "np.asarray(ids, dtype=np.int64)"),),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "fraction-ignored",
        "the fraction is not used: it is always 0.9",
        "With the default nothing shows.",
        "Which of your arguments does the function not look at?",
        edits=(("len(ids) * train_fraction", "len(ids) * 0.9"),),
        common=True,
    ),
    Mistake(
        "tokenizer.train_val_split",
        "size-not-whole",
        "the size of the first part is a float: 7.5 is no place to cut at",
        "A product with 0.9 is a float even where it is whole, and slices want integers.",
        "What is the type of 10 * 0.9? What makes an integer of it?",
        edits=(("int(len(ids) * train_fraction)", "len(ids) * train_fraction"),),
        common=True,
    ),
    # --- get_batch
    Mistake(
        "tokenizer.get_batch",
        "not-shifted",
        "the answers are the windows themselves, not moved by one character",
        "The model learns to repeat what it sees: the loss falls to 0, and it cannot write.",
        "What should the model answer when it has seen the first character?",
        edits=(("ids[positions + 1]", "ids[positions]"),),
        common=True,
    ),
    Mistake(
        "tokenizer.get_batch",
        "shifted-backwards",
        "the answers are the characters before, not those after",
        "x and y are exchanged.",
        "What should the model answer: the character that comes next, or the one before?",
        edits=(("return ids[positions], ids[positions + 1]", "return ids[positions + 1], ids[positions]"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "rolled",
        "the last answer of every window is its own first character",
        "np.roll puts what falls out at the end back in at the beginning. The right answer is in the text, behind the "
        "window.",
        "Where does the last answer of a window come from?",
        edits=(("ids[positions + 1]", "np.roll(ids[positions], -1, axis=1)"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "answers-one-short",
        "y is one character shorter than x",
        "The last question of the window has an answer too: the character behind the window.",
        "What is the shape of y?",
        edits=(("ids[positions + 1]", "ids[positions[:, 1:]]"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "last-start-missing",
        "the last possible start never comes up",
        "rng.integers leaves out its upper end; with another 1 subtracted, the last character is never learned from.",
        "How many windows has a text of T + 1 characters? Does your code find it?",
        edits=(("rng.integers(len(ids) - block_size,", "rng.integers(len(ids) - block_size - 1,"),),
        common=True,
    ),
    Mistake(
        "tokenizer.get_batch",
        "one-start-too-many",
        "now and then a window starts too late, and its last answer lies behind the end of the text",
        "There is a window there, but no answer to its last question.",
        "Where does the last window begin, if its last answer is the last character?",
        edits=(("rng.integers(len(ids) - block_size,", "rng.integers(len(ids) - block_size + 1,"),),
        common=True,
    ),
    Mistake(
        "tokenizer.get_batch",
        "block-size-forgotten",
        "a window may start anywhere, even at the end of the text",
        "Whoever starts at the last character has no window.",
        "Where does the last window begin?",
        edits=(("rng.integers(len(ids) - block_size,", "rng.integers(len(ids),"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "first-start-missing",
        "no window starts at the first character",
        "Starts are counted from 0.",
        "What is the smallest number that your generator draws?",
        edits=(("rng.integers(len(ids) - block_size,", "rng.integers(1, len(ids) - block_size,"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "same-window",
        "all windows of a batch are the same",
        "One start was drawn for all of them.",
        "How many random numbers does a batch of B windows need?",
        edits=(("(len(ids) - block_size, size=batch_size)", "(len(ids) - block_size, size=1).repeat(batch_size)"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "neighbouring-windows",
        "the windows follow each other: only the first start was drawn",
        "Windows drawn independently tell the model more in one step.",
        "How many random numbers does a batch of B windows need?",
        edits=(
            (
                "starts = rng.integers(len(ids) - block_size, size=batch_size)",
                (
                    "starts = rng.integers(len(ids) - block_size) + np.arange(batch_size)\n"
                    "    starts %= len(ids) - block_size"
                ),
            ),
        ),
    ),
    Mistake(
        "tokenizer.get_batch",
        "without-repetition",
        "no window may come twice in a batch",
        "Each start is drawn independently of the others. A short text may have fewer windows than the batch.",
        "What happens when the text has a single window and the batch size is 2?",
        edits=(
            (
                "rng.integers(len(ids) - block_size, size=batch_size)",
                "rng.choice(len(ids) - block_size, size=batch_size, replace=False)",
            ),
        ),
    ),
    Mistake(
        "tokenizer.get_batch",
        "generator-of-its-own",
        "a generator of its own with a fixed seed is used, not `rng`",
        "Every batch of the whole training is the same then.",
        "Call your function twice. Is the second batch another one?",
        edits=(("rng.integers", "np.random.default_rng(0).integers"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "sizes-exchanged",
        "batch size and block size were exchanged",
        "As long as both are the same, nothing shows.",
        "What is the shape of x: (B, T) or (T, B)?",
        edits=(("batch_size, block_size, rng", "block_size, batch_size, rng"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "transposed",
        "x and y are transposed, (T, B)",
        "Each row should be a window.",
        "What is the shape of x: (B, T) or (T, B)?",
        edits=(("return ids[positions], ids[positions + 1]", "return ids[positions].T, ids[positions + 1].T"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "positions-not-ids",
        "the places in the text were returned, not the ids that stand there",
        "They are indices; the text still has to be looked up.",
        "Can your x hold a number that is not in the text?",
        edits=(("return ids[positions], ids[positions + 1]", "return positions, positions + 1"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "dtype-kept",
        "x and y have the integer type of the text, not int64",
        "A large text is often kept in small integers, but a batch is to be int64.",
        "What is the dtype of x when `ids` is uint16?",
        edits=((", dtype=np.int64", ""),),
        common=True,
    ),
    Mistake(
        "tokenizer.get_batch",
        "next-window",
        "the answers are the window that follows, not the same window one character further on",
        "Each character of x has its own answer: the character right after it.",
        "What comes right after the first character of a window?",
        edits=(
            ("rng.integers(len(ids) - block_size,", "rng.integers(len(ids) - 2 * block_size,"),
            ("ids[positions + 1]", "ids[positions + block_size]"),
        ),
    ),
    *(
        Mistake(
            "tokenizer.get_batch",
            f"{name}-by-slices",
            title,
            "The slice at the end of the text is shorter than the others, and np.stack wants all of one length.",
            "Where does the last window begin, if its last answer is the last character?",
            body=f"""
    ids = np.asarray(ids, dtype=np.int64)
    if len(ids) < block_size + 1:
        raise ValueError(f"the text has {{len(ids)}} characters")
    starts = rng.integers({end}, size=batch_size)
    x = np.stack([ids[i : i + block_size] for i in starts])
    y = np.stack([ids[i + 1 : i + block_size + 1] for i in starts])
    return x, y
""",
        )
        for name, title, end in (
            (
                "one-start-too-many",
                "now and then a window starts too late, and its last answer lies behind the end of the text",
                "len(ids) - block_size + 1",
            ),
            ("block-size-forgotten", "a window may start anywhere, even at the end of the text", "len(ids)"),
        )
    ),
    Mistake(
        "tokenizer.get_batch",
        "blocks-side-by-side",
        "windows start only at multiples of the block size",
        "Cut like that, there are far fewer different windows, and what stands at a seam is never seen together.",
        "Which starts are possible in a text of 10 characters with windows of 6?",
        edits=(
            (
                "rng.integers(len(ids) - block_size, size=batch_size)",
                "rng.integers((len(ids) - 1) // block_size, size=batch_size) * block_size",
            ),
        ),
    ),
    Mistake(
        "tokenizer.get_batch",
        "shifted-by-two",
        "the answers lie two characters further on, not one",
        "A character is skipped: the model would learn to say the one after the next.",
        "Which character comes right after the first one of a window?",
        edits=(("ids[positions + 1]", "ids[np.minimum(positions + 2, len(ids) - 1)]"),),
    ),
    Mistake(
        "tokenizer.get_batch",
        "one-answer-per-window",
        "y has only one answer for each window, the one after its end",
        "Every position of a window is a question: T answers for T characters.",
        "What shape should y have?",
        edits=(("ids[positions + 1]", "ids[starts + block_size]"),),
    ),
    Mistake(
        "tokenizer.train_val_split",
        "cut-from-the-end",
        "the cut was counted from the end: ids[:-n] and ids[-n:]",
        "If no character is left for validation, n is 0, and -0 is 0: the cut is at the beginning. And of two sizes "
        "the wrong one is cut off.",
        "What is ids[:-0]?",
        body="""
    if not 0 < train_fraction <= 1:
        raise ValueError("train_fraction must be above 0 and at most 1")
    ids = np.asarray(ids)
    n_val = int(len(ids) * (1 - train_fraction))
    return ids[:-n_val], ids[-n_val:]
""",
    ),
    Mistake(
        "tokenizer.train_val_split",
        "fraction-for-validation",
        "the fraction was taken for the validation part",
        "The model would be trained on the small part.",
        "With train_fraction=0.9, which of the two parts should be the large one?",
        edits=(("int(len(ids) * train_fraction)", "int(len(ids) * (1 - train_fraction))"),),
    ),
)
