"""Every picture in the lessons, by the name of its file."""

from collections.abc import Callable

from autograder.models.lesson_figures import architecture, byte_pairs, checkpoint, curves, llama, tensors, trained
from autograder.models.plot_data.function_calls import FunctionCaller

MAPS = (
    "tokenizer", "gradients", "softmax", "bigram", "embeddings", "attention", "multihead", "layernorm", "ffn", "blocks",
    "gpt", "training", "generation", "bpe", "gpt2", "llama",
)  # fmt: skip
PLOTS = ("token-ids", "softmax-temperatures", "softmax-overflow", "attention-queries", "layernorm", "activations",
         "learning-rate")  # fmt: skip


def _map(module: str) -> Callable[[FunctionCaller], str]:
    return lambda _: architecture.gpt_map(module)


def _plot(name: str) -> Callable[[FunctionCaller], str]:
    return lambda functions: curves.plot(name, functions)


def _fixed(draw: Callable[[], str]) -> Callable[[FunctionCaller], str]:
    return lambda _: draw()


# The functions draw with the official functions of the course.
FIGURES: dict[str, Callable[[FunctionCaller], str]] = {
    **{f"map-{module}": _map(module) for module in MAPS},
    "map-encoder-decoder": _fixed(architecture.encoder_decoder_map),
    **{name: _plot(name) for name in PLOTS},
    "batch": tensors.batch,
    "slopes": _fixed(curves.slopes),
    "gradient-graph": tensors.tape,
    "bigram-table": curves.bigram_table,
    "embedding-lookup": tensors.lookup,
    "sinusoidal-positions": curves.positions,
    "why-10000": _fixed(curves.why_10000),
    "embedding-map": trained.embedding_map,
    "learned-positions": _fixed(trained.learned_positions),
    "attention-steps": tensors.attention_steps,
    "masks": tensors.masks,
    "batch-rows": _fixed(tensors.batch_rows),
    "split-heads": _fixed(tensors.split_heads),
    "multihead-shapes": _fixed(tensors.multihead_shapes),
    "normalized-axes": _fixed(tensors.normalized_axes),
    "ffn-scatter": _fixed(trained.ffn_scatter),
    "block-graph": _fixed(tensors.block_graph),
    "stream-variance": _fixed(trained.stream_variance),
    "untrained-output": _fixed(trained.untrained_output),
    "loss": _fixed(trained.loss),
    "sampling": curves.sampling,
    "kv-cache": _fixed(tensors.kv_cache),
    "source-masks": tensors.source_masks,
    "label-smoothing": _fixed(tensors.label_smoothing),
    "byte-table": byte_pairs.byte_table,
    "bpe-tree": byte_pairs.merge_tree,
    "bpe-speed": _fixed(byte_pairs.naive_and_fast),
    "checkpoint-tensors": _fixed(checkpoint.tensors),
    "bytes-per-token": _fixed(checkpoint.bytes_per_token),
    "rope-distance": llama.rope_distance,
    "rope-pairs": llama.rope_pairs,
    "shared-heads": _fixed(llama.shared_heads),
}
