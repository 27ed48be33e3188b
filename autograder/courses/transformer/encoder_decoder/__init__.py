"""Encoder and decoder."""

from autograder.course.declare import assignment, function

FUNCTIONS = (
    function("encoder_block", "out batch position d_model; cache", "TransformerEncoderLayer", minutes=20, difficulty=2,
             needs="multihead.multihead_attention layernorm.layernorm ffn.ffn"),
    function("decoder_block", "out batch position d_model; cache", "TransformerDecoderLayer", minutes=35, difficulty=2,
             needs="multihead.multihead_attention layernorm.layernorm ffn.ffn"),
    function("encode", "memory batch position d_model; cache", "TransformerEncoder", minutes=20, difficulty=2,
             needs="encoder_decoder.encoder_block embeddings.embed embeddings.sinusoidal_positions "
                   "attention.padding_mask"),
    function("decode", "log_probs batch position token; cache", "TransformerDecoder", minutes=25, difficulty=2,
             needs="encoder_decoder.decoder_block embeddings.embed embeddings.sinusoidal_positions "
                   "attention.padding_mask attention.causal_mask softmax.log_softmax"),
    function("transformer", "log_probs batch position token; cache", "TransformerEncoder and TransformerDecoder",
             minutes=10, difficulty=1, needs="encoder_decoder.encode encoder_decoder.decode"),
    function("greedy_decode", "ids batch position", "loop over TransformerDecoder", minutes=30, difficulty=2,
             needs="encoder_decoder.transformer"),
    function("transformer_backward", "grads", "gradient of TransformerEncoder and TransformerDecoder", minutes=60,
             difficulty=3, bonus=True,
             needs="encoder_decoder.transformer multihead.multihead_attention_backward "
                   "layernorm.layernorm_backward ffn.ffn_backward embeddings.embed_tokens_backward"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Encoder and decoder",
    *FUNCTIONS,
    outcome="Your model can now read one text and write another of a different length, as a translator does.",
    command="headway train --preset annotated --out copy.safetensors",
)
