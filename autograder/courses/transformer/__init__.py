"""The built-in course, from the tokenizer to the encoder–decoder, and from there to real models."""

from autograder.course.declare import course

TRANSFORMER = course(
    __name__,
    "tokenizer",
    "counting",
    "gradients",
    "softmax",
    "bigram",
    "embeddings",
    "attention",
    "multihead",
    "layernorm",
    "ffn",
    "blocks",
    "gpt",
    "training",
    "generation",
    "encoder_decoder",
    "bpe",
    "gpt2",
    "llama_layers",
    "llama",
    "finetuning",
    "fast",
    # headway new-assignment adds assignments above this line.
    name="transformer",
    title="My GPT",
)
