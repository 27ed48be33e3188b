"""Checks of `gradients`: difference quotients, broadcasting, matrix products and reverse mode over a tape."""

import numpy as np
import pytest

from autograder.core.wire_format import FunctionOf
from autograder.engine.comparison.compare import TOLERANCES, Tolerance
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32
# With the default step, the rounding errors of f are multiplied by half a million.
ROUNDED = Tolerance(relative=1e-7, floor=1e-8)

SQUARES, SINES, CUBE = "sum(w * x**2)", "sum(w * sin(x))", "sum(w * x)**3"


@graded("gradients.numerical_gradient")
def test_squares(agree: Agree, draw: RandomInputs) -> None:
    """A sum of squares: three numbers, then random ones"""
    agree(FunctionOf(SQUARES, np.ones(3)), np.array([1.0, 2.0, -3.0]), eps=0.5)
    agree(FunctionOf(SQUARES, draw.normal(5)), draw.normal(5), eps=0.25)


@graded("gradients.numerical_gradient")
def test_central(agree: Agree, draw: RandomInputs) -> None:
    """Functions that bend: the difference is a central one, and the step is `eps`"""
    agree(FunctionOf(SINES, draw.normal(4)), draw.normal(4), eps=0.5)
    agree(FunctionOf(CUBE, draw.normal(4)), draw.normal(4), eps=0.25)
    agree(FunctionOf(CUBE, draw.normal(4)), draw.normal(4), 0.125)


@graded("gradients.numerical_gradient")
def test_any_shape(agree: Agree, draw: RandomInputs) -> None:
    """Matrices, 3-D and 4-D arrays, a single number, an array of length 1"""
    for shape in ((3, 4), (2, 3, 4), (2, 1, 3, 2), (), (1,)):
        agree(FunctionOf(CUBE, draw.normal(*shape)), draw.normal(*shape), eps=0.125)


@graded("gradients.numerical_gradient")
def test_default_step(agree: Agree, draw: RandomInputs) -> None:
    """The default step, 1e-6"""
    agree(FunctionOf(SINES, draw.normal(2, 3)), draw.normal(2, 3), tolerance=ROUNDED)
    # Large weights make the error of the central difference visible, which depends on the step.
    agree(FunctionOf(CUBE, draw.normal(6, scale=1000.0)), draw.normal(6, scale=0.001))


@graded("gradients.numerical_gradient", points=0.5)
def test_float64(agree: Agree, draw: RandomInputs) -> None:
    """Integers and float32 are converted to float64"""
    agree(FunctionOf(CUBE, draw.uniform(2, 3, low=1.0, high=2.0)), draw.integers(2, 3, low=1, high=6), eps=0.125)
    agree(FunctionOf(SINES, draw.normal(4)), draw.normal(4, dtype=FLOAT32), tolerance=ROUNDED)


@graded("gradients.numerical_gradient", points=0.25)
def test_calls(agree: Agree, draw: RandomInputs) -> None:
    """`f` is called at most twice for each entry"""
    agree(FunctionOf(CUBE, draw.normal(2, 3), max_calls=12), draw.normal(2, 3), eps=0.125)


@graded("gradients.numerical_gradient")
def test_point_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """`x` is not changed, not even in its last digit"""
    unmodified(FunctionOf(CUBE, draw.normal(3, 4)), draw.normal(3, 4) / 3)


@graded("gradients.sum_to_shape")
def test_added_axes(agree: Agree, draw: RandomInputs) -> None:
    """Axes that were added in front"""
    agree(np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]), (3,))
    agree(draw.normal(2, 3, 4), (4,))
    agree(draw.normal(2, 3, 4), (3, 4))
    agree(draw.normal(5, 2, 3, 4), (3, 4))


@graded("gradients.sum_to_shape")
def test_repeated_axes(agree: Agree, draw: RandomInputs) -> None:
    """Axes of length 1 that were repeated stay, with length 1"""
    agree(np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]), (2, 1))
    for shape in ((1, 3, 4), (2, 1, 4), (2, 3, 1), (2, 1, 1), (1, 1, 1)):
        agree(draw.normal(2, 3, 4), shape)


@graded("gradients.sum_to_shape")
def test_added_and_repeated(agree: Agree, draw: RandomInputs) -> None:
    """Both kinds of axes at once, and a single number"""
    agree(draw.normal(5, 4, 2, 3), (4, 1, 3))
    agree(draw.normal(5, 4, 2, 3), (1, 1))
    agree(draw.normal(3, 3, 3), (3, 1))
    agree(draw.normal(2, 3), ())


@graded("gradients.sum_to_shape", alone=False)
def test_same_shape(agree: Agree, draw: RandomInputs) -> None:
    """Nothing was broadcast: the gradient stays as it is, also where its axes have length 1"""
    agree(draw.normal(2, 3), (2, 3))
    agree(draw.normal(3, 3), (3, 3))
    agree(draw.normal(4, 1, 3), (4, 1, 3))
    agree(draw.normal(), ())


@graded("gradients.sum_to_shape")
def test_sum_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(2, 3, 4, dtype=FLOAT32), (3, 1))


@graded("gradients.sum_to_shape")
def test_gradient_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The gradient passed in is not changed"""
    unmodified(draw.normal(2, 3, 4), (3, 1))


@graded("gradients.matmul_backward")
def test_matrices(agree: Agree, draw: RandomInputs) -> None:
    """Two matrices: 2 × 2, then of different sizes"""
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
    agree(np.array([[1.0, 0.5], [-2.0, 3.0]]), a, b)
    agree(draw.normal(2, 4), draw.normal(2, 3), draw.normal(3, 4))


@graded("gradients.matmul_backward")
def test_square_matrices(agree: Agree, draw: RandomInputs) -> None:
    """Square matrices, where every product has the right shape"""
    agree(draw.normal(4, 4), draw.normal(4, 4), draw.normal(4, 4))


@graded("gradients.matmul_backward")
def test_batch(agree: Agree, draw: RandomInputs) -> None:
    """Batch and head axes in both factors"""
    agree(draw.normal(5, 2, 4), draw.normal(5, 2, 3), draw.normal(5, 3, 4))
    agree(draw.normal(2, 5, 3, 6), draw.normal(2, 5, 3, 4), draw.normal(2, 5, 4, 6))


@graded("gradients.matmul_backward")
def test_one_right_matrix(agree: Agree, draw: RandomInputs) -> None:
    """The right factor is a single matrix, used for the whole batch"""
    agree(draw.normal(5, 2, 4), draw.normal(5, 2, 3), draw.normal(3, 4))
    agree(draw.normal(2, 5, 3, 6), draw.normal(2, 5, 3, 4), draw.normal(4, 6))


@graded("gradients.matmul_backward")
def test_one_left_matrix(agree: Agree, draw: RandomInputs) -> None:
    """The left factor is a single matrix, used for the whole batch"""
    agree(draw.normal(5, 2, 4), draw.normal(2, 3), draw.normal(5, 3, 4))
    agree(draw.normal(2, 5, 3, 6), draw.normal(3, 4), draw.normal(2, 5, 4, 6))


@graded("gradients.matmul_backward", points=0.5)
def test_repeated_right(agree: Agree, draw: RandomInputs) -> None:
    """The right factor has a leading axis of length 1"""
    agree(draw.normal(5, 2, 4), draw.normal(5, 2, 3), draw.normal(1, 3, 4))
    agree(draw.normal(5, 6, 2, 4), draw.normal(5, 6, 2, 3), draw.normal(5, 1, 3, 4))


@graded("gradients.matmul_backward", points=0.5)
def test_repeated_left(agree: Agree, draw: RandomInputs) -> None:
    """The left factor has a leading axis of length 1"""
    agree(draw.normal(5, 2, 4), draw.normal(1, 2, 3), draw.normal(5, 3, 4))
    agree(draw.normal(5, 6, 2, 4), draw.normal(5, 1, 2, 3), draw.normal(5, 6, 3, 4))


@graded("gradients.matmul_backward")
def test_both_broadcast(agree: Agree, draw: RandomInputs) -> None:
    """Both factors are broadcast, each along another axis"""
    agree(draw.normal(5, 6, 2, 4), draw.normal(5, 1, 2, 3), draw.normal(6, 3, 4))
    agree(draw.normal(5, 6, 2, 4), draw.normal(1, 6, 2, 3), draw.normal(5, 1, 3, 4))


@graded("gradients.matmul_backward")
def test_rows_and_columns(agree: Agree, draw: RandomInputs) -> None:
    """A row times a column, and a column times a row"""
    agree(draw.normal(1, 1), draw.normal(1, 5), draw.normal(5, 1))
    agree(draw.normal(3, 4), draw.normal(3, 1), draw.normal(1, 4))


@graded("gradients.matmul_backward")
def test_matmul_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(*(draw.normal(*shape, dtype=FLOAT32) for shape in ((5, 2, 4), (5, 2, 3), (3, 4))))


@graded("gradients.matmul_backward")
def test_factors_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(5, 2, 4), draw.normal(5, 2, 3), draw.normal(3, 4))


# tanh(w · x + b), the example of the lesson
NEURON = [("mul", (0, 1)), ("add", (3, 2)), ("tanh", (4,))]
# The sum of (tanh(x W + b) V + c)², with the inputs x, W, b, V, c: two layers, and every kind of broadcasting.
LAYERS = [
    ("matmul", (0, 1)),
    ("add", (5, 2)),
    ("tanh", (6,)),
    ("matmul", (7, 3)),
    ("add", (8, 4)),
    ("mul", (9, 9)),
    ("sum", (10,)),
]
# x is used twice. A gradient that add has stored for it without a copy is changed by its other use.
SHARED = [("tanh", (0,)), ("add", (0, 1)), ("mul", (2, 3)), ("sum", (4,))]
# log Σ exp(x), and x · exp(x), of which the first result is used three times
LOG_SUM = [("exp", (0,)), ("sum", (1,)), ("log", (2,))]
USED_OFTEN = [("exp", (0,)), ("mul", (0, 1)), ("mul", (2, 0)), ("sum", (3,))]
# Σ log(x) · y, with an input z in between that is not used
UNUSED = [("log", (0,)), ("mul", (3, 2)), ("sum", (4,))]


def _layers(draw: RandomInputs, *batch: int) -> list[np.ndarray]:
    x, c = draw.normal(*batch, 2, 3), draw.normal(*batch, 2, 5)
    return [x, draw.normal(3, 4), draw.normal(4), draw.normal(4, 5), c]


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_neuron(agree: Agree, draw: RandomInputs) -> None:
    """The example of the lesson, and three other numbers"""
    agree(NEURON, [np.array(2.0), np.array(0.5), np.array(-0.8)])
    agree(NEURON, [draw.normal(), draw.normal(), draw.normal()])


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_one_operation(agree: Agree, draw: RandomInputs) -> None:
    """One operation, then a weighted sum: each of them in turn"""
    x, y, weights = draw.uniform(2, 3, low=0.5, high=2.0), draw.normal(2, 3), draw.normal(2, 3)
    for op in ("exp", "tanh", "log"):
        agree([(op, (0,)), ("mul", (2, 1)), ("sum", (3,))], [x, weights])
    for op in ("add", "mul"):
        agree([(op, (0, 1)), ("mul", (3, 2)), ("sum", (4,))], [x, y, weights])
    agree([("matmul", (0, 1)), ("mul", (3, 2)), ("sum", (4,))], [x, draw.normal(3, 4), draw.normal(2, 4)])
    agree([("sum", (0,)), ("mul", (1, 1))], [x])


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_layers(agree: Agree, draw: RandomInputs) -> None:
    """Two layers with all their inputs, without and with a batch axis"""
    agree(LAYERS, _layers(draw))
    agree(LAYERS, _layers(draw, 6))


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_tape_matmul(agree: Agree, draw: RandomInputs) -> None:
    """Products of square matrices, of batches, and of one matrix with a batch"""
    tape = [("matmul", (0, 1)), ("tanh", (2,)), ("sum", (3,))]
    agree(tape, [draw.normal(3, 3), draw.normal(3, 3)])
    agree(tape, [draw.normal(5, 2, 3), draw.normal(5, 3, 4)])
    agree(tape, [draw.normal(2, 3), draw.normal(5, 3, 4)])


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_broadcasting(agree: Agree, draw: RandomInputs) -> None:
    """Add and mul of different shapes: a row, a column, a single number, on either side"""
    table = draw.normal(3, 4)
    for op in ("add", "mul"):
        for shape in ((4,), (3, 1), (), (2, 3, 4)):
            other = draw.normal(*shape)
            agree([(op, (0, 1)), ("tanh", (2,)), ("sum", (3,))], [table, other])
            agree([(op, (0, 1)), ("tanh", (2,)), ("sum", (3,))], [other, table])


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_several_uses(agree: Agree, draw: RandomInputs) -> None:
    """Values that are used several times"""
    agree([("mul", (0, 0))], [np.array(3.0)])
    agree(USED_OFTEN, [draw.normal(2, 3)])
    agree([("add", (0, 0)), ("exp", (1,)), ("mul", (1, 2)), ("sum", (3,))], [draw.normal(4)])
    agree(LOG_SUM, [draw.normal(5)])
    agree(SHARED, [draw.normal(2, 3), draw.normal(2, 3)])


@graded("gradients.tape_gradients")
def test_unused_input(agree: Agree, draw: RandomInputs) -> None:
    """Inputs and results that do not lead to the last result"""
    x = draw.uniform(2, 3, low=0.5, high=2.0)
    agree(UNUSED, [x, draw.normal(4), draw.normal(3)])
    agree([("exp", (0,)), ("tanh", (1,)), ("mul", (0, 0)), ("sum", (4,))], [x, draw.normal(2)])


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_tape_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    float32 = TOLERANCES[np.dtype(FLOAT32)]
    agree(LAYERS, [x.astype(FLOAT32) for x in _layers(draw, 2)], tolerance=float32)


@graded("gradients.tape_values", "gradients.tape_gradients")
def test_tape_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(LAYERS, _layers(draw))
    unmodified(USED_OFTEN, [draw.normal(2, 3)])


@graded("gradients.tape_values", "gradients.tape_gradients", points=0.25)
def test_unknown_operation(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an unknown operation"""
    refuses([("exp", (0,)), ("sin", (1,)), ("sum", (2,))], [draw.normal(3)])


@graded("gradients.tape_values", points=0.25)
def test_operation_is_named(refuses: Refuses, draw: RandomInputs) -> None:
    """The message of the error contains the name of the operation"""
    refuses([("exp", (0,)), ("sin", (1,)), ("sum", (2,))], [draw.normal(3)], about="sin")


@graded("gradients.tape_gradients", points=0.25)
def test_last_value(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the last result is a vector"""
    refuses([("exp", (0,))], [draw.normal(4)])


@graded("gradients.tape_gradients", points=0.25)
def test_last_matrix(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the last result is a matrix"""
    refuses([("exp", (0,))], [draw.normal(2, 3)])
