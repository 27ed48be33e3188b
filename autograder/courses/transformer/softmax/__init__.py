"""Softmax and cross-entropy."""

from autograder.curriculum.declare import assignment, function

ASSIGNMENT = assignment(
    "Softmax and cross-entropy",
    function("softmax", "probs row class", "softmax", minutes=25, difficulty=2),
    function("log_softmax", "log_probs row class", "log_softmax", minutes=15, difficulty=2),
    function("cross_entropy", "loss", "cross_entropy", minutes=25, difficulty=2),
    function("softmax_backward", "dx row class", "gradient of softmax", minutes=40, difficulty=3),
    function("cross_entropy_backward", "dlogits row class", "gradient of cross_entropy", minutes=30, difficulty=3),
    outcome="Your model can now turn scores into probabilities, and you can measure how wrong they are.",
)
