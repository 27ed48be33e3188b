"""Mistakes in reading the configuration of a Llama checkpoint."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_SIZES = "sizes = {ours: hf_config.get(theirs) for theirs, ours in _SIZES.items()}"
_IF_ABSENT = "if absent := [theirs for theirs, ours in _SIZES.items() if sizes[ours] is None]:"
_ROTATIONS = 'for name in ("rope_parameters", "rope_scaling")'
_KINDS = 'rotation.get("rope_type", rotation.get("type", "default"))'
_REFUSED = "raise ValueError(f\"unsupported setting: {', '.join(unsupported)}\")"
_HEADS = 'n_kv_heads=hf_config.get("num_key_value_heads") or sizes["n_heads"]'
_BASE = 'rope_base=rotations[0].get("rope_theta", hf_config.get("rope_theta", 10000.0))'
_EPS = 'norm_eps=hf_config.get("rms_norm_eps", 1e-6)'
_TIED = 'tied=hf_config.get("tie_word_embeddings", False)'

mistake = MISTAKES.for_functions("llama.llama_config")

# The sizes.
for first, second, what in (
    ("d_model", "d_ff", "hidden_size and intermediate_size"),
    ("n_layers", "n_heads", "num_hidden_layers and num_attention_heads"),
    ("vocab_size", "block_size", "vocab_size and max_position_embeddings"),
):
    mistake(
        f"{first}-and-{second}-exchanged",
        "    return LlamaConfig(\n        **sizes,",
        f'    swapped = {{"{first}": sizes["{second}"], "{second}": sizes["{first}"]}}\n'
        "    return LlamaConfig(\n        **(sizes | swapped),",
    ).explain(f"""
        {what} were swapped
        why: Both are sizes of the model, and nothing reports the mistake until the parameters do not fit.
        ask: Which field of LlamaConfig belongs to each of the two?""")
mistake("d_ff-of-its-own", "**sizes,", '**(sizes | {"d_ff": None}),').explain("""
    intermediate_size was not used: d_ff was 8/3 D, rounded up
    why: That is the default of LlamaConfig. A trained model has the size in its file.
    ask: Which field of LlamaConfig is intermediate_size?""")
mistake("four-times-wide", "**sizes,", '**(sizes | {"d_ff": 4 * sizes["d_model"]}),').explain("""
    intermediate_size was not used: d_ff was 4 D
    why: That is the width of GPT-2. A trained model has the size in its file.
    ask: Which field of LlamaConfig is intermediate_size?""")
mistake("own-block-size", "**sizes,", '**(sizes | {"block_size": CONSTANT}),', constant=2048).explain("""
    max_position_embeddings was not used: block_size was {constant}
    why: The file says how long the texts were that the model was trained on.
    ask: Which field of LlamaConfig is max_position_embeddings?""")
mistake("n_heads-for-keys", _HEADS, 'n_kv_heads=sizes["n_heads"]', common=True).explain("""
    num_key_value_heads was not used: there were as many heads of keys as of queries
    why: That is right for models without grouped queries only.
    ask: Which field of LlamaConfig is num_key_value_heads?""")
mistake("keys-of-the-course", _HEADS, 'n_kv_heads=hf_config.get("num_key_value_heads") or 2').explain("""
    where num_key_value_heads is missing, there were two heads of keys and values
    why: That is the default of LlamaConfig. Models without the setting have as many as query heads.
    ask: What does the docstring say about a missing num_key_value_heads?""")
mistake("one-key-head", _HEADS, 'n_kv_heads=hf_config.get("num_key_value_heads") or 1').explain("""
    where num_key_value_heads is missing, all heads shared one head of keys and values
    why: Models without the setting have as many as query heads.
    ask: What does the docstring say about a missing num_key_value_heads?""")
mistake("none-not-missing", _HEADS, 'n_kv_heads=hf_config.get("num_key_value_heads", sizes["n_heads"])').explain("""
    num_key_value_heads was used although it is None
    why: JSON files have null where a setting was not given, which is None here.
    ask: What does dict.get return if the key is there and its value is None?""")
mistake("keys-required", _HEADS, 'n_kv_heads=hf_config["num_key_value_heads"] or sizes["n_heads"]').explain("""
    a file without num_key_value_heads was not accepted
    why: The first Llama has no grouped queries, and its file may not have the setting.
    ask: Which settings may be missing?""")

# The other settings.
mistake("eps-ignored", _EPS, "norm_eps=1e-5", common=True).explain("""
    rms_norm_eps was not used: norm_eps was 1e-5
    why: That is the default of LlamaConfig.
    ask: Which field of LlamaConfig is rms_norm_eps?""")
mistake("eps-fixed", _EPS, "norm_eps=CONSTANT", constant=1e-6).explain("""
    rms_norm_eps was not used: norm_eps was {constant}
    why: Different models have different ones.
    ask: Which field of LlamaConfig is rms_norm_eps?""")
mistake("eps-of-the-course", _EPS, 'norm_eps=hf_config.get("rms_norm_eps", 1e-5)').explain("""
    where rms_norm_eps is missing, norm_eps was 1e-5
    why: In `transformers` a missing rms_norm_eps means 1e-6.
    ask: Which value does the docstring give for a missing rms_norm_eps?""")
mistake("eps-required", _EPS, 'norm_eps=hf_config["rms_norm_eps"]').explain("""
    a file without rms_norm_eps was not accepted
    why: A missing setting has the default of `transformers`.
    ask: Which settings may be missing?""")
mistake("base-ignored", _BASE, "rope_base=10000.0", common=True).explain("""
    rope_theta was not used: rope_base was 10,000
    why: Newer models have larger bases, such as 500,000.
    ask: Which field of LlamaConfig is rope_theta?""")
mistake("base-at-the-top-only", _BASE, 'rope_base=hf_config.get("rope_theta", 10000.0)', common=True).explain("""
    the base in rope_parameters was not used
    why: Version 5 of `transformers` stores it there.
    ask: In which two places can rope_theta be?""")
mistake("base-in-the-dictionary-only", _BASE, 'rope_base=rotations[0].get("rope_theta", 10000.0)').explain("""
    the base at the top of the file was not used
    why: Files of older versions of `transformers` have rope_theta there.
    ask: In which two places can rope_theta be?""")
mistake(
    "base-required", _BASE, 'rope_base=(rotations[0] if "rope_theta" in rotations[0] else hf_config)["rope_theta"]'
).explain("""
    a file without rope_theta was not accepted
    why: A missing base means 10,000.
    ask: Which settings may be missing?""")
mistake("tied-ignored", _TIED, "tied=False", common=True).explain("""
    tie_word_embeddings was not used: tied was False
    why: Small models often have a tied head.
    ask: Which field of LlamaConfig is tie_word_embeddings?""")
mistake("tied-by-default", _TIED, 'tied=hf_config.get("tie_word_embeddings", True)').explain("""
    where tie_word_embeddings is missing, tied was True
    why: That is the default of GPT-2. For a Llama a missing tie_word_embeddings means False.
    ask: Which value does the docstring give for a missing tie_word_embeddings?""")
mistake("tied-inverted", _TIED, 'tied=not hf_config.get("tie_word_embeddings", False)').explain("""
    tied was the opposite of tie_word_embeddings
    why: Both are True if the head is the token table.
    ask: What does True mean in each of the two?""")
mistake("settings-removed", "hf_config.get(theirs) for", "hf_config.pop(theirs, None) for").explain("""
    settings were removed from the dictionary
    why: The caller may still need them.
    ask: Which of your lines change hf_config? What does .pop do?""")
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
    ("ffn-biases-accepted", '"mlp_bias": (False, None)', '"mlp_bias": (False, True, None)', "mlp_bias"),
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
mistake("model-type-optional", '"model_type": ("llama",)', '"model_type": ("llama", None)').explain("""
    a file without a model_type was accepted
    why: It may be the file of any model.
    ask: Which of the settings must be there?""")
mistake("mistral-accepted", '"model_type": ("llama",)', '"model_type": ("llama", "mistral")').explain("""
    a model_type other than "llama" was accepted
    why: Other models look the same and differ in details, such as a window of attention.
    ask: Which values of model_type does the docstring allow?""")
mistake("activation-required", '"hidden_act": ("silu", None)', '"hidden_act": ("silu",)').explain("""
    a file without hidden_act was not accepted
    why: A missing setting has the default of `transformers`, which is "silu".
    ask: Which settings may be missing?""")
mistake(
    "head-size-refused",
    '"head_dim": (sizes["d_model"] // sizes["n_heads"], None)',
    '"head_dim": (None,)',
).explain("""
    every head_dim was refused
    why: Many files have the setting. It changes nothing if it is hidden_size divided by num_attention_heads.
    ask: Which value of head_dim does the docstring allow?""")
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
mistake("older-kind-ignored", _KINDS, 'rotation.get("rope_type", "default")').explain("""
    the kind of the rotation was not found under its older name, `type`
    why: Files of older versions of `transformers` have {"type": "linear", …}.
    ask: Under which two names can the kind be?""")
mistake("newer-kind-ignored", _KINDS, 'rotation.get("type", "default")').explain("""
    the kind of the rotation was looked up under its older name, `type`, only
    why: Newer files have {"rope_type": "llama3", …}.
    ask: Under which two names can the kind be?""")
mistake("llama3-accepted", 'if kind != "default"]', 'if kind not in ("default", "llama3")]').explain("""
    angles scaled as in Llama 3.1 were accepted
    why: Their scaling has a formula of its own, which rope does not have.
    ask: Which kinds of rotation can rope compute?""")
mistake("linear-accepted", 'if kind != "default"]', 'if kind not in ("default", "linear")]').explain("""
    angles with a linear scaling were accepted
    why: All positions are then divided by a factor, which rope does not do.
    ask: Which kinds of rotation can rope compute?""")
mistake(
    "default-scaling-refused",
    'if kind != "default"]',
    'if kind != "default"]\n    unsupported += ["rope_scaling"] if hf_config.get("rope_scaling") else []',
).explain("""
    a rope_scaling of the kind "default" was refused
    why: It changes nothing: the angles are those of rope.
    ask: Which rope_type is allowed?""")
mistake("sizes-not-checked", _IF_ABSENT, "if absent := []:").explain("""
    a missing size was not reported by a ValueError
    why: A KeyError or a TypeError somewhere later does not say what is wrong with the file.
    ask: Which sizes does the docstring list, and what happens if one of them is missing?""")
mistake("sizes-as-keyerror", _SIZES, "sizes = {ours: hf_config[theirs] for theirs, ours in _SIZES.items()}").explain("""
    a missing size raised a KeyError, not a ValueError
    why: The docstring promises a ValueError, so that all problems of a file can be caught in the same way.
    ask: Which error does hf_config["vocab_size"] raise?""")
mistake(
    "other-settings-refused",
    "    if unsupported:",
    '    unsupported += ["pretraining_tp"] if "pretraining_tp" in hf_config else []\n    if unsupported:',
).explain("""
    a setting that changes nothing was refused
    why: Files have many settings that only matter in training, or to other programs.
    ask: Which settings does the docstring say are refused?""")
mistake(
    "none-refused",
    '"head_dim": (sizes["d_model"] // sizes["n_heads"], None)',
    '"head_dim": (sizes["d_model"] // sizes["n_heads"],)',
    "found = {name: hf_config.get(name) for name in allowed}",
    "allowed = {name: values for name, values in allowed.items() if name in hf_config or name == 'model_type'}\n"
    "    found = {name: hf_config.get(name) for name in allowed}",
).explain("""
    a head_dim of None was refused
    why: JSON files have null where a setting was not given, which is None here.
    ask: What does dict.get return if the key is there and its value is None?""")
mistake("errors-as-assertions", _REFUSED, "assert not unsupported, unsupported").explain("""
    an unsupported setting raised an AssertionError, not a ValueError
    why: Assertions are for mistakes in the program. This is a file that the program cannot read.
    ask: Which error does the docstring name?""")
