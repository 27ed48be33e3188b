"""Mistakes in assignment 2 about axes: along which one the maximum and the sum are taken, and whether it is kept."""

from autograder.engine.diagnosis.mistake import Mistake

AXES = (
    # --- softmax
    Mistake(
        "softmax.softmax",
        "sum-over-everything",
        "the sum went over the whole array, not over one row",
        "All rows together add up to 1, when each row should. With a single row nothing shows.",
        "How many sums does a batch of four rows need? What does .sum() without an axis give?",
        edits=(("z.sum(axis=axis, keepdims=True)", "z.sum()"),),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "first-axis-always",
        "the axis argument is ignored: it is always the first axis",
        "The entries of a column compete with each other instead of those of a row.",
        "Add up your result along each axis in turn. Along which one is it 1, and along which one should it be?",
        edits=(
            ("z.max(axis=axis", "z.max(axis=0"),
            ("z.sum(axis=axis", "z.sum(axis=0"),
        ),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "keepdims-forgotten",
        "keepdims=True is missing from the maximum and the sum",
        "Without it the axis is gone, and NumPy matches the row maxima with the wrong axis: an error for most shapes, "
        "silently wrong numbers for a square matrix.",
        "Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?",
        edits=(
            ("z.max(axis=axis, keepdims=True)", "z.max(axis=axis)"),
            ("z /= z.sum(axis=axis, keepdims=True)", "z = z / z.sum(axis=axis)"),
        ),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "keepdims-forgotten-in-sum",
        "keepdims=True is missing from the sum",
        "Without it the axis is gone, and NumPy divides along the wrong axis: an error for most shapes, silently wrong "
        "numbers for a square matrix.",
        "Print the shape of the exponentials and the shape of their sum. How does broadcasting line the two up?",
        edits=(("z /= z.sum(axis=axis, keepdims=True)", "z = z / z.sum(axis=axis)"),),
        common=True,
    ),
    Mistake(
        "softmax.softmax",
        "keepdims-forgotten-in-maximum",
        "keepdims=True is missing from the maximum",
        "Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently "
        "wrong numbers for a square matrix.",
        "Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?",
        edits=(("z.max(axis=axis, keepdims=True)", "z.max(axis=axis)"),),
    ),
    Mistake(
        "softmax.softmax",
        "whole-array",
        "the maximum and the sum went over the whole array, not over one row",
        "All rows together add up to 1, when each row should. With a single row nothing shows.",
        "How many sums does a batch of four rows need? What do .max() and .sum() without an axis give?",
        edits=(("z.max(axis=axis, keepdims=True)", "z.max()"), ("z.sum(axis=axis, keepdims=True)", "z.sum()")),
    ),
    Mistake(
        "softmax.softmax",
        "maximum-of-everything",
        "the largest number of the whole array was subtracted, not the largest of each row",
        "A row that lies far below the largest number becomes 0 everywhere, and 0 / 0 is nan.",
        "Which number makes the largest exponent of *every* row 0? What does .max() without an axis give?",
        edits=(("z.max(axis=axis, keepdims=True)", "z.max()"),),
    ),
    Mistake(
        "softmax.softmax",
        "second-axis-always",
        "the axis argument is ignored: it is always axis 1",
        "For a matrix that is the last axis. A single row has no axis 1, and in a batch it is another one.",
        "Which of your operations know about `axis`? All of those that look along the row have to.",
        edits=(("z.max(axis=axis", "z.max(axis=1"), ("z.sum(axis=axis", "z.sum(axis=1")),
    ),
    Mistake(
        "softmax.softmax",
        "matrices-only",
        "it works for the rows of a matrix only",
        "A loop over the first axis meets single numbers in a vector, and whole matrices in a batch.",
        "What is x[0] if x has one axis, and what is it if x has three? Which operation needs no loop over rows?",
        body="""
    z = as_float(x)
    out = np.empty_like(z)
    for i in range(len(z)):
        row = np.exp((z[i] - z[i].max()) / float(temperature))
        out[i] = row / row.sum()
    return out
""",
    ),
    Mistake(
        "softmax.softmax",
        "no-exponential",
        "the scores were divided by their sum, without the exponential",
        "Scores may be negative or add up to 0; probabilities may not.",
        "What makes a positive number of any number, and a larger one of a larger one?",
        edits=(("(z - z.max(axis=axis, keepdims=True))", "(z + 0.0)"), ("np.exp(z, out=z)", "pass")),
    ),
    # --- log_softmax
    Mistake(
        "softmax.log_softmax",
        "sum-over-everything",
        "the sum went over the whole array, not over one row",
        "The exponentials of all rows together add up to 1, when those of each row should. With a single row nothing "
        "shows.",
        "How many sums does a batch of four rows need? What does .sum() without an axis give?",
        edits=((".sum(axis=axis, keepdims=True)", ".sum()"),),
        common=True,
    ),
    Mistake(
        "softmax.log_softmax",
        "whole-array",
        "the maximum and the sum went over the whole array, not over one row",
        "The exponentials of all rows together add up to 1, when those of each row should. With a single row nothing "
        "shows.",
        "How many sums does a batch of four rows need? What do .max() and .sum() without an axis give?",
        edits=(("z.max(axis=axis, keepdims=True)", "z.max()"), (".sum(axis=axis, keepdims=True)", ".sum()")),
    ),
    Mistake(
        "softmax.log_softmax",
        "maximum-of-everything",
        "the largest number of the whole array was subtracted, not the largest of each row",
        "A row that lies far below the largest number becomes 0 everywhere, and the logarithm of 0 is -inf.",
        "Which number makes the largest exponent of *every* row 0? What does .max() without an axis give?",
        edits=(("z.max(axis=axis, keepdims=True)", "z.max()"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "first-axis-always",
        "the axis argument is ignored: it is always the first axis",
        "The entries of a column compete with each other instead of those of a row.",
        "Add up the exponentials of your result along each axis in turn. Along which one is it 1?",
        edits=(("z.max(axis=axis", "z.max(axis=0"), (".sum(axis=axis", ".sum(axis=0")),
        common=True,
    ),
    Mistake(
        "softmax.log_softmax",
        "second-axis-always",
        "the axis argument is ignored: it is always axis 1",
        "For a matrix that is the last axis; in a batch it is another one.",
        "Which of your operations know about `axis`? All of those that look along the row have to.",
        edits=(("z.max(axis=axis", "z.max(axis=1"), (".sum(axis=axis", ".sum(axis=1")),
    ),
    Mistake(
        "softmax.log_softmax",
        "keepdims-forgotten",
        "keepdims=True is missing from the maximum and the sum",
        "Without it the axis is gone, and NumPy matches the row maxima with the wrong axis: an error for most shapes, "
        "silently wrong numbers for a square matrix.",
        "Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?",
        edits=(
            ("z.max(axis=axis, keepdims=True)", "z.max(axis=axis)"),
            (".sum(axis=axis, keepdims=True)", ".sum(axis=axis)"),
        ),
        common=True,
    ),
    Mistake(
        "softmax.log_softmax",
        "keepdims-forgotten-in-sum",
        "keepdims=True is missing from the sum",
        "Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently "
        "wrong numbers for a square matrix.",
        "Print the shape of the scores and the shape of the logarithm of the sum. How does broadcasting line them up?",
        edits=((".sum(axis=axis, keepdims=True)", ".sum(axis=axis)"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "keepdims-forgotten-in-maximum",
        "keepdims=True is missing from the maximum",
        "Without it the axis is gone, and NumPy subtracts along the wrong axis: an error for most shapes, silently "
        "wrong numbers for a square matrix.",
        "Print the shape of the scores and the shape of their maximum. How does broadcasting line the two up?",
        edits=(("z.max(axis=axis, keepdims=True)", "z.max(axis=axis)"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "log-inside-sum",
        "the logarithm was taken before the sum, not after it",
        "The logarithm undoes each exponential by itself, and what is added up are the scores.",
        "In the formula, does the logarithm stand to the left or to the right of the Σ?",
        edits=(("np.log(np.exp(z).sum(axis=axis, keepdims=True))", "np.log(np.exp(z)).sum(axis=axis, keepdims=True)"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "plus",
        "the logarithm of the sum was added, not subtracted",
        "log(a / b) is log a minus log b. Log-probabilities are never above 0.",
        "What is the logarithm of a quotient?",
        edits=(("return z - np.log", "return z + np.log"),),
    ),
    Mistake(
        "softmax.log_softmax",
        "softmax-instead",
        "these are the probabilities themselves, not their logarithms",
        "Everything in the result must be 0 or negative.",
        "What is the last operation in the name of the function?",
        edits=(
            (
                "return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))",
                "return np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True)",
            ),
        ),
    ),
    Mistake(
        "softmax.log_softmax",
        "always-float64",
        "everything was converted to float64",
        "float32 should stay float32: half the memory, and twice the speed.",
        "What is the dtype of your result when `x` is float32? Which line made it so?",
        edits=(("z = as_float(x)", "z = np.asarray(x, dtype=np.float64)"),),
    ),
)
