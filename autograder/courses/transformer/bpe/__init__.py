"""Byte-pair encoding."""

from autograder.course.declare import assignment, function

ASSIGNMENT = assignment(
    "Byte-pair encoding",
    function("byte_symbols", "symbols", "", minutes=15, difficulty=1),
    function("split_text", "pieces", "", minutes=20, difficulty=2),
    function("train_bpe", "merges", "", needs="bpe.byte_symbols bpe.split_text", minutes=50, difficulty=3),
    function("bpe_encode", "ids position", "", needs="bpe.byte_symbols bpe.split_text", minutes=40, difficulty=2),
    function("bpe_decode", "text", "", needs="bpe.byte_symbols", minutes=15, difficulty=1),
    outcome="You can now split any text into the tokens of GPT-2, and join them again.",
)
