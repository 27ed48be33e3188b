"""Llama."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("llama_block", "out batch position d_model; cache", "rms_norm, softmax and silu", minutes=20,
             difficulty=1, needs="llama_layers.grouped_query_attention llama_layers.swiglu layernorm.rmsnorm"),
    function("llama_block_backward", "dx batch position d_model; grads", "gradient of rms_norm, softmax and silu",
             minutes=30, difficulty=2,
             needs="llama.llama_block llama_layers.grouped_query_attention_backward llama_layers.swiglu_backward "
                   "layernorm.rmsnorm_backward"),
    function("llama", "logits batch position token; cache", "embedding, rms_norm, softmax and silu", minutes=25,
             difficulty=1, needs="llama.llama_block embeddings.embed_tokens attention.causal_mask layernorm.rmsnorm"),
    function("llama_backward", "grads", "gradient of embedding, rms_norm, softmax and silu", minutes=35, difficulty=2,
             needs="llama.llama llama.llama_block_backward embeddings.embed_tokens_backward "
                   "layernorm.rmsnorm_backward ffn.linear_backward"),
    function("llama_config", "config", "", minutes=10, difficulty=1),
    function("llama_params", "params", "Tensor.T and bfloat16", minutes=30, difficulty=2),
    function("generate_llama", "ids batch position", "the same model, and argmax", minutes=20,
             difficulty=1,
             needs="llama_layers.rope llama_layers.swiglu layernorm.rmsnorm attention.attention attention.causal_mask "
                   "generation.next_token_probs generation.sample"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Llama",
    *FUNCTIONS,
    outcome="Your code can now run and train a Llama.",
    command="headway train --preset llama --out llama.safetensors",
)
