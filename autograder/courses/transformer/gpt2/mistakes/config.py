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
mistake("n_inner-ignored", f"d_ff={_INNER}", "d_ff=None").explain("""
    n_inner was ignored: the feed-forward network always has the width 4 D
    why: The mistake stays hidden with GPT-2 small, whose configuration has no n_inner.
    ask: Which shape does h.0.mlp.c_fc.weight have if n_embd is 20 and n_inner is 30?""")
mistake("n_inner-required", f"d_ff={_INNER}", 'd_ff=hf_config["n_inner"]').explain("""
    a configuration without n_inner raised KeyError
    why: The file of GPT-2 small has no n_inner. It is then 4 n_embd.
    ask: What does hf_config["n_inner"] do if the key is missing?""")
mistake(
    "layers-and-heads-exchanged",
    'hf_config["n_layer"],',
    'hf_config["n_head"] * 1,',
    'hf_config["n_head"],',
    'hf_config["n_layer"],',
).explain("""
    n_layer and n_head were swapped
    why: The names of the two kinds of configuration differ, so each field has to be matched by its meaning.
    ask: Which of your fields is n_layer, and which one is n_head?""")
mistake("n_layers-from-n_head", 'n_layers=hf_config["n_layer"]', 'n_layers=hf_config["n_head"]').explain("""
    n_layers was taken from n_head
    why: Its name in config.json is n_layer.
    ask: Which key of config.json does your field n_layers come from?""")
mistake("vocabulary-rounded-up", 'hf_config["vocab_size"],', '-(-hf_config["vocab_size"] // 64) * 64,').explain("""
    the vocabulary was rounded up to a multiple of 64
    why: Some trainers pad their tables in this way. The checkpoint has exactly vocab_size rows.
    ask: How many rows does wte.weight have?""")
mistake("always-gelu", _ACTIVATION, '"gelu"').explain("""
    the activation was always "gelu"
    why: A configuration with activation_function "relu" has another activation.
    ask: Which activation does your model have if activation_function is "relu"?""")
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
mistake("gelu_pytorch_tanh-refused", ', "gelu_pytorch_tanh": "gelu"', "").explain("""
    the activation "gelu_pytorch_tanh" was rejected
    why: The GPT has it: it is another name of GELU's tanh form.
    ask: Which activations does the docstring list?""")
mistake("always-tied", _TIED, "True").explain("""
    the head was always tied
    why: With tie_word_embeddings False, the head has its own matrix, lm_head.weight.
    ask: What is tied if tie_word_embeddings is False?""")
mistake("untied-by-default", _TIED, 'hf_config.get("tie_word_embeddings", False)').explain("""
    without tie_word_embeddings, the head was not tied
    why: The file of GPT-2 small has no tie_word_embeddings, and its head is tied.
    ask: What is tied if the file has no tie_word_embeddings?""")
for name, code, title, why in (
    (
        "dropout-from-the-file",
        'dropout=hf_config.get("resid_pdrop", 0.0)',
        "the dropout was taken from resid_pdrop",
        "Dropout is for training. The model should only be run, so the dropout stays 0.",
    ),
    ("post-norm", 'norm="post"', "the blocks are post-norm", "GPT-2 normalizes before each step, and once at the end."),
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
):
    mistake(f"{name}-not-checked", key, "").explain(f"""
        {what}
        why: The GPT of this course cannot do what this setting asks for. It would run, with wrong scores.
        ask: Which settings does the docstring say are errors?""")
mistake("nothing-checked", _CHECK, 'if key == "activation_function" and value not in values:').explain("""
    unsupported settings were accepted, except for the activation
    why: The model would run, with wrong scores. The docstring promises a ValueError.
    ask: What does your code do with the configuration of another architecture?""")
for key in ("model_type", "activation_function"):
    mistake(
        f"{key}-required",
        "hf_config.get(key, values[0])",
        f'hf_config[key] if key == "{key}" else hf_config.get(key, values[0])',
    ).explain(f"""
        a configuration without {key} raised KeyError
        why: A missing key has the value of GPT-2. Only the five sizes must be there.
        ask: What does hf_config["{key}"] do if the key is missing?""")
mistake("sizes-not-checked", "if missing:", "if False:").explain("""
    a missing size raised KeyError, not ValueError
    why: A ValueError can say what is wrong: this size is missing from the file. A KeyError looks like a bug.
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
mistake("dict-returned", "return GPTConfig(", "return dict(").explain("""
    a dictionary was returned, not a GPTConfig
    why: The functions of the model read attributes: config.block_size.
    ask: What is the type of what you return?""")
