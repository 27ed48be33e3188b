"""Mistakes in assignment 1: the tokenizer, the split of the text, and batches."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("tokenizer.build_vocab")
mistake("not-sorted", "sorted(set(text))", "list(dict.fromkeys(text))", common=True).explain("""
    the characters were listed in order of first occurrence, not sorted
    why: Two texts with the same characters then get different ids, and a saved model cannot be used with the other
         text.
    ask: Which character has id 0 for the text 'hello'?""")
mistake("repeated", "sorted(set(text))", "sorted(text)").explain("""
    characters that occur several times were listed several times
    why: The vocabulary is then as long as the text.
    ask: How many different characters does 'hello' have?""")
mistake("by-frequency", "sorted(set(text))", "sorted(dict.fromkeys(text), key=text.count, reverse=True)").explain("""
    the characters were sorted by how often they occur
    why: Vocabularies of words are often ordered by frequency. This one is ordered by code point.
    ask: In which order does Python sort strings?""")
mistake("lower-case", "set(text)", "set(text.lower())").explain("""
    capital letters were converted to lower case
    why: The case is lost, so decoding cannot restore the text.
    ask: Is decode(encode(text)) equal to the text?""")
mistake("blanks-dropped", "set(text)", "set(text.strip())").explain("""
    whitespace at the ends of the text was dropped
    why: Spaces and line breaks are characters like any others. If they occur only at the ends, they have no id.
    ask: What is the vocabulary of a text that consists of line breaks?""")
mistake("start-ignored", "enumerate(chars, start)", "enumerate(chars)", common=True).explain("""
    `start` was ignored: the ids begin at 0
    why: The mistake stays hidden with the default, start=0.
    ask: Which id should the first character have when start is 1?""")
mistake(
    "start-in-one-direction", "{index: char for char, index in stoi.items()}", "dict(enumerate(chars))", common=True
).explain("""
    `start` was used for stoi but not for itos
    why: itos must be the inverse of stoi. Otherwise decode cannot read what encode returns.
    ask: Is itos[stoi[char]] equal to char for every character?""")
mistake("one-based", "start=0", "start=1").explain("""
    the ids begin at 1 when `start` is not given
    why: The default of `start` is 0.
    ask: Which id should the first character of build_vocab("abc") have?""")
mistake("dictionaries-exchanged", "return chars, stoi, itos", "return chars, itos, stoi", common=True).explain("""
    stoi and itos were returned in the wrong order
    why: The names mean "string to integer" and "integer to string": stoi maps characters to ids.
    ask: What should stoi['a'] be, an id or a character?""")
mistake("characters-as-a-string", "chars = sorted(set(text))", 'chars = "".join(sorted(set(text)))').explain("""
    the characters were returned as one string, not as a list
    why: A string can be indexed like a list, but it cannot be changed or extended.
    ask: What does sorted return, and what does your code do with the result?""")
mistake("descending", "sorted(set(text))", "sorted(set(text), reverse=True)").explain("""
    the characters were sorted in descending order
    why: The ids then run backwards and do not match those of any other program that sorts in the usual order.
    ask: Which comes first, 'a' or 'b', and which of the two should have the smaller id?""")
mistake("start-plus-one", "enumerate(chars, start)", "enumerate(chars, start + 1)").explain("""
    the ids begin at start + 1, not at start
    why: `start` is the id of the first character.
    ask: Which id should the first character have with start=7?""")

mistake = MISTAKES.for_functions("tokenizer.encode")
mistake("key-error", common=True).body(
    "    return np.array([stoi[char] for char in text], dtype=np.int64)\n"
).explain("""
    an unknown character raised a KeyError, not a ValueError
    why: A dictionary raises KeyError by itself, but that error does not give the position of the character in the text.
    ask: Where could you catch the KeyError, and what would help somebody to find the character in a long text?""")
mistake("unknown-skipped", "for char in text]", "for char in text if char in stoi]", common=True).explain("""
    unknown characters were skipped silently
    why: There are then fewer ids than characters, and the error in the data goes unnoticed.
    ask: What should happen to a character that is not in the vocabulary?""")
mistake("unknown-is-zero", "stoi[char] for", "stoi.get(char, 0) for").explain("""
    unknown characters got the id 0
    why: 0 is the id of another character.
    ask: What should happen to a character that is not in the vocabulary?""")
mistake("unknown-is-minus-one", "stoi[char] for", "stoi.get(char, -1) for").explain("""
    unknown characters got the id -1
    why: As an index, -1 means the last entry, which belongs to another character.
    ask: What should happen to a character that is not in the vocabulary?""")
mistake("message-incomplete", " at position {position} is", " is").explain("""
    the error does not give the first unknown character and its position
    why: In a text of a million characters, the position is what helps. It is counted from 0.
    ask: What does the docstring say the message contains? Is text[position] the unknown character, for your
         position?""")
mistake(
    "list", "np.array([stoi[char] for char in text], dtype=np.int64)", "[stoi[char] for char in text]", common=True
).explain("""
    a list was returned, not an array
    why: The functions that use the ids do arithmetic with them.
    ask: Which type of result does the docstring ask for?""")
mistake("empty-is-float", ", dtype=np.int64", "").explain("""
    the ids of an empty text are floats
    why: np.array([]) is float64 unless a dtype is given. The mistake stays hidden as long as the text has characters.
    ask: What is the dtype of np.array([])?""")
mistake("int32", "dtype=np.int64", "dtype=np.int32").explain("""
    the ids are int32, not int64
    why: int64 is also NumPy's own default for integers.
    ask: Which dtype does the docstring ask for?""")
mistake("floats", "dtype=np.int64", "dtype=np.float64").explain("""
    the ids are floats, not integers
    why: np.zeros creates a float64 array unless a dtype is given, and floats cannot be used as indices.
    ask: Which of your lines creates the array, and with which dtype?""")
mistake("code-points").body("    return np.array([ord(char) for char in text], dtype=np.int64)\n").explain("""
    the code points of the characters were returned (ord), not their ids
    why: Ids number only the characters of the vocabulary. Code points go up to 1,114,111.
    ask: Which of the function's arguments does your code not use?""")
mistake("counted-from-zero", "[stoi[char] for", "[list(stoi).index(stoi[char] and char or char) for").explain("""
    places in the vocabulary were returned, not the ids from `stoi`
    why: The two are equal only if the ids begin at 0.
    ask: What is stoi['a'] if the vocabulary was built with start=3?""")

mistake = MISTAKES.for_functions("tokenizer.decode")
mistake("joined-with-blanks", '"".join', '" ".join', common=True).explain("""
    the characters were joined with spaces in between
    why: Tokens are characters here, not words. A space appears only where the text has one.
    ask: How many characters should the text of five ids have?""")
mistake("list", '"".join(itos[index] for index in ids)', "[itos[index] for index in ids]", common=True).explain("""
    a list of characters was returned, not a string
    why: The result should be a text again, as it was before encode.
    ask: What type does a text have in Python?""")
mistake("key-error", common=True).body(
    '    return "".join(itos[index] for index in np.asarray(ids).tolist())\n'
).explain("""
    an unknown id raised a KeyError, not a ValueError
    why: A dictionary raises KeyError by itself, but that error does not give the position of the id.
    ask: Where could you catch the KeyError, and what would help somebody to find the id?""")
mistake("unknown-skipped").body(
    '    return "".join(itos[index] for index in np.asarray(ids).tolist() if index in itos)\n'
).explain("""
    unknown ids were skipped silently
    why: The text is then shorter than the ids, and an impossible output of the model goes unnoticed.
    ask: What should happen to an id that is not in the vocabulary?""")
mistake("unknown-replaced").body(
    '    return "".join(itos.get(index, "?") for index in np.asarray(ids).tolist())\n'
).explain("""
    unknown ids were replaced by a question mark
    why: The text looks complete, and an impossible output of the model goes unnoticed.
    ask: What should happen to an id that is not in the vocabulary?""")
mistake("counted-from-zero").body("""
    chars = list(itos.values())
    try:
        return "".join(chars[index] for index in np.asarray(ids).tolist())
    except IndexError:
        raise ValueError("an id is not in the vocabulary") from None
""").explain("""
    the ids were used as indices into the list of characters
    why: That works only if the ids begin at 0, and it accepts -1, which means the last entry of a list.
    ask: Which character has id 1 if the ids begin at 1?""")
mistake("message-incomplete", " at position {position} is", " is").explain("""
    the error does not give the first unknown id and its position
    why: Among a million ids, the position is what helps. It is counted from 0.
    ask: What does the docstring say the message contains? Is ids[position] the unknown id, for your position?""")
mistake("arrays-only", "np.asarray(ids).tolist()", "ids.tolist()").explain("""
    the function works for arrays but not for lists
    why: A list has no method tolist.
    ask: Which NumPy function accepts both a list and an array, and returns an array?""")

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
    why: Single characters in random order are not language any more.
    ask: If you decode the training part, can you still read it?""")
mistake("overlapping", "ids[n_train:]", "ids[max(n_train - 1, 0) :]").explain("""
    one character is in both parts
    why: A slice excludes its end, so the second slice has to begin exactly where the first one ends.
    ask: How long are the two parts together?""")
mistake("gap", "ids[n_train:]", "ids[n_train + 1 :]").explain("""
    one character is in neither part
    why: A slice excludes its end, so the second slice has to begin exactly where the first one ends.
    ask: How long are the two parts together?""")
mistake("fraction-not-checked", "if not 0 < train_fraction <= 1", "if False", common=True).explain("""
    impossible fractions were accepted
    why: A fraction of 90 where 0.9 was meant leaves nothing for validation, without any error.
    ask: What does your function do with train_fraction=90?""")
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

mistake = MISTAKES.for_functions("tokenizer.get_batch")
mistake("not-shifted", "ids[positions + 1]", "ids[positions]", common=True).explain("""
    the targets are the windows themselves, not shifted by one character
    why: The model learns to copy its input: the loss falls to 0, but the model cannot write.
    ask: What should the model predict when it has seen the first character?""")
mistake("shifted-backwards", "ids[positions], ids[positions + 1]", "ids[positions + 1], ids[positions]").explain("""
    the targets are the previous characters, not the next ones
    why: x and y were swapped, so the model learns to predict backwards.
    ask: Which character should the model predict: the one that comes next, or the one before?""")
mistake("rolled", "ids[positions + 1]", "np.roll(ids[positions], -1, axis=1)").explain("""
    the last target of every window is the window's own first character
    why: np.roll moves the entry that drops out at one end to the other end. The correct target is the character after
         the window.
    ask: Where does the last target of a window come from?""")
mistake("answers-one-short", "ids[positions + 1]", "ids[positions[:, 1:]]").explain("""
    y is one character shorter than x
    why: The last character of the window has a target too: the character after the window.
    ask: What are the shapes of x and y?""")
mistake(
    "last-start-missing", "rng.integers(len(ids) - block_size,", "rng.integers(len(ids) - block_size - 1,", common=True
).explain("""
    the last possible start is never drawn
    why: rng.integers excludes its upper end. If another 1 is subtracted, the last character is never a target.
    ask: How many windows does a text of T + 1 characters have? Does your code draw from that many?""")
mistake(
    "one-start-too-many", "rng.integers(len(ids) - block_size,", "rng.integers(len(ids) - block_size + 1,", common=True
).explain("""
    a window can start one position too late, so its last target is missing
    why: The window itself fits into the text, but its last target would be the character after the end.
    ask: Where does the last window start if its last target is the last character of the text?""")
mistake("block-size-forgotten", "rng.integers(len(ids) - block_size,", "rng.integers(len(ids),").explain("""
    a window can start anywhere, even at the last character of the text
    why: A window that starts near the end does not fit into the text.
    ask: Where does the last window start if its last target is the last character of the text?""")
mistake("first-start-missing", ".integers(len(ids) - block_size,", ".integers(1, len(ids) - block_size,").explain("""
    no window starts at the first character
    why: Starts are counted from 0. A start that is never drawn is text that is never learned.
    ask: What is the smallest start that your code can draw?""")
mistake(
    "same-window", "(len(ids) - block_size, size=batch_size)", "(len(ids) - block_size, size=1).repeat(batch_size)"
).explain("""
    all windows of a batch are the same
    why: Only one start was drawn, and it was used for every window.
    ask: How many random numbers does a batch of B windows need?""")
mistake(
    "neighbouring-windows",
    "starts = rng.integers(len(ids) - block_size, size=batch_size)",
    "starts = rng.integers(len(ids) - block_size) + np.arange(batch_size)\n    starts %= len(ids) - block_size",
).explain("""
    the starts are consecutive: only the first one was drawn
    why: Neighbouring windows share most of their characters, so a step learns less from them than from independent
         ones.
    ask: How many random numbers does a batch of B windows need?""")
mistake(
    "without-repetition",
    "rng.integers(len(ids) - block_size, size=batch_size)",
    "rng.choice(len(ids) - block_size, size=batch_size, replace=False)",
).explain("""
    the starts were drawn without replacement
    why: Each start is drawn independently, so a window may occur twice. A short text may have fewer windows than the
         batch.
    ask: What happens when the text has only one window and the batch size is 2?""")
mistake("generator-of-its-own", "rng.integers", "np.random.default_rng(0).integers").explain("""
    the starts were drawn from a new generator with a fixed seed, not `rng`
    why: Every batch of the whole training is then the same.
    ask: If you call your function twice with the same `rng`, do the batches differ?""")
mistake("sizes-exchanged", "batch_size, block_size, rng", "block_size, batch_size, rng").explain("""
    the batch size and the block size were swapped
    why: The mistake stays hidden as long as the two are equal.
    ask: What is the shape of x: (B, T) or (T, B)?""")
mistake("transposed", "ids[positions], ids[positions + 1]", "ids[positions].T, ids[positions + 1].T").explain("""
    x and y are transposed, (T, B)
    why: Each row should be one window.
    ask: What is the shape of x: (B, T) or (T, B)?""")
mistake("positions-not-ids", "return ids[positions], ids[positions + 1]", "return positions, positions + 1").explain("""
    positions in the text were returned, not the ids at these positions
    why: The positions are indices: the ids still have to be looked up.
    ask: Can your x contain a value that does not occur in the text?""")
mistake("dtype-kept", ", dtype=np.int64", "", common=True).explain("""
    x and y have the dtype of the text, not int64
    why: Large texts are often stored in small integers, but a batch should be int64.
    ask: What is the dtype of x when `ids` is uint16?""")
mistake("next-window", ") - block_size,", ") - 2 * block_size,", "positions + 1", "positions + block_size").explain("""
    the targets are the following window, not this window shifted by one
    why: The target of each character of x is the character right after it.
    ask: In the text, what comes right after the first character of a window?""")
for name, title, end in (
    (
        "one-start-too-many",
        "a window can start one position too late, so its last target is missing",
        "len(ids) - block_size + 1",
    ),
    ("block-size-forgotten", "a window can start anywhere, even at the last character of the text", "len(ids)"),
):
    mistake(f"{name}-by-slices").body(f"""
    ids = np.asarray(ids, dtype=np.int64)
    if len(ids) < block_size + 1:
        raise ValueError(f"the text has {{len(ids)}} characters")
    starts = rng.integers({end}, size=batch_size)
    x = np.stack([ids[i : i + block_size] for i in starts])
    y = np.stack([ids[i + 1 : i + block_size + 1] for i in starts])
    return x, y
""").explain(f"""
        {title}
        why: A slice at the end of the text is then shorter than the others, and np.stack needs equal lengths.
        ask: Where does the last window start if its last target is the last character of the text?""")
mistake(
    "blocks-side-by-side",
    "rng.integers(len(ids) - block_size, size=batch_size)",
    "rng.integers((len(ids) - 1) // block_size, size=batch_size) * block_size",
).explain("""
    windows start only at multiples of the block size
    why: There are then far fewer different windows, and characters on either side of a boundary are never in the same
         window.
    ask: Which starts are possible in a text of 10 characters with windows of 6?""")
mistake("shifted-by-two", "ids[positions + 1]", "ids[np.minimum(positions + 2, len(ids) - 1)]").explain("""
    the targets are shifted by two characters, not by one
    why: The model would learn to predict the character after the next one.
    ask: Which character comes right after the first one of a window?""")
mistake("one-answer-per-window", "ids[positions + 1]", "ids[starts + block_size]").explain("""
    y has only one target for each window, the character after it
    why: Every position of a window has a target: T targets for T characters.
    ask: What shape should y have?""")
