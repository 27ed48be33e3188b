"""Mistakes in `tokenizer`: encode and decode."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("tokenizer.encode")
mistake("key-error", common=True).body(
    "    return np.array([stoi[char] for char in text], dtype=np.int64)\n"
).explain("""
    an unknown character raised a KeyError, not a ValueError
    why: A dictionary raises KeyError by itself, but that error does not give the position of the character in the text.
    ask: Where could you catch the KeyError, and what would help to find the character in a long text?""")
mistake("unknown-skipped", "for char in text]", "for char in text if char in stoi]", common=True).explain("""
    unknown characters were skipped silently
    why: There are then fewer ids than characters, and the error in the data goes unnoticed.
    ask: What should happen to a character that is not in the vocabulary?""")
mistake("message-incomplete", " at position {position} is", " is").explain("""
    the error did not give the first unknown character and its position
    why: In a text of a million characters, the position is what helps. It is counted from 0.
    ask: The text is "abc?d", and only ? is unknown. Which character and which position does your message give? Is
         text[position] that character?""")
mistake("another-unknown-character", "{char!r} at position", "{min(set(text) - set(stoi))!r} at position").explain("""
    the error gave another unknown character than the first
    why: A set or a sorted list of the unknown characters has another order than the text.
    ask: Of several unknown characters, which one comes first in the text?""")
mistake(
    "list", "np.array([stoi[char] for char in text], dtype=np.int64)", "[stoi[char] for char in text]", common=True
).explain("""
    a list was returned, not an array
    why: The functions that use the ids do arithmetic with them.
    ask: What is [1, 2] * 2, and what is np.array([1, 2]) * 2?""")
mistake("empty-is-float", ", dtype=np.int64", "").explain("""
    the ids of an empty text are floats
    why: np.array([]) is float64 unless a dtype is given. The mistake stays hidden as long as the text has characters.
    ask: What is the dtype of np.array([])?""")
mistake("int32", "dtype=np.int64", "dtype=np.int32").explain("""
    the ids are int32, not int64
    why: int64 is also NumPy's own default for integers.
    ask: What is the dtype of np.array([1, 2]), and what is that of your ids?""")
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
for name, changed, what in (
    ("lower-case", "text.lower()", "converted to lower case"),
    ("stripped", "text.strip()", "stripped of whitespace at its ends"),
):
    mistake(f"text-{name}", "    try:", f"    text = {changed}\n    try:").explain(f"""
        the text was {what} first
        why: One id for each character, in the order of the text: otherwise decode cannot restore it.
        ask: Is decode(encode(text)) equal to the text?""")


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
    ask: Where could you catch the KeyError, and what would help to find the id?""")
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
    text = ""
    for position, index in enumerate(np.asarray(ids).tolist()):
        if index >= len(chars):
            raise ValueError(f"id {index} at position {position} is not in the vocabulary")
        text += chars[index]
    return text
""").explain("""
    the ids were used as indices into the list of characters
    why: That works only if the ids begin at 0, and it accepts -1, which means the last entry of a list.
    ask: Which character has id 1 if the ids begin at 1?""")
mistake(
    "small-ids-from-the-end",
    "if index not in itos:",
    "if not -len(itos) <= index - min(itos, default=0) < len(itos):",
    '"".join(itos[index]',
    '"".join(list(itos.values())[index - min(itos)]',
).explain("""
    an id below the first one was taken from the end of a list of characters
    why: A list accepts negative indices. An id that is not in itos is an error, even if it is only a little too small.
    ask: Which ids are in itos? How can you ask the dict itself?""")
mistake("message-incomplete", " at position {position} is", " is").explain("""
    the error did not give the first unknown id and its position
    why: Among a million ids, the position is what helps. It is counted from 0.
    ask: The ids are 0, 1 and 99, and only 99 is unknown. Which id and which position does your message give?""")
mistake("arrays-only", "np.asarray(ids).tolist()", "ids.tolist()").explain("""
    the function works for arrays but not for lists
    why: A list has no method tolist.
    ask: Which NumPy function accepts both a list and an array, and returns an array?""")
mistake("ids-compared-zero-to-maximum", "index not in itos", "not 0 <= index <= max(itos, default=-1)").explain("""
    the ids were compared with 0 and the largest id
    why: The ids of a vocabulary may begin at 1 or later: then 0 is unknown, and len(itos) is an id.
    ask: Which ids are in itos if the vocabulary was built with start=1? How can you ask the dict itself?""")
mistake("text-stripped", "for index in ids)", "for index in ids).strip()").explain("""
    the text was stripped of whitespace at its ends
    why: decode is the inverse of encode: every character comes back as it was.
    ask: Is decode(encode(text)) equal to the text?""")
mistake("reversed", "for index in ids)", "for index in ids[::-1])").explain("""
    the text is reversed
    why: Text that is put together as `char + text` grows at the wrong end.
    ask: Where does the character of the first id belong?""")
mistake("last-id-missing", "for index in ids)", "for index in ids[:-1])").explain("""
    the last id was not decoded
    why: There should be as many characters as ids.
    ask: How many characters does your function return for a single id?""")
mistake("truth-of-an-array", "ids = np.asarray", 'if not ids:\n        return ""\n    ids = np.asarray').explain("""
    the function asks whether the ids are true: that does not work for arrays
    why: `if not ids` tests whether a list is empty. For an array, NumPy does not know which entry is meant.
    ask: How can you ask for the number of entries of a list or an array? Do you need that test at all?""")
