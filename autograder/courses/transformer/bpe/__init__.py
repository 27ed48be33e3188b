"""Byte-pair encoding."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("byte_symbols", "symbols", "", minutes=15, difficulty=1),
    function("split_text", "pieces", "", minutes=20, difficulty=2),
    function("train_bpe", "merges", "", minutes=50, difficulty=3, needs="bpe.byte_symbols bpe.split_text"),
    function("bpe_encode", "ids position", "", minutes=40, difficulty=2, needs="bpe.byte_symbols bpe.split_text"),
    function("bpe_decode", "text", "", minutes=15, difficulty=1, needs="bpe.byte_symbols"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Byte-pair encoding",
    *FUNCTIONS,
    outcome="You can now split any text into the tokens of GPT-2, and join them again.",
)
