"""The same function, faster."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("online_softmax_step", "maximum batch query; total batch query; weighted batch query value",
             "exp and sum", minutes=30, difficulty=2),
    function("blocked_attention", "out batch query value", "scaled_dot_product_attention", minutes=45, difficulty=3,
             needs="fast.online_softmax_step"),
    function("quantize", "W8 in out; scales out", "round", minutes=25, difficulty=1),
    function("int8_linear", "y batch out", "matmul", minutes=10, difficulty=1),
    function("accept_draft", "ids token", "relu and cumsum", minutes=40, difficulty=2,
             needs="generation.sample"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "The same function, faster",
    *FUNCTIONS,
    outcome="Your code can now read long texts in little memory, and a small model drafts what your large one writes.",
)
