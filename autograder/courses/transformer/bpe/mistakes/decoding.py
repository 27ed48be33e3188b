"""Mistakes in `bpe`: decoding."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

mistake = MISTAKES.for_functions("bpe.bpe_decode")
mistake("strict", 'errors="replace"', 'errors="strict"').explain("""
    bytes that are not valid UTF-8 raised an error instead of becoming U+FFFD
    why: A model may write any ids, also the first half of a character. With errors="replace", decode never fails.
    ask: What does bytes([228]).decode("utf-8") do?""")
mistake("ignored", 'errors="replace"', 'errors="ignore"').explain("""
    bytes that are not valid UTF-8 were left out, not replaced by U+FFFD
    why: Then nobody sees that something is missing.
    ask: Which value of `errors` does the docstring name?""")
mistake("backslashes", 'errors="replace"', 'errors="backslashreplace"').explain("""
    bytes that are not valid UTF-8 were written as numbers, not as U+FFFD
    why: The result would contain text that no token has.
    ask: Which value of `errors` does the docstring name?""")
mistake("latin-1", 'data.decode("utf-8", errors="replace")', 'data.decode("latin-1")').explain("""
    the bytes were decoded as Latin-1: one character for each byte
    why: In UTF-8 a character may have several bytes.
    ask: In which encoding are the bytes of the text?""")
mistake("ascii", 'data.decode("utf-8", errors="replace")', 'data.decode("ascii", errors="replace")').explain("""
    the bytes were decoded as ASCII, so that all accents and emoji are lost
    why: Bytes above 127 are no ASCII. In UTF-8 several of them together are a character.
    ask: In which encoding are the bytes of the text?""")
LOOP = """
    tokens = {index: token for token, index in vocab.items()}
    byte_of = {symbol: byte for byte, symbol in byte_symbols().items()}
    text = ""
    for index in np.asarray(ids, dtype=np.int64).tolist():
        if index not in tokens:
            raise ValueError(f"the id {index} is not in the vocabulary")
        text += bytes(byte_of[symbol] for symbol in tokens[index]).decode("utf-8", errors="replace")
    return text
"""
mistake("each-token-alone").body(LOOP).explain("""
    the bytes of each token were decoded separately
    why: A character may be spread over several tokens. Its parts alone are not valid UTF-8.
    ask: How many tokens can the bytes of one emoji be in? When are all of them there?""")
mistake("symbols-kept", "return data.decode", 'return "".join(tokens[index] for index in ids) or data.decode').explain(
    """
    the symbols of the bytes were returned, not the text
    why: Tokens are made of symbols, such as Ġ for the space. They must be turned into bytes and decoded.
    ask: What is the token of " low", and what is its text?"""
)
mistake(
    "only-spaces-replaced",
    "return data.decode",
    'return "".join(tokens[index] for index in ids).replace("Ġ", " ").replace("Ċ", "\\n") or data.decode',
).explain("""
    only the symbols of the space and the line break were turned back
    why: Every symbol stands for a byte. A text with an accent shows the rest.
    ask: Which symbols does "é" have?""")
mistake("code-points", "byte_of[symbol] for symbol in tokens[index]", "ord(symbol) % 256 for symbol in tokens[index]"
        ).explain("""
    the code points of the symbols were used as bytes
    why: That is right for visible bytes only. Ġ has the code point 288, but stands for byte 32.
    ask: How do you find the byte of a symbol?""")  # fmt: skip
mistake("joined-with-spaces", "data += bytes(", 'data += (b" " if data else b"") + bytes(').explain("""
    the tokens were joined with spaces
    why: Spaces are part of the tokens. Two tokens of one word have none between them.
    ask: What does your function return for the two tokens of " lowest"?""")
mistake("text-stripped", 'errors="replace")', 'errors="replace").strip()').explain("""
    whitespace at the ends of the text was dropped
    why: Decoding must give back exactly the text that was encoded.
    ask: What does your function return for the token of " low"?""")
mistake("reversed", ".tolist()", ".tolist()[::-1]").explain("""
    the ids were read in reverse order
    why: The text has the order of the ids.
    ask: Which token comes first in your text?""")
mistake("key-error", "if index not in tokens:", "if False:").explain("""
    an unknown id raises a KeyError, not a ValueError
    why: The docstring asks for a ValueError with the id.
    ask: What does Python do if a dictionary does not have a key, and what should your function do?""")
mistake("unknown-skipped", 'raise ValueError(f"the id {index} is not in the vocabulary")', "continue").explain("""
    unknown ids were skipped
    why: A wrong id then goes unnoticed, for example one of another tokenizer.
    ask: What should happen to an id that no token has?""")
mistake(
    "unknown-replaced",
    'raise ValueError(f"the id {index} is not in the vocabulary")',
    'data += "\\ufffd".encode("utf-8")\n            continue',
).explain("""
    unknown ids became U+FFFD
    why: This character stands for bytes that are not valid UTF-8. An unknown id is an error.
    ask: Which of the two does the docstring say about ids that are not in `vocab`?""")
mistake("negative-from-the-end", "    data = bytearray()",
        "    ids = [i % len(tokens) if -len(tokens) <= i < 0 else i for i in ids]\n    data = bytearray()"
        ).explain("""
    negative ids were counted from the end of the vocabulary
    why: A list of the tokens does that by itself. -1 is no id, and should be a ValueError.
    ask: What is tokens[-1] if `tokens` is a list?""")  # fmt: skip
mistake("position-for-id", "{index: token for token, index in vocab.items()}", "dict(enumerate(vocab))").explain("""
    the id was taken for the place of the token in the dictionary
    why: Ids may be in any order, as in GPT-2's file. Only the values of `vocab` say which id a token has.
    ask: Where in `vocab` are the ids?""")
mistake("sorted-tokens", "{index: token for token, index in vocab.items()}", "dict(enumerate(sorted(vocab)))").explain(
    """
    the tokens were sorted, and numbered again
    why: Ids are not the places in sorted order. The values of `vocab` are the ids.
    ask: Where in `vocab` are the ids?"""
)
mistake("list-returned", 'return data.decode("utf-8", errors="replace")',
        'return [bytes(byte_of[symbol] for symbol in tokens[int(index)]).decode("utf-8", errors="replace") '
        "for index in ids]").explain("""
    a list of texts was returned, not one text
    why: The bytes of all tokens belong together, and so does the text.
    ask: What is the type of your result?""")  # fmt: skip
mistake("arrays-only", "np.asarray(ids, dtype=np.int64).tolist()", "ids.tolist()").explain("""
    a list of ids was not accepted
    why: Only arrays have the method tolist. np.asarray turns a list into an array first.
    ask: What does your function do with [1, 2]?""")
mistake("empty-refused", "    data = bytearray()",
        "    if len(ids) == 0:\n        raise ValueError('there are no ids')\n    data = bytearray()").explain("""
    an empty list of ids was not accepted
    why: No ids are the empty text.
    ask: What does "".join([]) return?""")  # fmt: skip
mistake("message-without-id", "the id {index} is not in the vocabulary", "an id is not in the vocabulary").explain("""
    the message does not contain the unknown id
    why: The reader wants to know which id it was.
    ask: Which values does your message contain?""")
mistake("repeated-ids-dropped", ".tolist():", ".tolist() if False else dict.fromkeys(np.asarray(ids).tolist()):"
        ).explain("""
    ids that occur several times were decoded once
    why: Each id adds its token, however often it has occurred.
    ask: What does your function return for the same id twice?""")  # fmt: skip
