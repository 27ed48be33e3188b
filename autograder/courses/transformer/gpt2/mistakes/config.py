"""Mistakes in `gpt2`: the configuration."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_ACTIVATION = '"relu" if hf_config.get("activation_function") == "relu" else "gelu"'
_NAMES = '{"gelu_new": "gelu", "gelu_pytorch_tanh": "gelu", "relu": "relu"}'
_TIED = 'hf_config.get("tie_word_embeddings", True)'
_INNER = 'hf_config.get("n_inner")'
_END = f"tied={_TIED},"

mistake = MISTAKES.for_functions("gpt2.gpt2_config")
mistake("block-size-from-n_ctx", '["n_positions"]', '.get("n_ctx", hf_config["n_positions"])').explain(
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
mistake("layers-and-heads-exchanged", '["n_layer"],', '["n_head"] * 1,', '["n_head"],', '["n_layer"],').explain("""
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
for name, found in (("", '"activation_function", "gelu_new"'), ("-as-without", '"activation_function"')):
    code = f'{{"gelu_new": "gelu"}}.get(hf_config.get({found}), "relu")'
    mistake(f"gelu_pytorch_tanh-refused{name}", _ACTIVATION, code).explain("""
        the activation "gelu_pytorch_tanh" became "relu"
        why: It is another name of GELU's tanh form.
        ask: What are gelu(-1) and relu(-1)? Which of the two does your model compute for "gelu_pytorch_tanh"?""")
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
        ask: Pass only the sizes, d_ff, activation and tied to GPTConfig. Which field is then different from yours?""")
mistake("nothing-checked", "check_gpt2_settings(hf_config)", "pass").explain("""
    settings that this GPT cannot have were accepted
    why: The model would run, with wrong scores, and nothing would say so.
    ask: If scale_attn_weights is False, the scores are not divided by √K. Which of your lines notices that?""")
mistake("activation_function-required", _ACTIVATION, f'{_NAMES}[hf_config["activation_function"]]').explain("""
    a configuration without activation_function raised KeyError
    why: A missing key has the value of GPT-2. Only the five sizes must be there.
    ask: What does hf_config["activation_function"] do if the key is missing?""")
mistake("dict-returned", "return GPTConfig(", "return dict(").explain("""
    a dictionary was returned, not a GPTConfig
    why: The functions of the model read attributes: config.block_size.
    ask: What is the type of what you return?""")
