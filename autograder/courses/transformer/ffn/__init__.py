"""The feed-forward network."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("activations", "ffn.plots:activations", needs="ffn.relu ffn.gelu ffn.relu_backward ffn.gelu_backward",
         title="ReLU and GELU, and their derivatives",
         caption="GELU is a smooth version of ReLU; its slope goes below 0 and slightly above 1."),
)  # fmt: skip

FUNCTIONS = (
    function("relu", "out batch position d_ff", "relu", minutes=5, difficulty=1),
    function("relu_backward", "dx batch position d_ff", "gradient of relu", minutes=5, difficulty=1),
    function("gelu", "out batch position d_ff", "gelu(approximate='tanh')", minutes=15, difficulty=1),
    function("gelu_backward", "dx batch position d_ff", "gradient of gelu(approximate='tanh')", minutes=30,
             difficulty=3),
    function("linear", "out batch position d_out", "linear", minutes=10, difficulty=1),
    function("linear_backward", "dx batch position d_in; dW d_in d_out; db d_out", "gradient of linear", minutes=25,
             difficulty=3),
    function("dropout", "out batch position d_model; mask batch position d_model", "dropout", minutes=15,
             difficulty=2),
    function("dropout_backward", "dx batch position d_model", "gradient of dropout", minutes=5, difficulty=1),
    function("ffn", "out batch position d_model; cache", "linear → activation → linear", minutes=15, difficulty=1,
             needs="ffn.linear ffn.relu ffn.gelu"),
    function("ffn_backward", "dx batch position d_model; grads", "gradient of linear → activation → linear",
             minutes=20, difficulty=2, needs="ffn.ffn ffn.linear_backward ffn.relu_backward ffn.gelu_backward"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "The feed-forward network",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Each position can now work on what it has gathered from the others.",
)
