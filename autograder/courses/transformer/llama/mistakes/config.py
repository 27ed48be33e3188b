"""Mistakes in reading the configuration of a Llama checkpoint."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_IF_ABSENT = "if absent := [theirs for theirs, ours in _SIZES.items() if sizes[ours] is None]:"
_ROTATIONS = 'for name in ("rope_parameters", "rope_scaling")'
_REFUSED = "raise ValueError(f\"unsupported setting: {', '.join(unsupported)}\")"
_HEADS = 'n_kv_heads=hf_config.get("num_key_value_heads") or sizes["n_heads"]'
_BASE = 'rope_base=rotations[0].get("rope_theta") or hf_config.get("rope_theta", 10000.0)'
_EPS = 'norm_eps=hf_config.get("rms_norm_eps", 1e-6)'
_TIED = 'tied=hf_config.get("tie_word_embeddings", False)'

mistake = MISTAKES.for_functions("llama.llama_config")

# The sizes.
mistake(
    "vocab_size-and-block_size-exchanged",
    "    return LlamaConfig(\n        **sizes,",
    '    swapped = {"vocab_size": sizes["block_size"], "block_size": sizes["vocab_size"]}\n'
    "    return LlamaConfig(\n        **(sizes | swapped),",
).explain("""
    vocab_size and max_position_embeddings were swapped
    why: Both are sizes of the model, and nothing reports the mistake until the parameters do not fit.
    ask: Which field of LlamaConfig belongs to each of the two?""")
mistake("n_heads-for-keys", _HEADS, 'n_kv_heads=sizes["n_heads"]', common=True).explain("""
    num_key_value_heads was not used: there were as many heads of keys as of queries
    why: That is right for models without grouped queries only.
    ask: Which field of LlamaConfig is num_key_value_heads?""")

# The other settings.
mistake("eps-ignored", _EPS, "norm_eps=1e-5", common=True).explain("""
    rms_norm_eps was not used: norm_eps was 1e-5
    why: That is the default of LlamaConfig.
    ask: Which field of LlamaConfig is rms_norm_eps?""")
mistake("base-ignored", _BASE, "rope_base=10000.0", common=True).explain("""
    rope_theta was not used: rope_base was 10,000
    why: Newer models have larger bases, such as 500,000.
    ask: Which field of LlamaConfig is rope_theta?""")
mistake("base-at-the-top-only", _BASE, 'rope_base=hf_config.get("rope_theta", 10000.0)', common=True).explain("""
    the base in rope_parameters was not used
    why: Version 5 of `transformers` stores it there.
    ask: In which two places can rope_theta be?""")
mistake(
    "base-required", _BASE, 'rope_base=(rotations[0] if "rope_theta" in rotations[0] else hf_config)["rope_theta"]'
).explain("""
    a file without rope_theta was not accepted
    why: A missing base means 10,000.
    ask: Which settings may be missing?""")
mistake(
    "none-kept", "    hf_config = {key: value for key, value in hf_config.items() if value is not None}\n", ""
).explain("""
    a setting that is None was passed on as None, not replaced by its default
    why: A norm whose eps is None stops with a TypeError later, far from the file that caused it.
    ask: What does hf_config.get("rms_norm_eps", 1e-6) return if the key is there, with the value None?""")
mistake("tied-ignored", _TIED, "tied=False", common=True).explain("""
    tie_word_embeddings was not used: tied was False
    why: Small models often have a tied head.
    ask: Which field of LlamaConfig is tie_word_embeddings?""")
mistake("dictionary-returned", "    return LlamaConfig(", "    return dict(").explain("""
    a dict was returned, not a LlamaConfig
    why: llama reads the settings as attributes: config.n_heads.
    ask: What does the docstring say is returned?""")

# What is refused.
for name, line, new, what in (
    ("any-model", '"model_type": ("llama",)', '"model_type": (hf_config.get("model_type"),)', "model_type"),
    ("any-activation", '"hidden_act": ("silu", None)', '"hidden_act": (hf_config.get("hidden_act"),)', "hidden_act"),
    (
        "attention-biases-accepted",
        '"attention_bias": (False, None)',
        '"attention_bias": (False, True, None)',
        "attention_bias",
    ),
    (
        "any-head-size",
        '"head_dim": (sizes["d_model"] // sizes["n_heads"], None)',
        '"head_dim": (hf_config.get("head_dim"),)',
        "head_dim",
    ),
):
    mistake(name, line, new).explain(f"""
        {what} was not looked at
        why: A model with another {what} is read without an error, and computes something else.
        ask: Which values of {what} does the docstring allow?""")
mistake("activation-required", '"hidden_act": ("silu", None)', '"hidden_act": ("silu",)').explain("""
    a file without hidden_act was not accepted
    why: A missing setting has the default of `transformers`, which is "silu".
    ask: Which settings may be missing?""")
mistake("scaling-accepted", _ROTATIONS, 'for name in ("rope_parameters",)', common=True).explain("""
    rope_scaling was not looked at
    why: A model with scaled angles is read without an error, and writes worse texts.
    ask: What does the docstring say about rope_scaling?""")
mistake(
    "scaling-in-parameters-accepted", "for rotation in rotations]", "for rotation in rotations[1:]]", common=True
).explain("""
    the rope_type in rope_parameters was not looked at
    why: Version 5 of `transformers` stores it there.
    ask: In which dictionaries can a rope_type be?""")
mistake("sizes-not-checked", _IF_ABSENT, "if absent := []:").explain("""
    a missing size was not reported by a ValueError
    why: A KeyError or a TypeError somewhere later does not say what is wrong with the file.
    ask: Which sizes does the docstring list, and what happens if one of them is missing?""")
mistake(
    "other-settings-refused",
    "    if unsupported:",
    '    unsupported += ["pretraining_tp"] if "pretraining_tp" in hf_config else []\n    if unsupported:',
).explain("""
    a setting that changes nothing was refused
    why: Files have many settings that only matter in training, or to other programs.
    ask: Which settings does the docstring say are refused?""")
mistake("errors-as-assertions", _REFUSED, "assert not unsupported, unsupported").explain("""
    an unsupported setting raised an AssertionError, not a ValueError
    why: Assertions are for mistakes in the program. This is a file that the program cannot read.
    ask: Which error does the docstring name?""")
