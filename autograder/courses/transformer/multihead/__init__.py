"""Multi-head attention."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("split_heads", "out batch head position d_head", "view and transpose", minutes=15, difficulty=2),
    function("merge_heads", "out batch position d_model", "transpose and reshape", minutes=10, difficulty=1),
    function("multihead_attention", "out batch position d_model; cache", "MultiheadAttention", minutes=40,
             difficulty=2, needs="multihead.split_heads multihead.merge_heads attention.attention"),
    function("multihead_attention_backward", "dx batch position d_model; grads; dmemory batch key d_model",
             "gradient of MultiheadAttention", minutes=50, difficulty=3,
             needs="multihead.multihead_attention attention.attention_backward"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Multi-head attention",
    *FUNCTIONS,
    outcome="Your model can now attend to several things at once, one with each head.",
)
