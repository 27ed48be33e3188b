"""Attention."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("attention-mask", "attention.plots:steps", needs="attention.causal_mask attention.attention",
         title="From scores to output, with the causal mask",
         caption="Masked positions have weight exactly 0, and each row still sums to 1."),
    plot("attention-queries", "attention.plots:queries", needs="attention.causal_mask attention.attention",
         title="The distribution of each query over the keys",
         caption="Each query has its own distribution: one row of the weights."),
)  # fmt: skip

FUNCTIONS = (
    function("causal_average_matmul", "out batch position d_model", "mean over the positions so far", minutes=20,
             difficulty=2),
    function("causal_mask", "mask query key", "causal mask", minutes=15, difficulty=2),
    function("padding_mask", "mask batch head query key", "padding mask", minutes=10, difficulty=1),
    function("attention", "out batch head query d_v; weights batch head query key", "scaled_dot_product_attention",
             minutes=60, difficulty=2, needs="softmax.softmax"),
    function("attention_backward", "dq batch head query d_k; dk batch head key d_k; dv batch head key d_v",
             "gradient of scaled_dot_product_attention", minutes=45, difficulty=3, needs="softmax.softmax_backward"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Attention",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Each position of your model can now use the positions before it, and chooses which.",
)
