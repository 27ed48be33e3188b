"""Mean and variance."""

from autograder.course.declare import assignment, function

ASSIGNMENT = assignment(
    "Mean and variance",
    function("mean_of", "mean row", minutes=5, difficulty=1),
    function("variance", "variance row", needs="averages.mean_of", minutes=10, difficulty=2),
)
