"""Mistakes in `tokenizer`: the vocabulary. Those of the other functions are in modules of their own."""

from autograder.courses.transformer.tokenizer.mistakes.batches import MISTAKES as BATCHES
from autograder.courses.transformer.tokenizer.mistakes.codec import MISTAKES as CODEC
from autograder.courses.transformer.tokenizer.mistakes.split import MISTAKES as SPLIT
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(CODEC, SPLIT, BATCHES)

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
mistake("lower-case", "set(text)", "set(text.lower())").explain("""
    capital letters were converted to lower case
    why: The case is lost, so decoding cannot restore the text.
    ask: Is decode(encode(text)) equal to the text?""")
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
mistake("sorted-without-case", "sorted(set(text))", "sorted(sorted(set(text)), key=str.lower)").explain("""
    capital and lower-case letters were not sorted by code point
    why: Sorted by code point, all capital letters come before all lower-case letters.
    ask: Which comes first when Python sorts ['a', 'B']?""")
mistake("text-stripped", "set(text)", "set(text.strip())").explain("""
    the text was stripped of whitespace at its ends first
    why: A space or newline that occurs only there is then missing from the vocabulary.
    ask: How many characters does the text "a " have, and how many has your vocabulary of it?""")
mistake("words", "set(text)", "set(text.split())").explain("""
    the text was split into words: each word is a token
    why: Tokens are single characters here. A vocabulary of words cannot encode new words.
    ask: What is chars for the text "a b"?""")
mistake(
    "start-in-the-other-direction",
    "enumerate(chars, start)",
    "enumerate(chars)",
    "{index: char for char, index in stoi.items()}",
    "dict(enumerate(chars, start))",
    common=True,
).explain("""
    `start` was used for itos but not for stoi
    why: itos must be the inverse of stoi. Otherwise decode cannot read what encode returns.
    ask: Is itos[stoi[char]] equal to char for every character?""")
mistake("code-points", "index for index, char in enumerate(chars, start)", "ord(char) for char in chars").explain(
    """
    the ids are the code points of the characters (ord)
    why: The ids should follow each other without gaps, so that they can be rows of a table.
    ask: Which id should the first character have with start=0?"""
)
mistake(
    "place-in-the-text",
    "index for index, char in enumerate(chars, start)",
    "text.index(char) + start for char in chars",
).explain("""
    the ids are the places where the characters first occur in the text
    why: The ids should follow each other without gaps, in the order of the sorted characters.
    ask: Which ids does the text 'aab' need?""")
mistake("ids-as-numpy", "{char: index for index", "{char: np.int64(index) for index").explain("""
    the ids in stoi are NumPy integers, not Python integers
    why: np.arange and np.unique give NumPy integers, which print and save differently: json rejects them, for example.
    ask: What is type(stoi['a'])? Which Python function numbers the entries of a list?""")
mistake("characters-as-a-tuple", "return chars, stoi", "return tuple(chars), stoi").explain("""
    the characters were returned as a tuple, not as a list
    why: A tuple cannot be extended: chars.append fails, for example when a special token is added.
    ask: What does sorted return, and what does your code do with the result?""")
mistake("itos-as-a-list", "return chars, stoi, itos", "return chars, stoi, list(itos.values())").explain("""
    itos is a list, not a dict
    why: A list works only if the ids begin at 0, and it accepts -1, which is no id.
    ask: Which index does the first character have in your list, and which id does it have if start is 1?""")
for name, result in (("refused", "raise ValueError('the text is empty')"), ("none", "return None")):
    mistake(
        f"empty-text-{name}", "    chars = sorted", f"    if not text:\n        {result}\n    chars = sorted"
    ).explain("""
        the empty text was not accepted
        why: Its vocabulary is empty: no characters, and two empty dictionaries.
        ask: What do sorted(set("")) and dict() return?""")
