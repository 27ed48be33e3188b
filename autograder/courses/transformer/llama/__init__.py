"""Llama."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("rope", "out batch head position d_head", "product of complex numbers", minutes=25, difficulty=2),
    function("rope_backward", "dx batch head position d_head", "gradient of a product of complex numbers", minutes=10,
             difficulty=2),
    function("silu", "out batch position d_ff", "silu", minutes=5, difficulty=1),
    function("silu_backward", "dx batch position d_ff", "gradient of silu", minutes=15, difficulty=2),
    function("swiglu", "out batch position d_model; cache", "linear → silu, times linear → linear", minutes=10,
             difficulty=1, needs="llama.silu ffn.linear"),
    function("swiglu_backward", "dx batch position d_model; grads", "gradient of linear → silu, times linear → linear",
             minutes=15, difficulty=2, needs="llama.swiglu llama.silu_backward ffn.linear_backward"),
    function("grouped_query_attention", "out batch position d_model; cache", "repeat_interleave and softmax",
             minutes=25, difficulty=2,
             needs="llama.rope multihead.split_heads multihead.merge_heads attention.attention ffn.linear"),
    function("grouped_query_attention_backward", "dx batch position d_model; grads",
             "gradient of repeat_interleave and softmax", minutes=30, difficulty=3,
             needs="llama.grouped_query_attention llama.rope_backward attention.attention_backward "
                   "ffn.linear_backward"),
    function("llama_block", "out batch position d_model; cache", "rms_norm, softmax and silu", minutes=10,
             difficulty=1, needs="llama.grouped_query_attention llama.swiglu layernorm.rmsnorm"),
    function("llama_block_backward", "dx batch position d_model; grads", "gradient of rms_norm, softmax and silu",
             minutes=15, difficulty=2,
             needs="llama.llama_block llama.grouped_query_attention_backward llama.swiglu_backward "
                   "layernorm.rmsnorm_backward"),
    function("llama", "logits batch position token; cache", "embedding, rms_norm, softmax and silu", minutes=10,
             difficulty=1, needs="llama.llama_block embeddings.embed_tokens attention.causal_mask layernorm.rmsnorm"),
    function("llama_backward", "grads", "gradient of embedding, rms_norm, softmax and silu", minutes=15, difficulty=2,
             needs="llama.llama llama.llama_block_backward embeddings.embed_tokens_backward "
                   "layernorm.rmsnorm_backward ffn.linear_backward"),
    function("llama_config", "config", "", minutes=15, difficulty=1),
    function("llama_params", "params", "Tensor.T and bfloat16", minutes=20, difficulty=2),
    function("generate_llama", "ids batch position", "the same model without a cache, and argmax", minutes=20,
             difficulty=2, needs="llama.llama generation.next_token_probs generation.sample"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Llama",
    *FUNCTIONS,
    outcome="Your code can now run and train a Llama.",
    command="headway train --preset llama --out llama.safetensors",
)
