"""The bigram model."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("generate_bigram", "ids position", "", minutes=15, difficulty=1, needs="counting.draw softmax.softmax"),
    function("bigram_loss", "loss; dW token next_token", "embedding and cross_entropy", minutes=20, difficulty=2,
             needs="softmax.cross_entropy softmax.cross_entropy_backward"),
    function("sgd_step", "W token next_token", "optim.SGD", minutes=5, difficulty=1),
    function("train_bigram", "W token next_token; losses", "loop with optim.SGD", minutes=10, difficulty=1,
             needs="bigram.bigram_loss bigram.sgd_step"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "The bigram model",
    *FUNCTIONS,
    outcome="You have a language model that learns, and it learns what you counted.",
    command="headway train --preset bigram --out bigram.safetensors",
)
