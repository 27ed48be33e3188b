"""How long each function takes, and how hard it is: estimates of the course's authors, not measurements.

For somebody who knows Python and a little NumPy, with reading the lesson and understanding what the report says. One
table, so that the whole course can be looked over and rebalanced at once; the curriculum hands the numbers on.
"""

DIFFICULTY = {1: "straightforward", 2: "needs a thought", 3: "needs paper"}

# function: (minutes, difficulty)
EFFORT = {
    "tokenizer.build_vocab": (10, 1),
    "tokenizer.encode": (15, 1),
    "tokenizer.decode": (10, 1),
    "tokenizer.train_val_split": (10, 1),
    "tokenizer.get_batch": (25, 2),
    "softmax.softmax": (25, 2),
    "softmax.log_softmax": (15, 2),
    "softmax.cross_entropy": (20, 2),
    "softmax.softmax_backward": (30, 3),
    "softmax.cross_entropy_backward": (20, 2),
    "embeddings.one_hot": (10, 1),
    "embeddings.embed_tokens": (10, 1),
    "embeddings.embed_tokens_backward": (20, 2),
    "embeddings.sinusoidal_positions": (25, 2),
    "embeddings.embed": (10, 1),
    "attention.causal_average_loop": (10, 1),
    "attention.causal_average_matmul": (15, 2),
    "attention.causal_mask": (15, 2),
    "attention.padding_mask": (10, 1),
    "attention.attention": (35, 3),
    "attention.attention_backward": (40, 3),
    "multihead.split_heads": (15, 2),
    "multihead.merge_heads": (10, 1),
    "multihead.multihead_attention": (40, 3),
    "multihead.multihead_attention_backward": (50, 3),
    "layernorm.layernorm": (15, 1),
    "layernorm.layernorm_backward": (45, 3),
    "layernorm.rmsnorm": (10, 1),
    "layernorm.rmsnorm_backward": (25, 2),
    "ffn.relu": (5, 1),
    "ffn.relu_backward": (5, 1),
    "ffn.gelu": (15, 1),
    "ffn.gelu_exact": (10, 1),
    "ffn.gelu_backward": (30, 3),
    "ffn.linear": (10, 1),
    "ffn.linear_backward": (20, 2),
    "ffn.dropout": (15, 2),
    "ffn.dropout_backward": (5, 1),
    "ffn.ffn": (15, 1),
    "ffn.ffn_backward": (20, 2),
    "blocks.block": (30, 2),
    "blocks.block_backward": (40, 3),
    "gpt.init_gpt": (25, 2),
    "gpt.count_parameters": (5, 1),
    "gpt.gpt": (35, 2),
    "gpt.gpt_loss": (50, 3),
    "training.adamw_step": (35, 3),
    "training.clip_grad_norm": (15, 2),
    "training.learning_rate": (20, 2),
    "training.train_step": (15, 1),
    "training.estimate_loss": (15, 2),
    "training.train": (20, 2),
    "generation.next_token_probs": (40, 3),
    "generation.sample": (15, 2),
    "generation.generate": (20, 2),
    "generation.generate_cached": (50, 3),
    "encoder_decoder.encoder_block": (20, 2),
    "encoder_decoder.decoder_block": (35, 3),
    "encoder_decoder.encode": (20, 2),
    "encoder_decoder.decode": (25, 2),
    "encoder_decoder.transformer": (10, 1),
    "encoder_decoder.greedy_decode": (30, 2),
    "encoder_decoder.transformer_backward": (60, 3),
}


def duration(minutes: int) -> str:
    """Minutes in words: "25 min", "1 h 50 min", "2 h"."""
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest or not hours)
    return " ".join(parts)
