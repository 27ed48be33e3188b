"""The GPT."""

from autograder.curriculum.declare import assignment, function

ASSIGNMENT = assignment(
    "The GPT",
    function("init_gpt", "params", "parameters of GPT-2", minutes=25, difficulty=2),
    function("count_parameters", "count", "numel of all parameters", minutes=5, difficulty=1),
    function(
        "gpt",
        "logits batch position token; cache",
        "GPT of nn modules",
        needs="blocks.block layernorm.layernorm embeddings.embed embeddings.sinusoidal_positions ffn.dropout",
        minutes=35,
        difficulty=2,
    ),
    function(
        "gpt_loss",
        "loss; grads",
        "loss and gradients of a GPT of nn modules",
        needs=(
            "gpt.gpt blocks.block_backward layernorm.layernorm_backward embeddings.embed_tokens_backward "
            "softmax.cross_entropy softmax.cross_entropy_backward ffn.dropout_backward"
        ),
        minutes=50,
        difficulty=3,
    ),
    outcome="Your GPT is complete, from ids to the loss and every gradient. It has learned nothing yet.",
)
