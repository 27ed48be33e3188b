"""The transformer block."""

from autograder.course.declare import assignment, function

ASSIGNMENT = assignment(
    "The transformer block",
    function(
        "block",
        "out batch position d_model; cache",
        "TransformerEncoderLayer",
        needs="multihead.multihead_attention layernorm.layernorm ffn.ffn ffn.dropout",
        minutes=30,
        difficulty=2,
    ),
    function(
        "block_backward",
        "dx batch position d_model; grads",
        "gradient of TransformerEncoderLayer",
        needs=(
            "blocks.block multihead.multihead_attention_backward layernorm.layernorm_backward ffn.ffn_backward "
            "ffn.dropout_backward"
        ),
        minutes=45,
        difficulty=3,
    ),
    outcome="You have a transformer block with all its gradients. A GPT is a stack of these.",
)
