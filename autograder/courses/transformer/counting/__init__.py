"""The first text: counting pairs of tokens, and drawing from the counts."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("bigram_counts", "probs token next_token", "product of one_hot rows", minutes=20, difficulty=2),
    function("draw", "token", "", minutes=10, difficulty=1),
    function("write_text", "tokens", "", minutes=5, difficulty=1, needs="counting.draw"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Counting: the first text",
    *FUNCTIONS,
    outcome="You have written a program that writes: it invents names, letter by letter.",
)
