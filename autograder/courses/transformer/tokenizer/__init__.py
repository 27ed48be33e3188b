"""Text as numbers."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("token-ids", "tokenizer.plots:token_ids", needs="tokenizer.build_vocab tokenizer.encode",
         title="A text as the model sees it", caption="The same character has the same height wherever it appears."),
)  # fmt: skip

FUNCTIONS = (
    function("build_vocab", "chars; stoi; itos", "", minutes=10, difficulty=1),
    function("encode", "ids position", "", minutes=10, difficulty=1),
    function("decode", "text", "", minutes=5, difficulty=1),
    function("train_val_split", "train position; val position", "", minutes=5, difficulty=1),
    function("get_batch", "x row position; y row position", "", minutes=25, difficulty=2),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Text as numbers",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Your model can now read: text becomes ids, and ids become text again.",
)
