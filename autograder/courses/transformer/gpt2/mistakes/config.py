"""Mistakes in `gpt2`: the configuration."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CHECK = "if value not in values:"
_ACTIVATION = 'activations[hf_config.get("activation_function", "gelu_new")]'
_TIED = 'hf_config.get("tie_word_embeddings", True)'
_INNER = 'hf_config.get("n_inner")'
_END = f"tied={_TIED},"

mistake = MISTAKES.for_functions("gpt2.gpt2_config")
mistake(
    "block-size-from-n_ctx", 'hf_config["n_positions"]', 'hf_config.get("n_ctx", hf_config["n_positions"])'
).explain(
    """
    the block size was taken from n_ctx
    why: n_ctx is an older key, which newer files do not have. The number of positions is n_positions.
    ask: How many rows does wpe.weight have if n_positions is 24 and n_ctx is 16?"""
)
mistake("n_ctx-required", 'hf_config["n_positions"]', 'hf_config["n_ctx"]').explain("""
    the block size was read from n_ctx, which newer files do not have
    why: The number of positions is n_positions. Both keys are in the file of GPT-2 small, with the same value.
    ask: Which key is mentioned in the docstring?""")
mistake("n_inner-ignored", f"d_ff={_INNER}", "d_ff=None").explain("""
    n_inner was ignored: the feed-forward network always has the width 4 D
    why: The mistake stays hidden with GPT-2 small, whose configuration has no n_inner.
    ask: Which shape does h.0.mlp.c_fc.weight have if n_embd is 20 and n_inner is 30?""")
mistake("n_inner-required", f"d_ff={_INNER}", 'd_ff=hf_config["n_inner"]').explain("""
    a configuration without n_inner raised KeyError
    why: The file of GPT-2 small has no n_inner. It is then 4 n_embd.
    ask: What does hf_config["n_inner"] do if the key is missing?""")
mistake("n_inner-none-as-d_model", _INNER, 'hf_config.get("n_inner") or hf_config["n_embd"]').explain("""
    without n_inner, the width of the feed-forward network was n_embd
    why: Without n_inner it is 4 n_embd.
    ask: How wide is the feed-forward network of GPT-2 small, whose n_embd is 768?""")
mistake("n_inner-times-4", f"d_ff={_INNER}", "d_ff=4 * (hf_config.get('n_inner') or hf_config['n_embd'])").explain("""
    n_inner was multiplied by 4
    why: n_inner is the width itself. Only if it is missing, the width is 4 n_embd.
    ask: What is d_ff if n_inner is 30?""")
for name, first, second in (
    ("layers-and-heads", "n_layer", "n_head"),
    ("vocabulary-and-positions", "vocab_size", "n_positions"),
    ("width-and-positions", "n_embd", "n_positions"),
):
    mistake(
        f"{name}-exchanged",
        f'hf_config["{first}"],',
        f'hf_config["{second}"] * 1,',
        f'hf_config["{second}"],',
        f'hf_config["{first}"],',
    ).explain(f"""
        {first} and {second} were swapped
        why: The names of the two kinds of configuration differ, so each field has to be matched by its meaning.
        ask: Which of your fields is {first}, and which one is {second}?""")
for field, right, wrong in (
    ("n_layers", "n_layer", "n_head"),
    ("n_heads", "n_head", "n_layer"),
    ("block_size", "n_positions", "n_embd"),
    ("d_ff", "n_inner", "n_positions"),
):
    code = _INNER if right == "n_inner" else f'hf_config["{right}"]'
    mistake(f"{field}-from-{wrong}", f"{field}={code}", f'{field}=hf_config["{wrong}"]').explain(f"""
        {field} was taken from {wrong}
        why: Its name in config.json is {right}.
        ask: Which key of config.json does your field {field} come from?""")
mistake("vocabulary-rounded-up", 'hf_config["vocab_size"],', '-(-hf_config["vocab_size"] // 64) * 64,').explain("""
    the vocabulary was rounded up to a multiple of 64
    why: Some trainers pad their tables in this way. The checkpoint has exactly vocab_size rows.
    ask: How many rows does wte.weight have?""")
mistake("always-gelu", _ACTIVATION, '"gelu"').explain("""
    the activation was always "gelu"
    why: A configuration with activation_function "relu" has another activation.
    ask: Which activation does your model have if activation_function is "relu"?""")
mistake("activation-not-translated", _ACTIVATION, 'hf_config.get("activation_function", "gelu_new")').explain("""
    the name of the activation was passed to GPTConfig as it is
    why: GPTConfig has other names: the tanh form, "gelu_new", is "gelu".
    ask: Which values does GPTConfig allow for activation?""")
mistake("exact-gelu-accepted", '"gelu_new": "gelu",', '"gelu_new": "gelu", "gelu": "gelu",').explain("""
    the activation "gelu" was accepted
    why: In these files, "gelu" is the exact form with the error function, and GPTConfig's "gelu" is the tanh form. The
         scores would be slightly wrong, and nothing would say so.
    ask: Which of the two forms of GELU does "gelu" stand for in config.json?""")
mistake(
    "unknown-activation-as-gelu",
    '"activation_function": tuple(activations),',
    "",
    _ACTIVATION,
    'activations.get(hf_config.get("activation_function"), "gelu")',
).explain("""
    activations that this GPT does not have were replaced by GELU
    why: The model would run, with wrong scores. The docstring promises a ValueError.
    ask: What does your code do if activation_function is "silu"?""")
mistake(
    "unknown-activation-as-relu",
    '"activation_function": tuple(activations),',
    "",
    _ACTIVATION,
    '"gelu" if "gelu" in hf_config.get("activation_function", "gelu_new") else "relu"',
).explain("""
    every activation without "gelu" in its name was taken as ReLU, and every other one as GELU
    why: The model would run, with wrong scores. The docstring promises a ValueError.
    ask: What does your code do if activation_function is "silu"?""")
for name in ("gelu_pytorch_tanh", "relu"):
    entry = f', "{name}": "{"relu" if name == "relu" else "gelu"}"'
    mistake(f"{name}-refused", entry, "").explain(f"""
        the activation "{name}" was rejected
        why: The GPT has it: it is {"another name of GELU's tanh form" if name != "relu" else "ReLU"}.
        ask: Which activations does the docstring list?""")
mistake("always-tied", _TIED, "True").explain("""
    the head was always tied
    why: With tie_word_embeddings False, the head has its own matrix, lm_head.weight.
    ask: What is tied if tie_word_embeddings is False?""")
mistake("never-tied", _TIED, "False").explain("""
    the head was never tied
    why: GPT-2 uses its token table as the head.
    ask: What is tied if the file has no tie_word_embeddings?""")
mistake("untied-by-default", _TIED, 'hf_config.get("tie_word_embeddings", False)').explain("""
    without tie_word_embeddings, the head was not tied
    why: The file of GPT-2 small has no tie_word_embeddings, and its head is tied.
    ask: What is tied if the file has no tie_word_embeddings?""")
mistake("tied-inverted", _TIED, 'not hf_config.get("tie_word_embeddings", True)').explain("""
    tied was the opposite of tie_word_embeddings
    why: Both mean the same: the token table is also the head.
    ask: What is tied if tie_word_embeddings is True?""")
for name, code, title, why in (
    (
        "dropout-from-the-file",
        'dropout=hf_config.get("resid_pdrop", 0.0)',
        "the dropout was taken from resid_pdrop",
        "Dropout is for training. The model should only be run, so the dropout stays 0.",
    ),
    (
        "dropout-of-gpt2",
        "dropout=0.1",
        "the dropout was 0.1, not 0",
        "GPT-2 was trained with dropout, but nothing is dropped when it is run.",
    ),
    ("no-biases", "bias=False", "the linear layers have no biases", "All linear layers of GPT-2's blocks have one."),
    (
        "no-attention-bias",
        "attention_bias=False",
        "attention has no biases",
        "c_attn.bias and c_proj.bias are in the checkpoint.",
    ),
    ("head-bias", "head_bias=True", "the head has a bias", "GPT-2's head has none."),
    ("post-norm", 'norm="post"', "the blocks are post-norm", "GPT-2 normalizes before each step, and once at the end."),
    (
        "sinusoidal",
        'positions="sinusoidal"',
        "the positions are sines and cosines",
        "GPT-2's positions are learned: the table wpe.weight.",
    ),
):
    mistake(name, _END, f"{_END} {code},").explain(f"""
        {title}
        why: {why}
        ask: Which of the fields that you set does the docstring not mention?""")
for name, key, what in (
    ("model-type", '"model_type": ("gpt2",),', "model_type was not checked"),
    ("eps", '"layer_norm_epsilon": (1e-5,),', "layer_norm_epsilon was not checked"),
    ("scale", '"scale_attn_weights": (True,),', "scale_attn_weights was not checked"),
    (
        "inverse-scale",
        '"scale_attn_by_inverse_layer_idx": (False,),',
        "scale_attn_by_inverse_layer_idx was not checked",
    ),
    ("cross-attention", '"add_cross_attention": (False,),', "add_cross_attention was not checked"),
):
    mistake(f"{name}-not-checked", key, "").explain(f"""
        {what}
        why: The GPT of this course cannot do what this setting asks for. It would run, with wrong scores.
        ask: Which settings does the docstring say are errors?""")
mistake("nothing-checked", _CHECK, 'if key == "activation_function" and value not in values:').explain("""
    unsupported settings were accepted, except for the activation
    why: The model would run, with wrong scores. The docstring promises a ValueError.
    ask: What does your code do with the configuration of another architecture?""")
mistake(
    "similar-model-type-accepted", _CHECK, 'if value not in values and not (key == "model_type" and "gpt" in value):'
).explain("""
    every model_type with "gpt" in its name was accepted
    why: GPT-Neo is not GPT-2: every second of its blocks attends to the last 256 positions only.
    ask: Is "gpt2" in value, or is it value?""")
mistake(
    "model-type-prefix-accepted",
    _CHECK,
    'if value not in values and not (key == "model_type" and value.startswith("gpt2")):',
).explain("""
    every model_type that begins with "gpt2" was accepted
    why: Only "gpt2" is known to be this architecture.
    ask: What does your code do if model_type is "gpt2_custom"?""")
mistake(
    "small-eps-accepted", _CHECK, 'if value not in values and not (key == "layer_norm_epsilon" and value < 1e-5):'
).explain("""
    a layer_norm_epsilon below 1e-5 was accepted
    why: The layer norm of the course's blocks uses 1e-5. Another eps gives slightly different scores.
    ask: What does your code do if layer_norm_epsilon is 1e-6?""")
mistake(
    "close-eps-accepted",
    _CHECK,
    'if value not in values and not (key == "layer_norm_epsilon" and abs(value - 1e-5) < 1e-3):',
).explain("""
    a layer_norm_epsilon near 1e-5 was accepted
    why: The layer norm of the course's blocks uses 1e-5. Another eps gives slightly different scores.
    ask: What does your code do if layer_norm_epsilon is 1e-4?""")
for key in ("model_type", "activation_function", "layer_norm_epsilon"):
    mistake(
        f"{key}-required",
        "hf_config.get(key, values[0])",
        f'hf_config[key] if key == "{key}" else hf_config.get(key, values[0])',
    ).explain(f"""
        a configuration without {key} raised KeyError
        why: A missing key has the value of GPT-2. Only the five sizes must be there.
        ask: What does hf_config["{key}"] do if the key is missing?""")
mistake("all-keys-required", "hf_config.get(key, values[0])", "hf_config[key]").explain("""
    a configuration without one of the optional settings raised KeyError
    why: A missing key has the value of GPT-2. Only the five sizes must be there.
    ask: Which of the settings are in the file of GPT-2 small?""")
mistake("sizes-not-checked", "if missing:", "if False:").explain("""
    a missing size raised KeyError, not ValueError
    why: The docstring promises a ValueError with the name of the size.
    ask: What does hf_config["n_embd"] do if the key is missing?""")
mistake(
    "size-defaults",
    "    if missing:",
    "    defaults = {'vocab_size': 50257, 'n_positions': 1024, 'n_layer': 12, 'n_head': 12, 'n_embd': 768}\n"
    "    hf_config = {**defaults, **hf_config}\n    if False:",
).explain("""
    a missing size was replaced by that of GPT-2 small
    why: The docstring promises a ValueError. A wrong size shows much later, as a shape that does not fit.
    ask: What does your code do if n_layer is missing?""")
mistake(
    "other-keys-refused",
    "    missing =",
    "    if len(hf_config) > 12:\n        raise ValueError('unknown keys')\n    missing =",
).explain("""
    keys that are not mentioned in the docstring were rejected
    why: Files on the hub have many more keys, about training and other tasks. They have no effect here.
    ask: What does your code do with the key "summary_type"?""")
mistake(
    "key-removed", 'hf_config["vocab_size"],', 'hf_config.pop("vocab_size"),', group="dictionary-changed"
).explain("""
    a key was removed from the caller's dictionary
    why: The dictionary belongs to the caller, who may use it again.
    ask: Is vocab_size still in hf_config after your function was called?""")
mistake(
    "default-written",
    "    missing =",
    "    if hf_config.get('n_inner') is None and 'n_embd' in hf_config:\n"
    "        hf_config['n_inner'] = 4 * hf_config['n_embd']\n    missing =",
    group="dictionary-changed",
).explain("""
    defaults were written into the caller's dictionary
    why: The dictionary belongs to the caller, who may use it again.
    ask: Does hf_config have more keys after your function was called?""")
mistake("dict-returned", "return GPTConfig(", "return dict(").explain("""
    a dictionary was returned, not a GPTConfig
    why: The functions of the model read attributes: config.block_size.
    ask: What is the type of what you return?""")
