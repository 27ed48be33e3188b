"""Mistakes in reading the configuration of a Llama checkpoint."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_BASE = 'base = rotation.get("rope_theta") or settings.get("rope_theta", 10000.0)'

mistake = MISTAKES.for_functions("llama.llama_config")

mistake("settings-not-checked", "check_llama_settings(hf_config)", "pass", common=True).explain("""
    settings that this model cannot have were accepted
    why: A model with biases or scaled angles is read without an error, and computes something else.
    ask: Which given function looks at the settings, and where do you call it?""")
mistake(
    "none-kept", "{name: value for name, value in hf_config.items() if value is not None}", "hf_config", common=True
).explain("""
    a setting that is None was passed on as None, not replaced by its default
    why: A norm whose eps is None stops with a TypeError later, far from the file that caused it.
    ask: What does hf_config.get("rms_norm_eps", 1e-6) return if the key is there, with the value None?""")
mistake(
    "vocab_size-and-block_size-exchanged",
    *('vocab_size=settings["vocab_size"]', 'vocab_size=settings["max_position_embeddings"]'),
    *('block_size=settings["max_position_embeddings"]', 'block_size=settings["vocab_size"]'),
).explain("""
    vocab_size and max_position_embeddings were swapped
    why: Both are sizes of the model, and nothing reports the mistake until the parameters do not fit.
    ask: Which field of LlamaConfig belongs to each of the two?""")
for name, old, new, title, why in (
    (
        "n_heads-for-keys",
        'settings.get("num_key_value_heads", settings["num_attention_heads"])',
        'settings["num_attention_heads"]',
        "num_key_value_heads was not used: there were as many heads of keys as of queries",
        "That is right for models without grouped queries only.",
    ),
    (
        "eps-ignored",
        'norm_eps=settings.get("rms_norm_eps", 1e-6)',
        "norm_eps=1e-5",
        "rms_norm_eps was not used: norm_eps was 1e-5",
        "That is the default of LlamaConfig.",
    ),
    (
        "eps-of-this-course",
        'settings.get("rms_norm_eps", 1e-6)',
        'settings.get("rms_norm_eps", 1e-5)',
        "without rms_norm_eps, norm_eps was 1e-5",
        "That is the default of LlamaConfig. A file without this setting means 1e-6.",
    ),
    (
        "base-ignored",
        _BASE,
        "base = 10000.0",
        "rope_theta was not used: rope_base was 10,000",
        "Newer models have larger bases, such as 500,000.",
    ),
    (
        "base-at-the-top-only",
        _BASE,
        'base = settings.get("rope_theta", 10000.0)',
        "the base in rope_parameters was not used",
        "Version 5 of `transformers` stores it there.",
    ),
    (
        "tied-ignored",
        'tied=settings.get("tie_word_embeddings", False)',
        "tied=False",
        "tie_word_embeddings was not used: tied was False",
        "Small models often have a tied head.",
    ),
):
    mistake(name, old, new, common=True).explain(f"""
        {title}
        why: {why}
        ask: Which row of the lesson's table does your code leave out?""")
mistake("base-required", _BASE, 'base = (rotation if "rope_theta" in rotation else settings)["rope_theta"]').explain("""
    a file without rope_theta was not accepted
    why: A missing base means 10,000.
    ask: Which settings may be missing?""")
mistake("scaling-ignored", "scaled_base(base, hf_config)", "base", common=True).explain("""
    the angles of a model with Llama 3's scaling were not scaled
    why: Such a model still writes, but worse, and nothing reports it.
    ask: Which given function scales the angles, and where do you call it?""")
mistake("dictionary-returned", "    return LlamaConfig(", "    return dict(").explain("""
    a dict was returned, not a LlamaConfig
    why: llama reads the settings as attributes: config.n_heads.
    ask: What is dict(n_heads=4).n_heads?""")
mistake(
    "other-settings-refused",
    "    rotation = ",
    '    if "pretraining_tp" in settings:\n        raise ValueError("unknown: pretraining_tp")\n    rotation = ',
).explain("""
    a setting that changes nothing was refused
    why: Files have many settings that only matter in training, or to other programs.
    ask: Which settings does check_llama_settings refuse?""")
