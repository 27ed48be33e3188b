"""Softmax and cross-entropy."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("softmax-temperatures", "softmax.plots:temperatures", needs="softmax.softmax",
         title="One row of scores at five temperatures",
         caption="The order never changes; only how concentrated the probabilities are."),
    plot("softmax-overflow", "softmax.plots:overflow", needs="softmax.softmax",
         title="Where the naive softmax formula overflows",
         caption="The naive lines end where exp overflows; the line of softmax.softmax continues."),
)  # fmt: skip

FUNCTIONS = (
    function("softmax", "probs row class", "softmax", minutes=25, difficulty=2),
    function("log_softmax", "log_probs row class", "log_softmax", minutes=15, difficulty=2),
    function("cross_entropy", "loss", "cross_entropy", minutes=25, difficulty=2),
    function("softmax_backward", "dx row class", "gradient of softmax", minutes=40, difficulty=3),
    function("cross_entropy_backward", "dlogits row class", "gradient of cross_entropy", minutes=30, difficulty=3),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Softmax and cross-entropy",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Your model can now turn scores into probabilities, and you can measure how wrong they are.",
)
