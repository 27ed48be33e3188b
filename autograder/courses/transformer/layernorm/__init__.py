"""Layer normalization."""

from autograder.curriculum.declare import assignment, function

ASSIGNMENT = assignment(
    "Layer normalization",
    function("layernorm", "out batch position d_model", "layer_norm", minutes=15, difficulty=1),
    function(
        "layernorm_backward",
        "dx batch position d_model; dgamma d_model; dbeta d_model",
        "gradient of layer_norm",
        minutes=60,
        difficulty=3,
    ),
    function("rmsnorm", "out batch position d_model", "rms_norm", bonus=True, minutes=10, difficulty=1),
    function(
        "rmsnorm_backward",
        "dx batch position d_model; dgamma d_model",
        "gradient of rms_norm",
        bonus=True,
        minutes=25,
        difficulty=3,
    ),
    outcome="Your model can now be deep: its vectors keep their size from block to block.",
)
