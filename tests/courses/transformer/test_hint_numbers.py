"""The second hint of a function is a small case with its result: the numbers are those of the official solution."""

import math
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from support.built_in import solution_module

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.workspace import hints

EYE = np.eye(2)
W = np.array([[1.0, 2.0], [3.0, 4.0]])
IN = np.array([[1.0, 0.0], [1.0, 1.0]])
ONES, ZEROS = np.ones(2), np.zeros(2)
FFN = (np.array([[1.0, -1.0], [2.0, 1.0]]), {"W_1": EYE, "W_2": W}, "relu")
NORMS = {f"ln{i}.{name}": value for i in (1, 2, 3) for name, value in (("gamma", ONES), ("beta", ZEROS))}
ATTENTION = {"W_qkv": np.tile(EYE, 3), "W_o": EYE}
IDENTITY = {f"attn.{name}": value for name, value in ATTENTION.items()} | {"ffn.W_1": EYE, "ffn.W_2": EYE}
NO_FFN = {"ffn.W_1": np.zeros((2, 3)), "ffn.W_2": np.zeros((3, 2))}
DECODER = NORMS | IDENTITY | NO_FFN | {f"source_attn.{name}": value for name, value in ATTENTION.items()}
TWO_BLOCKS = [(np.array([[key]]), np.array([[value]])) for key, value in ((0.0, 10.0), (np.log(3.0), 30.0))]
LORA = (np.array([1.0, 2.0]), EYE, EYE, np.ones((2, 2)), 1)
HALVES = np.log([0.5, 0.25, 0.125, 0.125])
LOG3 = math.log(3)
TWO_LOGITS = np.array([[0.0, 0.0], [0.0, LOG3]])
PAIRS = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
SWIGLU = (np.array([LOG3, 1.0]), {"W_gate": EYE, "W_up": EYE, "W_down": np.ones((2, 1))})
TOKENS = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
SHARED = {"W_q": np.zeros((4, 4)), "W_k": np.zeros((4, 2)), "W_v": np.eye(4)[:, :2], "W_o": np.eye(4)}


def darts(*numbers):
    """Return a generator that draws given numbers."""
    return SimpleNamespace(random=lambda shape: np.reshape(numbers, shape))


SIZES = {"vocab_size": 10, "n_positions": 8, "n_layer": 2, "n_head": 2, "n_embd": 4}
HEAD = np.arange(1.0, 7.0).reshape(3, 2)


@cache
def call(name):
    module, _, function = name.partition(".")
    return getattr(solution_module(module), function)


def gpt_with_an_identity(ids, targets=None):
    gpt = solution_module("gpt")
    config = gpt.GPTConfig(vocab_size=2, block_size=2, n_layers=1, n_heads=1, d_model=2)
    params = {name: np.zeros(np.shape(value)) for name, value in gpt.init_gpt(config, np.random.default_rng(0)).items()}
    params |= {name: ONES for name in params if "gamma" in name} | {"W_tok": EYE}
    return gpt.gpt(ids, params, config)[0] if targets is None else gpt.gpt_loss(ids, targets, params, config)


def adamw_twice():
    params, state, found = {"p": np.array([1.0])}, {}, []
    for _ in range(2):
        params, state = call("training.adamw_step")(params, {"p": np.array([2.0])}, state, 0.1, weight_decay=0.5)
        found.append(params["p"])
    return found


def with_head(table):
    sizes = SIZES | {"vocab_size": 3, "n_embd": 2}
    shapes = solution_module("gpt2").gpt2_shapes(sizes)
    return {name: np.zeros(shape) for name, shape in shapes.items()} | {"wte.weight": table, "lm_head.weight": HEAD}


def first_stage():
    model = solution_module("encoder_decoder")
    config = model.TransformerConfig(vocab_source=3, vocab_target=3, n_layers=1, n_heads=1, d_model=4)
    params = model.init_transformer(config, np.random.default_rng(0)) | {"W_source": np.ones((3, 4))}
    return model.encode(np.array([0]), params, config)[1]["source_embedded"][0]


def gelu_steps(x):
    root = math.sqrt(2 / math.pi)
    u, slope_of_u = root * (x + 0.044715 * x**3), root * (1 + 3 * 0.044715 * x**2)
    slope_of_s = (1 - math.tanh(u) ** 2) / 2
    steps = {"u": u, "tanh u": math.tanh(u), "s": (1 + math.tanh(u)) / 2, "du/dx": slope_of_u}
    return steps | {"s′": slope_of_s * slope_of_u}


def small_llama():
    """Return the configuration and the parameters of the block, and of the model, of the hints."""
    llama = solution_module("llama")
    sizes = {"vocab_size": 2, "block_size": 2, "n_layers": 1, "n_heads": 1, "n_kv_heads": 1, "d_model": 2, "d_ff": 2}
    block = {f"attn.W_{name}": EYE for name in "qkvo"} | {f"ffn.W_{name}": EYE for name in ("gate", "up", "down")}
    block |= {"norm1.gamma": ONES, "norm2.gamma": ONES}
    model = {f"blocks.0.{name}": value if "gamma" in name else np.zeros((2, 2)) for name, value in block.items()}
    return llama.LlamaConfig(**sizes, tied=True), block, model | {"W_tok": EYE, "norm_f.gamma": ONES}


def llama_block_steps():
    config, block, _ = small_llama()
    out, cache = call("llama.llama_block")(np.array([[3.0, 4.0]]), block, config)
    return call("layernorm.rmsnorm")(np.array([3.0, 4.0]), ONES), cache["after_attention"][0], out[0], cache


def llama_block_gradients():
    *_, cache = llama_block_steps()
    dout = np.array([[1.0, -1.0]])
    dffn = call("llama_layers.swiglu_backward")(dout, cache["ffn"])[0]
    dnorm = call("layernorm.rmsnorm_backward")(dffn, *cache["norm2"])[0]
    return [dffn[0], dnorm[0], (dout + dnorm)[0], call("llama.llama_block_backward")(dout, cache)[0][0]]


def llama_table_gradients():
    config, _, model = small_llama()
    dlogits = np.array([[1.0, -1.0]])
    _, cache = call("llama.llama")(np.array([0]), model, config)
    head = np.outer(dlogits, cache["final_norm"])
    whole = call("llama.llama_backward")(dlogits, cache)["W_tok"]
    return [head, (whole - head)[0], whole]


def llama_settings(**changes):
    sizes = ("vocab_size", "max_position_embeddings", "num_hidden_layers", "intermediate_size")
    settings = {"model_type": "llama", "hidden_size": 48, "num_attention_heads": 6} | dict.fromkeys(sizes, 7)
    return call("llama.llama_config")(settings | changes)


def bf16_number():
    bits = np.array([49312], dtype=np.uint16)
    matrix = np.zeros((2, 2), dtype=np.float32)
    names = [f"mlp.{name}_proj" for name in ("gate", "up", "down")] + [f"self_attn.{name}_proj" for name in "qkvo"]
    names = [f"layers.0.{name}" for name in (*names, "input_layernorm", "post_attention_layernorm")]
    tensors = {f"{name}.weight": matrix for name in (*names, "embed_tokens")} | {"norm.weight": bits}
    return call("llama.llama_params")(tensors)["norm_f.gamma"]


# function: the results that its hint names, in any order
CASES = {
    "layernorm.layernorm": lambda f: [
        f(np.array([[1.0, 3.0], [0.0, 10.0]]), ONES, ZEROS, 0.0)[0],
        f(np.array([0.0, 0.0, 3.0]), np.ones(3), np.zeros(3), 0.0),
        f(np.array([0.0, 0.0, 3.0]), np.ones(3), np.zeros(3), 0.0) * math.sqrt(2 / 3),
    ],
    "layernorm.layernorm_backward": lambda f: [
        call("layernorm.layernorm")(np.array([0.0, 0.0, 3.0]), np.ones(3), np.zeros(3), 0.0),
        f(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 3.0]), np.ones(3), 0.0)[0],
        call("layernorm.rmsnorm_backward")(np.array([1.0, 0.0, 0.0]), np.array([-1.0, -1.0, 2.0]), np.ones(3), 0.0)[0],
    ],
    "layernorm.rmsnorm": lambda f: [
        f(np.array([3.0, 4.0]), ONES, 0.0),
        f(np.array([3.0, 4.0]), np.array([2.0, 1.0]), 0.0)[0],
    ],
    "layernorm.rmsnorm_backward": lambda f: [*f(np.array([1.0, 0.0]), ONES, ONES, 0.0)],
    "ffn.relu": lambda f: [f(np.array([[-1.0, 2.0], [0.0, -3.0]]))],
    "ffn.relu_backward": lambda f: [f(np.array([[5.0, -6.0], [7.0, 8.0]]), np.array([[-1.0, 2.0], [0.0, 3.0]]))],
    "ffn.gelu": lambda f: [*f(np.array([1.0, -1.0, 2.0])), math.sqrt(2 / math.pi) * 1.044715],
    "ffn.gelu_backward": lambda f: [f(np.ones(1), np.array([2.0]))[0], *gelu_steps(2.0).values()],
    "ffn.linear": lambda f: [f(IN, W, np.array([10.0, 20.0])), f(IN, W, None)],
    "ffn.linear_backward": lambda f: [*f(np.array([[1.0, 0.0], [1.0, 0.0]]), IN, W)],
    "ffn.dropout": lambda f: [f(np.ones((2, 2)), 0.5, darts(0.1, 0.7, 0.5, 0.4))[1]],
    "ffn.dropout_backward": lambda f: [f(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))],
    "ffn.ffn": lambda f: [f(*FFN)[0], f(*FFN)[1]["activated"]],
    "ffn.ffn_backward": lambda f: [f(EYE, call("ffn.ffn")(*FFN)[1])[0], *f(EYE, call("ffn.ffn")(*FFN)[1])[1].values()],
    "blocks.block": lambda f: [
        f(np.array([[1.0, 3.0]]), NORMS | IDENTITY, 1, norm=norm, activation="relu")[1][stage][0]
        for norm in ("pre", "post")
        for stage in ("after_attention", "after_ffn")
    ],
    "gpt.count_parameters": lambda f: [f({"W": np.ones((2, 2)), "b": ONES})],
    "gpt.gpt": lambda f: [gpt_with_an_identity([0, 1])],
    "gpt.gpt_loss": lambda f: [gpt_with_an_identity([0], [0])[0], gpt_with_an_identity([0], [0])[1]["W_tok"]],
    "training.adamw_step": lambda f: adamw_twice(),
    "training.clip_grad_norm": lambda f: [
        f({"g": np.diag([3.0, 4.0])}, 2.5)[0]["g"],
        f({"g": np.diag([3.0, 4.0])}, 2.5)[1],
    ],
    "training.learning_rate": lambda f: [f(step, 1.0, 0.0, 2, 6) for step in range(7)],
    "generation.next_token_probs": lambda f: [f(HALVES, top_k=2), f(HALVES, top_p=0.6), f(HALVES, top_p=0.5)],
    "generation.sample": lambda f: [f([[0.25, 0.75], [0.5, 0.5]], darts(0.3, 0.3)), f([[0.25, 0.25]], darts(0.6))[0]],
    "encoder_decoder.encoder_block": lambda f: [f(np.array([[1.0, 3.0]]), NORMS | IDENTITY | NO_FFN, 1)[0][0]],
    "encoder_decoder.decoder_block": lambda f: [f(np.array([[1.0, 3.0]]), np.array([[4.0, 0.0]]), DECODER, 1)[0][0]],
    "encoder_decoder.encode": lambda f: [first_stage()],
    "gpt2.gpt2_config": lambda f: [f(SIZES).block_size, f(SIZES).d_model, f(SIZES).d_ff],
    "gpt2.gpt2_params": lambda f: ([f(with_head(np.ones((3, 2))))["W_head"]]),
    "gpt2.last_logits": lambda f: [1.0 * call("attention.causal_mask")(2, 5)],
    "encoder_decoder.transformer_backward": lambda f: [
        call("softmax.cross_entropy_backward")(np.zeros((1, 2)), [1])[0]
    ],
    "llama_layers.rope": lambda f: [*f(PAIRS, np.array([2, 2]), 100.0)],
    "llama_layers.rope_backward": lambda f: [f(PAIRS, np.array([2, 2]), 100.0)[0]],
    "llama_layers.silu": lambda f: [*f(np.array([LOG3, -LOG3]))],
    "llama_layers.silu_backward": lambda f: [f(np.ones(1), np.array([LOG3]))[0], 3 / 16, LOG3 * 3 / 16],
    "llama_layers.swiglu": lambda f: [f(*SWIGLU)[0][0], *(f(*SWIGLU)[1][name] for name in ("opened", "hidden"))],
    "llama_layers.swiglu_backward": lambda f: [
        f(ONES[:1], call("llama_layers.swiglu")(*SWIGLU)[1])[0],
        call("llama_layers.silu")(SWIGLU[0]),
        call("llama_layers.silu_backward")(SWIGLU[0], SWIGLU[0]),
    ],
    "llama_layers.grouped_query_attention": lambda f: [f(TOKENS[:1], SHARED, 2, 1)[0][0], *f(TOKENS, SHARED, 2, 1)[0]],
    "llama_layers.grouped_query_attention_backward": lambda f: [
        f(np.ones((2, 4)), call("llama_layers.grouped_query_attention")(TOKENS, SHARED, 2, 1)[1])[1]["W_v"]
    ],
    "llama.llama_block": lambda f: [*llama_block_steps()[:3]],
    "llama.llama_block_backward": lambda f: llama_block_gradients(),
    "llama.llama": lambda f: [f(np.array([0, 1]), small_llama()[2], small_llama()[0])[0]],
    "llama.llama_backward": lambda f: llama_table_gradients(),
    "llama.llama_config": lambda f: [
        llama_settings().n_kv_heads,
        llama_settings(num_key_value_heads=2).n_kv_heads,
        llama_settings(rope_theta=500_000).rope_base,
    ],
    "llama.llama_params": lambda f: [bf16_number()],
    "fast.online_softmax_step": lambda f: [
        *map(np.ndarray.item, first := f(-np.inf, 0.0, 0.0, np.log([[1.0, 2.0]]), np.array([[10.0], [20.0]]))),
        *map(np.ndarray.item, f(*first, np.log([[8.0, 4.0]]), np.array([[30.0], [40.0]]))[1:]),
    ],
    "fast.blocked_attention": lambda f: [f(np.ones((1, 1)), TWO_BLOCKS)[0], f(np.ones((1, 1)), TWO_BLOCKS, 0)[0]],
    "fast.quantize": lambda f: [f(np.array([[31.75], [-0.625], [0.875]]))[0][:, 0]],
    "fast.int8_linear": lambda f: [f(np.array([1.0, 2.0]), np.array([[127, 5], [-10, 3]]), np.array([0.5, 2.0]))],
    "finetuning.answer_loss": lambda f: [
        *(first := f(TWO_LOGITS, np.ones(2, int), np.array([True, False])))[:1],
        first[1][0],
        f(TWO_LOGITS, np.ones(2, int), np.ones(2, bool))[0],
    ],
    "finetuning.lora_linear": lambda f: [f(*LORA)[0]],
    "finetuning.lora_linear_backward": lambda f: f(np.array([1.0, 0.0]), call("finetuning.lora_linear")(*LORA)[1]),
    "finetuning.dpo_loss": lambda f: f(*np.array([[-1.0], [-2.0], [-2.0], [-1.0]]), 1),
}


def in_words(result):
    """Write a result as the hints do: four decimals at most, a vector in parentheses, a matrix in brackets."""
    if np.ndim(result) == 0:
        return f"{float(result) + 0.0:.4f}".rstrip("0").rstrip(".")
    if np.ndim(result) == 1:
        return f"({', '.join(map(in_words, result))})" if np.size(result) > 1 else in_words(result[0])
    return f"[{', '.join(map(in_words, result))}]".replace("(", "[").replace(")", "]")


@pytest.mark.parametrize("function", CASES)
def test_case_of_the_second_hint_is_correct(function):
    hint = " ".join(hints.steps(function, TRANSFORMER.package)[1].split())
    results = [in_words(np.round(result, 4) + 0.0) for result in CASES[function](call(function))]
    assert [result for result in results if not re.search(rf"(?<![\d.]){re.escape(result)}(?![\d])", hint)] == [], hint


def test_cases_of_bpe_in_the_second_hints_are_correct():
    bpe = solution_module("bpe")
    found = {name: steps[1] for name, steps in hints.load("bpe", TRANSFORMER.package).items()}
    symbols = bpe.byte_symbols()
    entries = re.findall(
        r"byte (\d+) is '(.)'(?: (?:with the code point )?\(?(\d+))?", found["byte_symbols"], re.IGNORECASE
    )
    assert len(entries) == 9
    for byte, symbol, code in entries:
        assert symbols[int(byte)] == symbol
        assert not code or ord(symbol) == int(code)
    for text in ("I'll take 2 of them, thanks!", "a\n\nb", "IT'S x_1"):
        assert str(bpe.split_text(text)) in found["split_text"]
    merges = bpe.train_bpe(5 * " low" + 2 * " lower" + 6 * " newest" + 3 * " widest", 268)
    for learned in (merges[:6], bpe.train_bpe("aaaa aaaa", 259)):
        assert str(learned).strip("[]") in found["train_bpe"]
    vocab = bpe.make_vocab(merges)
    assert "the ids 220, 82, 258, 86, 257" in found["bpe_encode"]
    assert bpe.bpe_encode(" slowest", vocab, merges).tolist() == [220, 82, 258, 86, 257]
    assert bpe.bpe_encode(" lowest", vocab, merges).tolist() == [260, 257]
    assert (bpe.bpe_decode([160, 116, 255], vocab), bpe.bpe_decode([160, 116], vocab)) == ("中", "�")


def test_table_of_gelu_in_the_lesson_is_correct():
    text = (bundled("solutions") / "ffn.py").read_text("utf-8")
    heads, row = re.search(r"^# \| (u \|.*) \|\n# .*\n# \| (.*) \|$", text, re.MULTILINE).groups()
    found = dict(zip(heads.split(" | "), row.split(" | "), strict=True))
    steps = gelu_steps(1.0)
    steps |= {"ds/du": steps["s′"] / steps["du/dx"], "derivative of gelu": steps["s"] + steps["s′"]}
    assert found == {name: f"{value:.4f}" for name, value in steps.items()}
    gradient = call("ffn.gelu_backward")(np.ones(1), np.ones(1))[0]
    assert steps["derivative of gelu"] == pytest.approx(gradient, abs=1e-9)


def test_gradients_of_c_in_the_lesson_are_correct():
    text = (bundled("solutions") / "layernorm.py").read_text("utf-8").replace("−", "-").replace("\n# ", " ")
    x = np.array([1.0, 2.0, 3.0, 6.0])
    gradient = call("layernorm.rmsnorm_backward")(np.eye(4)[0], x - x.mean(), np.ones(4))[0]
    assert f"together give the gradient of c: {in_words(gradient.round(4) + 0.0)}." in text
    assert f"The direct path alone would give {in_words(np.round(np.eye(4)[0] / x.std(), 4))}." in text
    x = np.array([2.0, 4.0, 6.0])
    gradient = call("layernorm.rmsnorm_backward")(np.eye(3)[2], x - x.mean(), np.ones(3), 0.0)[0]
    assert f"The gradient of c is {in_words(gradient.round(4) + 0.0)}" in text
    assert gradient.mean().round(4) == 0.2041
