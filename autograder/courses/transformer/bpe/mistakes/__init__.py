"""Mistakes in `bpe`: the symbols of bytes. Those of the other functions are in modules of their own."""

from autograder.courses.transformer.bpe.mistakes.decoding import MISTAKES as DECODING
from autograder.courses.transformer.bpe.mistakes.encoding import MISTAKES as ENCODING
from autograder.courses.transformer.bpe.mistakes.pieces import MISTAKES as PIECES
from autograder.courses.transformer.bpe.mistakes.training import MISTAKES as TRAINING
from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes(PIECES, TRAINING, ENCODING, DECODING)

mistake = MISTAKES.for_functions("bpe.byte_symbols")
mistake("others-from-257", "chr(256 + i)", "chr(257 + i)").explain("""
    the symbols of the invisible bytes begin at code point 257, not at 256
    why: All 68 symbols are then off by one: the space becomes another character than Ġ, and no token of GPT-2's
         files with a space in it is found.
    ask: Which symbol should byte 0 have, and what is its code point?""")
for name, old, new, what in (
    ("tilde", "range(33, 127)", "range(33, 126)", "126, the tilde,"),
    ("172", "range(161, 173)", "range(161, 172)", "172"),
):
    mistake(f"{name}-not-visible", old, new).explain(f"""
        byte {what} was not counted as visible
        why: range excludes its end. A byte too many is then among the others, and moves those after it by one.
        ask: Which is the last number of each of your ranges?""")
mistake("173-visible", "range(161, 173)", "range(161, 174)").explain("""
    byte 173, the soft hyphen, was counted as visible
    why: It cannot be seen, so it needs another symbol; and all bytes after it that need one are moved.
    ask: How many bytes are shown as themselves in your table? There should be 188.""")
mistake("byte-added-to-256", "chr(256 + i)", "chr(256 + byte)").explain("""
    the invisible bytes have the code points 256 + byte, not 256, 257, … without gaps
    why: GPT-2 numbers these 68 bytes in order: byte 127 is the 34th of them, and so it is chr(256 + 33).
    ask: How many bytes before 127 need another symbol?""")
mistake("exchanged", "byte: chr(byte)", "chr(byte): byte", "byte: chr(256 + i)", "chr(256 + i): byte").explain("""
    the table is the wrong way round: symbol -> byte
    why: Encoding looks up the symbol of a byte. Decoding needs the other direction, and can turn the table around.
    ask: What is symbols[65] in your table?""")  # fmt: skip
mistake("others-missing", " | {byte: chr(256 + i) for i, byte in enumerate(others)}", "").explain("""
    the bytes that are not visible are missing from the table
    why: Without them a text with a space or an accent cannot be encoded.
    ask: How many entries does your table have? How many bytes are there?""")
mistake("others-in-descending-order", "for byte in range(256) if", "for byte in range(255, -1, -1) if").explain("""
    the other bytes were numbered in descending order
    why: Byte 0 is the first of them, and its symbol is chr(256).
    ask: Which symbols do the bytes 0, 1 and 2 have in your table?""")
mistake("half-of-the-bytes", "range(256)", "range(128)", "byte in visible", "byte in visible if byte < 128").explain("""
    the table ends at byte 127
    why: Only ASCII has 128 characters. The bytes of accents, other scripts and emoji are above 127.
    ask: What is the largest number in list("é".encode("utf-8"))?""")  # fmt: skip
mistake("as-a-list", "return {byte: chr(byte)", "return list(({byte: chr(byte)",
        "for i, byte in enumerate(others)}", "for i, byte in enumerate(others)}).values())").explain("""
    a list was returned, not a dict
    why: The table for the way back is made with .items(), which a list does not have.
    ask: How do you find the byte of a symbol if the table is a list?""")  # fmt: skip
mistake("symbols-as-numbers", "chr(byte) for", "byte for", "chr(256 + i)", "256 + i").explain("""
    the symbols are code points, not characters
    why: Tokens are strings, which are joined from the symbols.
    ask: What does chr do?""")
mistake("hexadecimal", "chr(256 + i)", 'f"<0x{byte:02X}>"').explain("""
    the invisible bytes are written as hexadecimal numbers
    why: Other tokenizers write them like that. In GPT-2's files each byte is one character.
    ask: How long is the symbol of the space in your table?""")
