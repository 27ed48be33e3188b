"""Encoder and decoder."""

from autograder.course.declare import assignment, function

ASSIGNMENT = assignment(
    "Encoder and decoder",
    function(
        "encoder_block",
        "out batch position d_model; cache",
        "TransformerEncoderLayer",
        needs="multihead.multihead_attention layernorm.layernorm ffn.ffn",
        minutes=20,
        difficulty=2,
    ),
    function(
        "decoder_block",
        "out batch position d_model; cache",
        "TransformerDecoderLayer",
        needs="multihead.multihead_attention layernorm.layernorm ffn.ffn",
        minutes=35,
        difficulty=2,
    ),
    function(
        "encode",
        "memory batch position d_model; cache",
        "TransformerEncoder",
        needs="encoder_decoder.encoder_block embeddings.embed embeddings.sinusoidal_positions attention.padding_mask",
        minutes=20,
        difficulty=2,
    ),
    function(
        "decode",
        "log_probs batch position token; cache",
        "TransformerDecoder",
        needs=(
            "encoder_decoder.decoder_block embeddings.embed embeddings.sinusoidal_positions attention.padding_mask "
            "attention.causal_mask softmax.log_softmax"
        ),
        minutes=25,
        difficulty=2,
    ),
    function(
        "transformer",
        "log_probs batch position token; cache",
        "TransformerEncoder and TransformerDecoder",
        needs="encoder_decoder.encode encoder_decoder.decode",
        minutes=10,
        difficulty=1,
    ),
    function(
        "greedy_decode",
        "ids batch position",
        "loop over TransformerDecoder",
        needs="encoder_decoder.transformer",
        minutes=30,
        difficulty=2,
    ),
    function(
        "transformer_backward",
        "grads",
        "gradient of TransformerEncoder and TransformerDecoder",
        needs=(
            "encoder_decoder.transformer multihead.multihead_attention_backward layernorm.layernorm_backward "
            "ffn.ffn_backward embeddings.embed_tokens_backward"
        ),
        bonus=True,
        minutes=60,
        difficulty=3,
    ),
    outcome="Your model can now read one text and write another of a different length, as a translator does.",
    command="headway train --preset annotated --out copy.safetensors",
)
