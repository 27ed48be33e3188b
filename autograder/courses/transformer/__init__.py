"""The built-in course, from the tokenizer to the encoder–decoder, and from there to real models."""

from autograder.course.model import Assignment, Curriculum, Function, Output
from autograder.courses.transformer.effort import EFFORT
from autograder.courses.transformer.outcomes import OUTCOMES


def _function(name: str, returns: str, torch: str, *, needs: str = "", bonus: bool = False) -> Function:
    """Return a function; `returns` lists its outputs with their axes, separated by ";": "out B T D; cache"."""
    module, _, short = name.partition(".")
    outputs = []
    for text in returns.split(";"):
        output, *axes = text.split()
        outputs.append(Output(output, tuple(axes)))
    return Function(module, short, tuple(outputs), torch, tuple(needs.split()), bonus, *EFFORT.get(name, (0, 0)))


def _numbered(*assignments: tuple[str, *tuple[Function, ...]]) -> tuple[Assignment, ...]:
    """Return numbered assignments in the order given; each is given by its title and its functions."""
    return tuple(
        Assignment(number, functions[0].module, title, tuple(functions), *OUTCOMES[functions[0].module])
        for number, (title, *functions) in enumerate(assignments, start=1)
    )


TRANSFORMER = Curriculum(
    _numbered(
        (
            "Text as numbers",
            _function("tokenizer.build_vocab", "chars; stoi; itos", ""),
            _function("tokenizer.encode", "ids position", ""),
            _function("tokenizer.decode", "text", ""),
            _function("tokenizer.train_val_split", "train position; val position", ""),
            _function("tokenizer.get_batch", "x row position; y row position", ""),
        ),
        (
            "Gradients",
            _function("gradients.numerical_gradient", "gradient", "central differences in float64"),
            _function("gradients.sum_to_shape", "gradient", "gradient of broadcast_to"),
            _function(
                "gradients.matmul_backward",
                "da batch row inner; db batch inner column",
                "gradient of matmul",
                needs="gradients.sum_to_shape",
            ),
            _function("gradients.tape_values", "values", "the same operations"),
            _function(
                "gradients.tape_gradients",
                "gradients",
                "autograd.grad",
                needs="gradients.tape_values gradients.matmul_backward gradients.sum_to_shape",
            ),
        ),
        (
            "Softmax and cross-entropy",
            _function("softmax.softmax", "probs row class", "softmax"),
            _function("softmax.log_softmax", "log_probs row class", "log_softmax"),
            _function("softmax.cross_entropy", "loss", "cross_entropy"),
            _function("softmax.softmax_backward", "dx row class", "gradient of softmax"),
            _function("softmax.cross_entropy_backward", "dlogits row class", "gradient of cross_entropy"),
        ),
        (
            "The bigram model",
            _function("bigram.bigram_counts", "probs token next_token", "product of one_hot rows"),
            _function("bigram.generate_bigram", "ids position", "", needs="softmax.softmax"),
            _function(
                "bigram.bigram_loss",
                "loss; dW token next_token",
                "embedding and cross_entropy",
                needs="softmax.cross_entropy softmax.cross_entropy_backward",
            ),
            _function("bigram.sgd_step", "W token next_token", "optim.SGD"),
            _function(
                "bigram.train_bigram",
                "W token next_token; losses",
                "loop with optim.SGD",
                needs="bigram.bigram_loss bigram.sgd_step",
            ),
        ),
        (
            "Tokens and positions as vectors",
            _function("embeddings.one_hot", "out batch position token", "one_hot"),
            _function("embeddings.embed_tokens", "out batch position d_model", "embedding"),
            _function("embeddings.embed_tokens_backward", "dW_tok token d_model", "gradient of embedding"),
            _function("embeddings.sinusoidal_positions", "out position d_model", "sines and cosines in float64"),
            _function("embeddings.embed", "out batch position d_model", "embedding", needs="embeddings.embed_tokens"),
        ),
        (
            "Attention",
            _function("attention.causal_average_loop", "out batch position d_model", "mean over the positions so far"),
            _function(
                "attention.causal_average_matmul", "out batch position d_model", "mean over the positions so far"
            ),
            _function("attention.causal_mask", "mask query key", "causal mask"),
            _function("attention.padding_mask", "mask batch head query key", "padding mask"),
            _function(
                "attention.attention",
                "out batch head query d_v; weights batch head query key",
                "scaled_dot_product_attention",
                needs="softmax.softmax",
            ),
            _function(
                "attention.attention_backward",
                "dq batch head query d_k; dk batch head key d_k; dv batch head key d_v",
                "gradient of scaled_dot_product_attention",
                needs="softmax.softmax_backward",
            ),
        ),
        (
            "Multi-head attention",
            _function("multihead.split_heads", "out batch head position d_head", "view and transpose"),
            _function("multihead.merge_heads", "out batch position d_model", "transpose and reshape"),
            _function(
                "multihead.multihead_attention",
                "out batch position d_model; cache",
                "MultiheadAttention",
                needs="multihead.split_heads multihead.merge_heads attention.attention",
            ),
            _function(
                "multihead.multihead_attention_backward",
                "dx batch position d_model; grads; dmemory batch key d_model",
                "gradient of MultiheadAttention",
                needs="multihead.multihead_attention attention.attention_backward",
            ),
        ),
        (
            "Layer normalization",
            _function("layernorm.layernorm", "out batch position d_model", "layer_norm"),
            _function(
                "layernorm.layernorm_backward",
                "dx batch position d_model; dgamma d_model; dbeta d_model",
                "gradient of layer_norm",
            ),
            _function("layernorm.rmsnorm", "out batch position d_model", "rms_norm", bonus=True),
            _function(
                "layernorm.rmsnorm_backward",
                "dx batch position d_model; dgamma d_model",
                "gradient of rms_norm",
                bonus=True,
            ),
        ),
        (
            "The feed-forward network",
            _function("ffn.relu", "out batch position d_ff", "relu"),
            _function("ffn.relu_backward", "dx batch position d_ff", "gradient of relu"),
            _function("ffn.gelu", "out batch position d_ff", "gelu(approximate='tanh')"),
            _function("ffn.gelu_exact", "out batch position d_ff", "gelu"),
            _function("ffn.gelu_backward", "dx batch position d_ff", "gradient of gelu(approximate='tanh')"),
            _function("ffn.linear", "out batch position d_out", "linear"),
            _function("ffn.linear_backward", "dx batch position d_in; dW d_in d_out; db d_out", "gradient of linear"),
            _function("ffn.dropout", "out batch position d_model; mask batch position d_model", "dropout"),
            _function("ffn.dropout_backward", "dx batch position d_model", "gradient of dropout"),
            _function(
                "ffn.ffn",
                "out batch position d_model; cache",
                "linear → activation → linear",
                needs="ffn.linear ffn.relu ffn.gelu",
            ),
            _function(
                "ffn.ffn_backward",
                "dx batch position d_model; grads",
                "gradient of linear → activation → linear",
                needs="ffn.ffn ffn.linear_backward ffn.relu_backward ffn.gelu_backward",
            ),
        ),
        (
            "The transformer block",
            _function(
                "blocks.block",
                "out batch position d_model; cache",
                "TransformerEncoderLayer",
                needs="multihead.multihead_attention layernorm.layernorm ffn.ffn ffn.dropout",
            ),
            _function(
                "blocks.block_backward",
                "dx batch position d_model; grads",
                "gradient of TransformerEncoderLayer",
                needs="blocks.block multihead.multihead_attention_backward layernorm.layernorm_backward "
                "ffn.ffn_backward ffn.dropout_backward",
            ),
        ),
        (
            "The GPT",
            _function("gpt.init_gpt", "params", "parameters of GPT-2"),
            _function("gpt.count_parameters", "count", "numel of all parameters"),
            _function(
                "gpt.gpt",
                "logits batch position token; cache",
                "GPT of nn modules",
                needs="blocks.block layernorm.layernorm embeddings.embed embeddings.sinusoidal_positions ffn.dropout",
            ),
            _function(
                "gpt.gpt_loss",
                "loss; grads",
                "loss and gradients of a GPT of nn modules",
                needs="gpt.gpt blocks.block_backward layernorm.layernorm_backward embeddings.embed_tokens_backward "
                "softmax.cross_entropy softmax.cross_entropy_backward ffn.dropout_backward",
            ),
        ),
        (
            "Training",
            _function("training.adamw_step", "params; state", "optim.AdamW"),
            _function("training.clip_grad_norm", "grads; norm", "clip_grad_norm_"),
            _function("training.learning_rate", "lr", "LinearLR and CosineAnnealingLR"),
            _function(
                "training.train_step",
                "loss; params; state",
                "loss.backward() and AdamW.step()",
                needs="gpt.gpt_loss training.adamw_step training.clip_grad_norm",
            ),
            _function(
                "training.estimate_loss",
                "loss",
                "cross_entropy without gradients",
                needs="gpt.gpt softmax.cross_entropy",
            ),
            _function(
                "training.train",
                "params; state; losses",
                "training loop",
                needs="gpt.gpt_loss training.adamw_step training.clip_grad_norm",
            ),
        ),
        (
            "Generation",
            _function(
                "generation.next_token_probs", "probs batch token", "topk, sort and softmax", needs="softmax.softmax"
            ),
            _function("generation.sample", "ids batch", "multinomial"),
            _function(
                "generation.generate",
                "ids batch position",
                "loop over a GPT of nn modules",
                needs="gpt.gpt generation.next_token_probs generation.sample",
            ),
            _function(
                "generation.generate_cached",
                "ids batch position",
                "loop over a GPT of nn modules",
                needs="generation.generate",
            ),
        ),
        (
            "Encoder and decoder",
            _function(
                "encoder_decoder.encoder_block",
                "out batch position d_model; cache",
                "TransformerEncoderLayer",
                needs="multihead.multihead_attention layernorm.layernorm ffn.ffn",
            ),
            _function(
                "encoder_decoder.decoder_block",
                "out batch position d_model; cache",
                "TransformerDecoderLayer",
                needs="multihead.multihead_attention layernorm.layernorm ffn.ffn",
            ),
            _function(
                "encoder_decoder.encode",
                "memory batch position d_model; cache",
                "TransformerEncoder",
                needs="encoder_decoder.encoder_block embeddings.embed embeddings.sinusoidal_positions "
                "attention.padding_mask",
            ),
            _function(
                "encoder_decoder.decode",
                "log_probs batch position token; cache",
                "TransformerDecoder",
                needs="encoder_decoder.decoder_block embeddings.embed embeddings.sinusoidal_positions "
                "attention.padding_mask attention.causal_mask softmax.log_softmax",
            ),
            _function(
                "encoder_decoder.transformer",
                "log_probs batch position token; cache",
                "TransformerEncoder and TransformerDecoder",
                needs="encoder_decoder.encode encoder_decoder.decode",
            ),
            _function(
                "encoder_decoder.greedy_decode",
                "ids batch position",
                "loop over TransformerDecoder",
                needs="encoder_decoder.transformer",
            ),
            _function(
                "encoder_decoder.transformer_backward",
                "grads",
                "gradient of TransformerEncoder and TransformerDecoder",
                needs="encoder_decoder.transformer multihead.multihead_attention_backward "
                "layernorm.layernorm_backward ffn.ffn_backward embeddings.embed_tokens_backward",
                bonus=True,
            ),
        ),
        (
            "Byte-pair encoding",
            _function("bpe.byte_symbols", "symbols", ""),
            _function("bpe.split_text", "pieces", ""),
            _function("bpe.train_bpe", "merges", "", needs="bpe.byte_symbols bpe.split_text"),
            _function("bpe.bpe_encode", "ids position", "", needs="bpe.byte_symbols bpe.split_text"),
            _function("bpe.bpe_decode", "text", "", needs="bpe.byte_symbols"),
        ),
        (
            "Your code runs GPT-2",
            _function("gpt2.gpt2_config", "config", ""),
            _function("gpt2.gpt2_params", "params", ""),
            _function(
                "gpt2.last_logits",
                "logits batch token; cache",
                "GPT of nn modules",
                needs="embeddings.embed embeddings.sinusoidal_positions attention.attention attention.causal_mask "
                "multihead.split_heads multihead.merge_heads layernorm.layernorm ffn.linear ffn.ffn",
            ),
        ),
        (
            "Llama",
            _function("llama.rope", "out batch head position d_head", "product of complex numbers"),
            _function(
                "llama.rope_backward", "dx batch head position d_head", "gradient of a product of complex numbers"
            ),
            _function("llama.silu", "out batch position d_ff", "silu"),
            _function("llama.silu_backward", "dx batch position d_ff", "gradient of silu"),
            _function(
                "llama.swiglu",
                "out batch position d_model; cache",
                "linear → silu, times linear → linear",
                needs="llama.silu ffn.linear",
            ),
            _function(
                "llama.swiglu_backward",
                "dx batch position d_model; grads",
                "gradient of linear → silu, times linear → linear",
                needs="llama.swiglu llama.silu_backward ffn.linear_backward",
            ),
            _function(
                "llama.grouped_query_attention",
                "out batch position d_model; cache",
                "repeat_interleave and softmax",
                needs="llama.rope multihead.split_heads multihead.merge_heads attention.attention ffn.linear",
            ),
            _function(
                "llama.grouped_query_attention_backward",
                "dx batch position d_model; grads",
                "gradient of repeat_interleave and softmax",
                needs="llama.grouped_query_attention llama.rope_backward attention.attention_backward "
                "ffn.linear_backward",
            ),
            _function(
                "llama.llama_block",
                "out batch position d_model; cache",
                "rms_norm, softmax and silu",
                needs="llama.grouped_query_attention llama.swiglu layernorm.rmsnorm",
            ),
            _function(
                "llama.llama_block_backward",
                "dx batch position d_model; grads",
                "gradient of rms_norm, softmax and silu",
                needs="llama.llama_block llama.grouped_query_attention_backward llama.swiglu_backward "
                "layernorm.rmsnorm_backward",
            ),
            _function(
                "llama.llama",
                "logits batch position token; cache",
                "embedding, rms_norm, softmax and silu",
                needs="llama.llama_block embeddings.embed_tokens attention.causal_mask layernorm.rmsnorm",
            ),
            _function(
                "llama.llama_backward",
                "grads",
                "gradient of embedding, rms_norm, softmax and silu",
                needs="llama.llama llama.llama_block_backward embeddings.embed_tokens_backward "
                "layernorm.rmsnorm_backward ffn.linear_backward",
            ),
            _function("llama.llama_config", "config", ""),
            _function("llama.llama_params", "params", "Tensor.T and bfloat16"),
            _function(
                "llama.generate_llama",
                "ids batch position",
                "the same model without a cache, and argmax",
                needs="llama.llama generation.next_token_probs generation.sample",
            ),
        ),
    ),
    name="transformer",
    package="autograder.courses.transformer",
    title="My GPT",
)
