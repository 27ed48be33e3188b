"""Mistakes in assignment 1: characters as numbers, and batches of text."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("tokenizer.build_vocab")
mistake("not-sorted", "sorted(set(text))", "list(dict.fromkeys(text))", common=True).explain("""
    the characters stand in the order in which they first occur
    why: Two texts with the same characters then have different ids, and a saved model cannot be used with the other
         one.
    ask: Which character has id 0 for the text 'hello'?""")
mistake("repeated", "sorted(set(text))", "sorted(text)").explain("""
    characters that occur several times are listed several times
    why: The vocabulary is then as long as the text.
    ask: How many different characters has 'hello'?""")
mistake("by-frequency", "sorted(set(text))", "sorted(dict.fromkeys(text), key=text.count, reverse=True)").explain("""
    the characters are sorted by how often they occur
    why: That is usual for words. Here the order is that of the code points.
    ask: In which order does Python sort strings?""")
mistake("lower-case", "set(text)", "set(text.lower())").explain("""
    capitals were turned into small letters
    why: What is lost here cannot be decoded any more.
    ask: Does decode(encode(text)) give the text back?""")
mistake("blanks-dropped", "set(text)", "set(text.strip())").explain("""
    blanks and line breaks at the ends of the text were dropped
    why: They are characters like any others.
    ask: What is the vocabulary of a text that consists of line breaks?""")
mistake("start-ignored", "enumerate(chars, start)", "enumerate(chars)", common=True).explain("""
    `start` is not used: the ids begin with 0
    why: With the default nothing shows.
    ask: Which id has the first character when start is 1?""")
mistake(
    "start-in-one-direction", "{index: char for char, index in stoi.items()}", "dict(enumerate(chars))", common=True
).explain("""
    `start` was used for stoi and forgotten for itos
    why: What encode makes, decode cannot read: itos must be the inverse of stoi.
    ask: Is itos[stoi[char]] always char again?""")
mistake("one-based", "start=0", "start=1").explain("""
    without `start` the ids begin with 1
    why: The default is 0.
    ask: Which id has the first character when nobody says anything?""")
mistake("dictionaries-exchanged", "return chars, stoi, itos", "return chars, itos, stoi", common=True).explain("""
    stoi and itos were returned in the wrong order
    why: The i stands for the integer, the s for the string: stoi leads from string to integer.
    ask: What should stoi['a'] be, a number or a character?""")
mistake("characters-as-a-string", "chars = sorted(set(text))", 'chars = "".join(sorted(set(text)))').explain("""
    the characters were returned as one string, not as a list
    why: A string can be indexed like a list, but it is none: nothing can be changed or added.
    ask: What does sorted return, and what did you make of it?""")
mistake("descending", "sorted(set(text))", "sorted(set(text), reverse=True)").explain("""
    the characters stand in descending order
    why: The ids then run the other way, and no table fits another kit's.
    ask: Which of a and b comes first, and which one has the smaller id?""")
mistake("start-plus-one", "enumerate(chars, start)", "enumerate(chars, start + 1)").explain("""
    the ids begin with start + 1, not with start
    why: `start` is the id of the first character.
    ask: Which id does the first character get with start=7?""")

mistake = MISTAKES.for_functions("tokenizer.encode")
mistake("key-error", common=True).body(
    "    return np.array([stoi[char] for char in text], dtype=np.int64)\n"
).explain("""
    an unknown character is a KeyError, not a ValueError
    why: That is what a dictionary raises by itself. It does not say where in the text the character stands.
    ask: Where could you catch it, and what would help somebody who has to find the character in a long text?""")
mistake("unknown-skipped", "for char in text]", "for char in text if char in stoi]", common=True).explain("""
    unknown characters were left out silently
    why: The ids are then fewer than the characters, and nobody notices the mistake in the data.
    ask: What should happen with a character that is not in the vocabulary?""")
mistake("unknown-is-zero", "stoi[char] for", "stoi.get(char, 0) for").explain("""
    unknown characters got the id 0
    why: That is the id of another character.
    ask: What should happen with a character that is not in the vocabulary?""")
mistake("unknown-is-minus-one", "stoi[char] for", "stoi.get(char, -1) for").explain("""
    unknown characters got the id -1
    why: Used as an index, -1 is the last character of the vocabulary.
    ask: What should happen with a character that is not in the vocabulary?""")
mistake("message-incomplete", " at position {position} is", " is").explain("""
    the message does not name the first unknown character and its position
    why: In a text of a million characters, the position is what one needs; it is counted from 0.
    ask: What does the docstring want the message to name? Is text[position] the character, with your position?""")
mistake(
    "list", "np.array([stoi[char] for char in text], dtype=np.int64)", "[stoi[char] for char in text]", common=True
).explain("""
    a list was returned, not an array
    why: What comes later does arithmetic with the ids.
    ask: What does the docstring say about the type of the result?""")
mistake("empty-is-float", ", dtype=np.int64", "").explain("""
    the ids of an empty text are floats
    why: np.array([]) is float64 unless a dtype is given. As long as there are characters, nothing shows.
    ask: What is the dtype of np.array([])?""")
mistake("int32", "dtype=np.int64", "dtype=np.int32").explain("""
    the ids are int32
    why: The docstring asks for int64, which is NumPy's own default.
    ask: What dtype does the docstring ask for?""")
mistake("floats", "dtype=np.int64", "dtype=np.float64").explain("""
    the ids are floats, not integers
    why: np.zeros makes float64 unless it is told otherwise, and a float cannot be used as an index.
    ask: Which of your lines makes the array, and of what dtype?""")
mistake("code-points").body("    return np.array([ord(char) for char in text], dtype=np.int64)\n").explain("""
    these are the code points of the characters (ord), not their ids
    why: A vocabulary of a few dozen characters needs ids from 0 on, not numbers up to 1,114,111.
    ask: Which of your arguments does the function not look at?""")
mistake("counted-from-zero", "[stoi[char] for", "[list(stoi).index(stoi[char] and char or char) for").explain("""
    the ids are the places in the vocabulary, counted from 0, not the numbers that stand in `stoi`
    why: A vocabulary may begin with another id than 0.
    ask: What is stoi['a'], if the vocabulary was built with start=3?""")

mistake = MISTAKES.for_functions("tokenizer.decode")
mistake("joined-with-blanks", '"".join', '" ".join', common=True).explain("""
    there is a blank between the characters
    why: Tokens are characters here, not words.
    ask: How long is the text of five ids?""")
mistake("list", '"".join(itos[index] for index in ids)', "[itos[index] for index in ids]", common=True).explain("""
    a list of characters was returned, not a string
    why: The result should be the text again.
    ask: What type has a text?""")
mistake("key-error", common=True).body(
    '    return "".join(itos[index] for index in np.asarray(ids).tolist())\n'
).explain("""
    an unknown id is a KeyError, not a ValueError
    why: That is what a dictionary raises by itself. It does not say where the id stands.
    ask: Where could you catch it, and what would help somebody who has to find the id?""")
mistake("unknown-skipped").body(
    '    return "".join(itos[index] for index in np.asarray(ids).tolist() if index in itos)\n'
).explain("""
    unknown ids were left out silently
    why: The text is then shorter than the ids, and nobody notices that the model has made something impossible.
    ask: What should happen with an id that is not in the vocabulary?""")
mistake("unknown-replaced").body(
    '    return "".join(itos.get(index, "?") for index in np.asarray(ids).tolist())\n'
).explain("""
    unknown ids became a question mark
    why: The text looks whole, and nobody notices that the model has made something impossible.
    ask: What should happen with an id that is not in the vocabulary?""")
mistake("counted-from-zero").body("""
    chars = list(itos.values())
    try:
        return "".join(chars[index] for index in np.asarray(ids).tolist())
    except IndexError:
        raise ValueError("an id is not in the vocabulary") from None
""").explain("""
    the ids were taken for places in the list of characters
    why: That is right only if the ids begin with 0; and -1 is the last place of a list.
    ask: Which character has id 1 if the ids begin with 1?""")
mistake("message-incomplete", " at position {position} is", " is").explain("""
    the message does not name the first unknown id and its position
    why: Among a million ids, the position is what one needs; it is counted from 0.
    ask: What does the docstring want the message to name? Is ids[position] the id, with your position?""")
mistake("arrays-only", "np.asarray(ids).tolist()", "ids.tolist()").explain("""
    it works for arrays only, not for lists
    why: A list has no method tolist.
    ask: What turns both a list and an array into an array?""")

mistake = MISTAKES.for_functions("tokenizer.train_val_split")
mistake("rounded", "int(len(ids) * train_fraction)", "round(len(ids) * train_fraction)", common=True).explain("""
    the size of the first part was rounded, not cut off
    why: `int` cuts off what comes after the point; `round` may go up. It is one character more or less.
    ask: What is int(8.25 + 0.5), and what is round(8.75)? Which one does the docstring ask for?""")
mistake(
    "validation-cut-off", "int(len(ids) * train_fraction)", "len(ids) - int(len(ids) * (1 - train_fraction))"
).explain("""
    the size of the validation part was cut off, not that of the training part
    why: It is one character more or less.
    ask: Which of the two sizes does the docstring give a formula for?""")
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
    the end of the text is for training, and the beginning for validation
    why: The sizes are right, the parts are not.
    ask: Which part of the text does the docstring put where?""")
mistake("shuffled", "ids = np.asarray(ids)", "ids = np.random.default_rng(0).permutation(ids)").explain("""
    the text was shuffled before it was cut
    why: Single characters in a random order are no language any more.
    ask: Is what comes out still readable?""")
mistake("overlapping", "ids[n_train:]", "ids[max(n_train - 1, 0) :]").explain("""
    one character is in both parts
    why: A slice leaves out its end: the second one begins where the first one ended.
    ask: How long are the two parts together?""")
mistake("gap", "ids[n_train:]", "ids[n_train + 1 :]").explain("""
    one character is in neither part
    why: A slice leaves out its end: the second one begins where the first one ended.
    ask: How long are the two parts together?""")
mistake("fraction-not-checked", "if not 0 < train_fraction <= 1", "if False", common=True).explain("""
    impossible fractions are not refused
    why: A fraction of 90, where 0.9 was meant, leaves nothing for validation.
    ask: What happens when somebody writes 90 and means per cent?""")
mistake("one-refused", "<= 1:", "< 1:").explain("""
    a fraction of 1 is refused
    why: 1 is allowed: all for training, nothing for validation.
    ask: Which fractions does the docstring allow?""")
mistake("dtype-changed", "np.asarray(ids)", "np.asarray(ids, dtype=np.int64)").explain("""
    the integer type of the ids was changed to int64
    why: Both parts have the dtype of `ids`: a large text is often kept in small integers.
    ask: What is the dtype of your parts when `ids` is uint16?""")
mistake("fraction-ignored", "len(ids) * train_fraction", "len(ids) * 0.9", common=True).explain("""
    the fraction is not used: it is always 0.9
    why: With the default nothing shows.
    ask: Which of your arguments does the function not look at?""")
mistake("size-not-whole", "int(len(ids) * train_fraction)", "len(ids) * train_fraction", common=True).explain("""
    the size of the first part is a float: 7.5 is no place to cut at
    why: A product with 0.9 is a float even where it is whole, and slices want integers.
    ask: What is the type of 10 * 0.9? What makes an integer of it?""")
mistake("cut-from-the-end").body("""
    if not 0 < train_fraction <= 1:
        raise ValueError("train_fraction must be above 0 and at most 1")
    ids = np.asarray(ids)
    n_val = int(len(ids) * (1 - train_fraction))
    return ids[:-n_val], ids[-n_val:]
""").explain("""
    the cut was counted from the end: ids[:-n] and ids[-n:]
    why: If no character is left for validation, n is 0, and -0 is 0: the cut is at the beginning. And of two sizes the
         wrong one is cut off.
    ask: What is ids[:-0]?""")
mistake("fraction-for-validation", "int(len(ids) * train_fraction)", "int(len(ids) * (1 - train_fraction))").explain("""
    the fraction was taken for the validation part
    why: The model would be trained on the small part.
    ask: With train_fraction=0.9, which of the two parts should be the large one?""")

mistake = MISTAKES.for_functions("tokenizer.get_batch")
mistake("not-shifted", "ids[positions + 1]", "ids[positions]", common=True).explain("""
    the answers are the windows themselves, not moved by one character
    why: The model learns to repeat what it sees: the loss falls to 0, and it cannot write.
    ask: What should the model answer when it has seen the first character?""")
mistake("shifted-backwards", "ids[positions], ids[positions + 1]", "ids[positions + 1], ids[positions]").explain("""
    the answers are the characters before, not those after
    why: x and y are exchanged.
    ask: What should the model answer: the character that comes next, or the one before?""")
mistake("rolled", "ids[positions + 1]", "np.roll(ids[positions], -1, axis=1)").explain("""
    the last answer of every window is its own first character
    why: np.roll puts what falls out at the end back in at the beginning. The right answer is in the text, behind the
         window.
    ask: Where does the last answer of a window come from?""")
mistake("answers-one-short", "ids[positions + 1]", "ids[positions[:, 1:]]").explain("""
    y is one character shorter than x
    why: The last question of the window has an answer too: the character behind the window.
    ask: What is the shape of y?""")
mistake(
    "last-start-missing", "rng.integers(len(ids) - block_size,", "rng.integers(len(ids) - block_size - 1,", common=True
).explain("""
    the last possible start never comes up
    why: rng.integers leaves out its upper end; with another 1 subtracted, the last character is never learned from.
    ask: How many windows has a text of T + 1 characters? Does your code find it?""")
mistake(
    "one-start-too-many", "rng.integers(len(ids) - block_size,", "rng.integers(len(ids) - block_size + 1,", common=True
).explain("""
    now and then a window starts too late, and its last answer lies behind the end of the text
    why: There is a window there, but no answer to its last question.
    ask: Where does the last window begin, if its last answer is the last character?""")
mistake("block-size-forgotten", "rng.integers(len(ids) - block_size,", "rng.integers(len(ids),").explain("""
    a window may start anywhere, even at the end of the text
    why: Whoever starts at the last character has no window.
    ask: Where does the last window begin?""")
mistake("first-start-missing", ".integers(len(ids) - block_size,", ".integers(1, len(ids) - block_size,").explain("""
    no window starts at the first character
    why: Starts are counted from 0.
    ask: What is the smallest number that your generator draws?""")
mistake(
    "same-window", "(len(ids) - block_size, size=batch_size)", "(len(ids) - block_size, size=1).repeat(batch_size)"
).explain("""
    all windows of a batch are the same
    why: One start was drawn for all of them.
    ask: How many random numbers does a batch of B windows need?""")
mistake(
    "neighbouring-windows",
    "starts = rng.integers(len(ids) - block_size, size=batch_size)",
    "starts = rng.integers(len(ids) - block_size) + np.arange(batch_size)\n    starts %= len(ids) - block_size",
).explain("""
    the windows follow each other: only the first start was drawn
    why: Windows drawn independently tell the model more in one step.
    ask: How many random numbers does a batch of B windows need?""")
mistake(
    "without-repetition",
    "rng.integers(len(ids) - block_size, size=batch_size)",
    "rng.choice(len(ids) - block_size, size=batch_size, replace=False)",
).explain("""
    no window may come twice in a batch
    why: Each start is drawn independently of the others. A short text may have fewer windows than the batch.
    ask: What happens when the text has a single window and the batch size is 2?""")
mistake("generator-of-its-own", "rng.integers", "np.random.default_rng(0).integers").explain("""
    a generator of its own with a fixed seed is used, not `rng`
    why: Every batch of the whole training is the same then.
    ask: Call your function twice. Is the second batch another one?""")
mistake("sizes-exchanged", "batch_size, block_size, rng", "block_size, batch_size, rng").explain("""
    batch size and block size were exchanged
    why: As long as both are the same, nothing shows.
    ask: What is the shape of x: (B, T) or (T, B)?""")
mistake("transposed", "ids[positions], ids[positions + 1]", "ids[positions].T, ids[positions + 1].T").explain("""
    x and y are transposed, (T, B)
    why: Each row should be a window.
    ask: What is the shape of x: (B, T) or (T, B)?""")
mistake("positions-not-ids", "return ids[positions], ids[positions + 1]", "return positions, positions + 1").explain("""
    the places in the text were returned, not the ids that stand there
    why: They are indices; the text still has to be looked up.
    ask: Can your x hold a number that is not in the text?""")
mistake("dtype-kept", ", dtype=np.int64", "", common=True).explain("""
    x and y have the integer type of the text, not int64
    why: A large text is often kept in small integers, but a batch is to be int64.
    ask: What is the dtype of x when `ids` is uint16?""")
mistake("next-window", ") - block_size,", ") - 2 * block_size,", "positions + 1", "positions + block_size").explain("""
    the answers are the window that follows, not the same window one character further on
    why: Each character of x has its own answer: the character right after it.
    ask: What comes right after the first character of a window?""")
for name, title, end in (
    (
        "one-start-too-many",
        "now and then a window starts too late, and its last answer lies behind the end of the text",
        "len(ids) - block_size + 1",
    ),
    ("block-size-forgotten", "a window may start anywhere, even at the end of the text", "len(ids)"),
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
        why: The slice at the end of the text is shorter than the others, and np.stack wants all of one length.
        ask: Where does the last window begin, if its last answer is the last character?""")
mistake(
    "blocks-side-by-side",
    "rng.integers(len(ids) - block_size, size=batch_size)",
    "rng.integers((len(ids) - 1) // block_size, size=batch_size) * block_size",
).explain("""
    windows start only at multiples of the block size
    why: Cut like that, there are far fewer different windows, and what stands at a seam is never seen together.
    ask: Which starts are possible in a text of 10 characters with windows of 6?""")
mistake("shifted-by-two", "ids[positions + 1]", "ids[np.minimum(positions + 2, len(ids) - 1)]").explain("""
    the answers lie two characters further on, not one
    why: A character is skipped: the model would learn to say the one after the next.
    ask: Which character comes right after the first one of a window?""")
mistake("one-answer-per-window", "ids[positions + 1]", "ids[starts + block_size]").explain("""
    y has only one answer for each window, the one after its end
    why: Every position of a window is a question: T answers for T characters.
    ask: What shape should y have?""")
