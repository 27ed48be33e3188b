"""Text as numbers."""

from autograder.curriculum.declare import assignment, function

ASSIGNMENT = assignment(
    "Text as numbers",
    function("build_vocab", "chars; stoi; itos", "", minutes=10, difficulty=1),
    function("encode", "ids position", "", minutes=15, difficulty=1),
    function("decode", "text", "", minutes=10, difficulty=1),
    function("train_val_split", "train position; val position", "", minutes=10, difficulty=1),
    function("get_batch", "x row position; y row position", "", minutes=25, difficulty=2),
    outcome="Your model can now read: text becomes ids, and ids become text again.",
)
