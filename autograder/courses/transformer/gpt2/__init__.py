"""Your code runs GPT-2."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("gpt2_config", "config", "", minutes=10, difficulty=1),
    function("gpt2_params", "params", "", minutes=30, difficulty=2),
    function("last_logits", "logits batch token; kv", "GPT of nn modules", minutes=50, difficulty=2,
             needs="embeddings.embed attention.attention attention.causal_mask "
                   "multihead.split_heads multihead.merge_heads layernorm.layernorm ffn.linear ffn.ffn"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Your code runs GPT-2",
    *FUNCTIONS,
    outcome="Your code can now run the published GPT-2.",
    command="headway import-model gpt2 --out gpt2.safetensors",
)
