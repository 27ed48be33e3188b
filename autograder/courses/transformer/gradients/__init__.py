"""Gradients."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("numerical_gradient", "gradient", "central differences in float64", minutes=35, difficulty=1),
    function("sum_to_shape", "gradient", "gradient of broadcast_to", minutes=30, difficulty=2),
    function("matmul_backward", "da batch row inner; db batch inner column", "gradient of matmul", minutes=45,
             difficulty=3, needs="gradients.sum_to_shape"),
    function("tape_values", "values", "the same operations", minutes=25, difficulty=1),
    function("tape_gradients", "gradients", "autograd.grad", minutes=60, difficulty=3,
             needs="gradients.tape_values gradients.matmul_backward gradients.sum_to_shape"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Gradients",
    *FUNCTIONS,
    outcome="You can now compute how a result changes with each number behind it. Training uses these gradients.",
)
