"""Tokens per second of a Llama of SmolLM2-135M's size with random parameters: the course's code against transformers.

    python tests/bench/bench_chat.py                      one thread, then two
    python tests/bench/bench_chat.py --threads 1 --prompt 1000

As bench_gpt2.py, whose description holds here, too. `last_logits` is the loop of `headway chat`: llama.last_logits,
which the lesson gives, generation.next_token_probs and generation.sample. transformers computes in float32, as
Headway does, and for comparison in bfloat16, which reads half as many bytes.
"""

import json

from bench_gpt2 import greedy, loaded, main

SMOLLM2 = {"vocab_size": 49152, "max_position_embeddings": 8192, "hidden_size": 576, "intermediate_size": 1536,
           "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3}  # fmt: skip
TINY = {"vocab_size": 512, "max_position_embeddings": 64, "hidden_size": 48, "intermediate_size": 64,
        "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2}  # fmt: skip
WORKERS = ("last_logits", "transformers", "transformers bfloat16", "matrix × vector")


def write_folder(folder, sizes):
    """Write a model in the form of Hugging Face's files; its vocabulary is made up, because no text is encoded."""
    import numpy as np
    from safetensors.numpy import save_file

    rng, width, hidden = np.random.default_rng(0), sizes["hidden_size"], sizes["intermediate_size"]
    narrow = width * sizes["num_key_value_heads"] // sizes["num_attention_heads"]
    matrices = {"self_attn.q_proj": (width, width), "self_attn.k_proj": (narrow, width),
                "self_attn.v_proj": (narrow, width), "self_attn.o_proj": (width, width),
                "mlp.gate_proj": (hidden, width), "mlp.up_proj": (hidden, width),
                "mlp.down_proj": (width, hidden)}  # fmt: skip
    tensors = {"model.norm.weight": np.ones(width, np.float32)}
    shapes = {"model.embed_tokens.weight": (sizes["vocab_size"], width)}
    for i in range(sizes["num_hidden_layers"]):
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"model.layers.{i}.{name}.weight"] = np.ones(width, np.float32)
        shapes |= {f"model.layers.{i}.{name}.weight": shape for name, shape in matrices.items()}
    for name, shape in shapes.items():  # large enough for the text to vary, though the head is the token table
        tensors[name] = rng.standard_normal(shape, np.float32) * np.float32(0.06)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "tie_word_embeddings": True,
              "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "bos_token_id": None,
              "eos_token_id": None}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config | sizes), "utf-8")
    vocabulary = {f"token{i}": i for i in range(sizes["vocab_size"])}
    symbols = {"type": "ByteLevel", "add_prefix_space": False}
    tokenizer = {"model": {"vocab": vocabulary, "merges": []}, "pre_tokenizer": symbols, "decoder": symbols}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    return sum(array.size for array in tensors.values())


def official(path, kind):
    """Return a function that generates n tokens after a prompt with the official solution."""
    params, fields = loaded(path)
    from llama import LlamaConfig, last_logits

    return greedy(last_logits, params, LlamaConfig(**fields))


if __name__ == "__main__":
    main(__doc__, WORKERS, official, write_folder, SMOLLM2, TINY)
