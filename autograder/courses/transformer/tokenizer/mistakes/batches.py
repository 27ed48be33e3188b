"""Mistakes in `tokenizer`: batches."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("tokenizer.get_batch")
mistake("not-shifted", "ids[positions + 1]", "ids[positions]", common=True).explain("""
    the targets are the windows themselves, not shifted by one character
    why: The model learns to copy its input: the loss falls towards 0, but the model cannot write.
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
mistake("last-start-missing", "len(ids) - block_size,", "len(ids) - block_size - 1,", common=True).explain("""
    the last possible start is never drawn
    why: rng.integers excludes its upper end. If another 1 is subtracted, the last character is never a target.
    ask: How many windows does a text of T + 1 characters have? Does your code draw from that many?""")
mistake("one-start-too-many", "len(ids) - block_size,", "len(ids) - block_size + 1,", common=True).explain("""
    a window can start one position too late, so its last target is missing
    why: The window itself fits into the text, but its last target would be the character after the end.
    ask: Where does the last window start if its last target is the last character of the text?""")
mistake(
    "same-window", "(len(ids) - block_size, size=batch_size)", "(len(ids) - block_size, size=1).repeat(batch_size)"
).explain("""
    all windows of a batch are the same
    why: Only one start was drawn, and it was used for every window.
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
mistake("dtype-kept", ", dtype=np.int64", "", common=True).explain("""
    x and y have the dtype of the text, not int64
    why: Large texts are often stored in small integers, but a batch should be int64.
    ask: What is the dtype of x when `ids` is uint16?""")
mistake("next-window", ") - block_size,", ") - 2 * block_size,", "positions + 1", "positions + block_size").explain("""
    the targets are the following window, not this window shifted by one
    why: The target of each character of x is the character right after it.
    ask: In the text, what comes right after the first character of a window?""")
mistake("one-start-too-many-by-slices").body("""
ids = np.asarray(ids, dtype=np.int64)
if len(ids) < block_size + 1:
    raise ValueError(f"the text has {len(ids)} characters")
starts = rng.integers(len(ids) - block_size + 1, size=batch_size)
x = np.stack([ids[i : i + block_size] for i in starts])
y = np.stack([ids[i + 1 : i + block_size + 1] for i in starts])
return x, y
""").explain("""
    a window can start one position too late, so its last target is missing
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
mistake("starts-sorted", "size=batch_size)", "size=batch_size)\n    starts = np.sort(starts)").explain("""
    the starts were sorted
    why: Each start is drawn independently of the others: the second window may begin before the first.
    ask: Can the second window of your batch begin before the first one?""")
mistake("one-window-refused", "< block_size + 1", "<= block_size + 1", common=True).explain("""
    a text of T + 1 characters was rejected
    why: It is just long enough: it has one window and the target of its last character.
    ask: How many characters do a window of 4 and its last target need?""")
mistake(
    "short-text-accepted",
    "if len(ids) < block_size + 1:",
    "if False:",
    "rng.integers(len(ids) - block_size,",
    "rng.integers(max(1, len(ids) - block_size),",
).explain("""
    a text that is too short for one window was not rejected with a ValueError
    why: There is no start for which the window and its last target fit into the text.
    ask: What does your function do with 5 characters and windows of 5?""")
mistake(
    "windows-one-short", "(block_size)", "(block_size - 1)", "positions + 1", "np.minimum(positions + 1, len(ids) - 1)"
).explain("""
    x and y are one character too short
    why: A window of T characters needs T + 1 characters of the text: x is all but the last, y all but the first.
    ask: How many columns do x and y have for a block size of 4?""")
mistake("lists", "[positions], ids[positions + 1]", "[positions].tolist(), ids[positions + 1].tolist()").explain("""
    x and y are lists, not arrays
    why: The model computes with arrays (B, T).
    ask: Which NumPy function makes one array of several windows?""")
mistake(
    "not-random",
    "rng.integers(len(ids) - block_size, size=batch_size)",
    "np.arange(batch_size) % (len(ids) - block_size)",
).explain("""
    the windows are the first ones of the text: nothing was drawn
    why: Every batch of the whole training is then the same.
    ask: Which of the function's arguments does your code not use?""")
