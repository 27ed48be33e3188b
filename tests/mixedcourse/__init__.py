"""A course that reuses an assignment of the built-in course. Its own assignment also imports one that it leaves out."""

from autograder.course import Assignment, Curriculum, Function, Output
from autograder.course.selection import built_in_assignments, numbered

POOLING = Assignment(
    0,
    "pooling",
    "Pooling",
    (
        Function("pooling", "weighted_mean", (Output("mean", ("column",)),), "", needs=("softmax.softmax",)),
        Function("pooling", "causal_count", (Output("count", ("position",)),), "", needs=("attention.causal_mask",)),
    ),
)
COURSE = Curriculum(
    numbered(*built_in_assignments("softmax"), POOLING),
    name="mixed",
    package="mixedcourse",
    title="Softmax and pooling",
)
