"""The transformer block."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("block", "out batch position d_model; cache", "TransformerEncoderLayer", minutes=30, difficulty=2,
             needs="multihead.multihead_attention layernorm.layernorm ffn.ffn ffn.dropout"),
    function("block_backward", "dx batch position d_model; grads", "gradient of TransformerEncoderLayer", minutes=45,
             difficulty=3,
             needs="blocks.block multihead.multihead_attention_backward layernorm.layernorm_backward "
                   "ffn.ffn_backward ffn.dropout_backward"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "The transformer block",
    *FUNCTIONS,
    outcome="You have a transformer block with all its gradients. A GPT is a stack of these.",
)
