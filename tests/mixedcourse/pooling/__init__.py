"""Pooling."""

from autograder.course.declare import assignment, function

ASSIGNMENT = assignment(
    "Pooling",
    function("weighted_mean", "mean column", needs="softmax.softmax"),
    function("causal_count", "count position", needs="attention.causal_mask"),
)
