"""The layers of a Llama."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("rope", "out batch head position d_head", "product of complex numbers", minutes=30, difficulty=2),
    function("rope_backward", "dx batch head position d_head", "gradient of a product of complex numbers", minutes=15,
             difficulty=2),
    function("silu", "out batch position d_ff", "silu", minutes=10, difficulty=1),
    function("silu_backward", "dx batch position d_ff", "gradient of silu", minutes=15, difficulty=2),
    function("swiglu", "out batch position d_model; cache", "linear → silu, times linear → linear", minutes=15,
             difficulty=1, needs="llama_layers.silu ffn.linear"),
    function("swiglu_backward", "dx batch position d_model; grads", "gradient of linear → silu, times linear → linear",
             minutes=25, difficulty=2, needs="llama_layers.swiglu llama_layers.silu_backward ffn.linear_backward"),
    function("grouped_query_attention", "out batch position d_model; cache", "repeat_interleave and softmax",
             minutes=30, difficulty=2,
             needs="llama_layers.rope multihead.split_heads multihead.merge_heads attention.attention ffn.linear"),
    function("grouped_query_attention_backward", "dx batch position d_model; grads",
             "gradient of repeat_interleave and softmax", minutes=40, difficulty=3,
             needs="llama_layers.grouped_query_attention llama_layers.rope_backward attention.attention_backward "
                   "ffn.linear_backward"),
)  # fmt: skip

ASSIGNMENT = assignment("The layers of a Llama", *FUNCTIONS, outcome="Your code now has the layers of a Llama.")
