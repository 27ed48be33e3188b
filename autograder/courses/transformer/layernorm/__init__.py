"""Layer normalization."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("layernorm", "layernorm.plots:before_and_after", needs="layernorm.layernorm",
         title="Four vectors before and after layer norm",
         caption="Afterwards each vector has mean 0 and standard deviation 1; the pattern of its values is unchanged."),
)  # fmt: skip

FUNCTIONS = (
    function("layernorm", "out batch position d_model", "layer_norm", minutes=15, difficulty=1),
    function("layernorm_backward", "dx batch position d_model; dgamma d_model; dbeta d_model",
             "gradient of layer_norm", minutes=60, difficulty=3),
    function("rmsnorm", "out batch position d_model", "rms_norm", minutes=10, difficulty=1, bonus=True),
    function("rmsnorm_backward", "dx batch position d_model; dgamma d_model", "gradient of rms_norm", minutes=25,
             difficulty=3, bonus=True),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Layer normalization",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Your model can now be deep: its vectors keep their size from block to block.",
)
