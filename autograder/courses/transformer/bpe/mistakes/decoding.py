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
    ask: What is bytes([228, 33]).decode("utf-8", errors="ignore")? Does it show that a byte was lost?""")
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
mistake("symbols-kept", "return data.", 'return "".join(tokens[index] for index in ids) or data.').explain(
    """
    the symbols of the bytes were returned, not the text
    why: Tokens are made of symbols, such as Ġ for the space. They must be turned into bytes and decoded.
    ask: What is the token of " low", and what is its text?"""
)
mistake("key-error", "if index not in tokens:", "if False:").explain("""
    an unknown id raises a KeyError, not a ValueError
    why: A KeyError shows the id, but does not say that the vocabulary lacks it. A ValueError can say both.
    ask: What does Python do if a dictionary does not have a key, and what should your function do?""")
mistake("unknown-skipped", 'raise ValueError(f"the id {index} is not in the vocabulary")', "continue").explain("""
    unknown ids were skipped
    why: A wrong id then goes unnoticed, for example one of another tokenizer.
    ask: What should happen to an id that no token has?""")
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
