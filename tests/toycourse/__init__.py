"""A course of two functions, as a third party's package would bring it. The least that there is to write."""

from autograder.course import Assignment, Curriculum, Function, Output

COURSE = Curriculum(
    (
        Assignment(
            1,
            "averages",
            "Mean and variance",
            (
                Function("averages", "mean_of", (Output("mean", ("row",)),), "", minutes=5, difficulty=1),
                Function(
                    "averages",
                    "variance",
                    (Output("variance", ("row",)),),
                    "",
                    needs=("averages.mean_of",),
                    minutes=10,
                    difficulty=2,
                ),
            ),
        ),
    ),
    name="toy",
    package="toycourse",
    title="Mean and variance",
)
