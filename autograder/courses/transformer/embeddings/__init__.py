"""Tokens and positions as vectors."""

from autograder.curriculum.declare import assignment, function

ASSIGNMENT = assignment(
    "Tokens and positions as vectors",
    function("one_hot", "out batch position token", "one_hot", minutes=15, difficulty=1),
    function("embed_tokens", "out batch position d_model", "embedding", minutes=10, difficulty=1),
    function("embed_tokens_backward", "dW_tok token d_model", "gradient of embedding", minutes=20, difficulty=3),
    function("sinusoidal_positions", "out position d_model", "sines and cosines in float64", minutes=30, difficulty=2),
    function(
        "embed", "out batch position d_model", "embedding", needs="embeddings.embed_tokens", minutes=10, difficulty=1
    ),
    outcome="Each token is now a vector that training can change, and says where in the text it stands.",
)
