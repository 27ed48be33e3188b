"""Every call in docs/same_model_in_pytorch.md runs as it stands there, and computes what the course's function does."""

import math
import re
from functools import cache

import numpy as np
import pytest
from support.built_in import solution_module
from support.lazy_module import LazyModule, torch
from support.paths import ROOT

twin = LazyModule("autograder.courses.transformer.gpt.torch_twin")
PAGE = (ROOT / "docs" / "same_model_in_pytorch.md").read_text("utf-8")
CALLS = [row.strip("| ").split(" | ")[1] for row in PAGE.splitlines() if row.startswith("| `")]
SPANS = sorted({span for calls in CALLS for span in re.findall(r"`([^`]+)`", calls)})
NO_CODE = {"autograder/courses/transformer/gpt/torch_twin.py", "GPT", "sinusoids", "argmax", "W_o", "W_2"}
# Calls whose results are random, or that return nothing to compare.
RUN = {"nn.Dropout(p)", "nn.Linear(D, V, bias=False)", "nn.init.normal_(weight, std=0.02)", "loss.backward()"}
RUN |= {"model.train()", "model.eval()", "torch.no_grad()", "torch.optim.AdamW(model.parameters(), lr=lr)"}
RUN |= {"optimizer.zero_grad(); loss.backward(); optimizer.step()"}
ENCODER = 'nn.TransformerEncoderLayer(D, H, 4 * D, activation=nn.GELU("tanh"), norm_first=True, batch_first=True)'
V, T, S, D, H, K = 5, 3, 4, 6, 2, 3
SHAPES = {"x": (2, T, D), "memory": (2, S, D), "gamma": (D,), "beta": (D,), "W_tok": (V, D), "W_pos": (9, D)}
SHAPES |= {"W": (D, 4), "b": (4,), "logits": (2, T, V), "heads": (2, H, T, K), "grad": (4, T, D), "table": (V, V)}
SHAPES |= {"q": (2, H, T, K), "k": (2, H, S, K), "v": (2, H, S, K), "key": (2, 1, T, K)}
SHAPES |= {f"attn.{n}": s for n, s in {"W_qkv": (D, 18), "b_qkv": (18,), "W_o": (D, D), "b_o": (D,)}.items()}
SHAPES |= {f"ffn.{n}": s for n, s in {"W_1": (D, 24), "b_1": (24,), "W_2": (24, D), "b_2": (D,)}.items()}
SHAPES |= {f"ln{i}.{name}": (D,) for i in (1, 2, 3) for name in ("gamma", "beta")}
SHAPES |= {f"swiglu.{n}": s for n, s in {"W_gate": (D, 8), "W_up": (D, 8), "W_down": (8, D)}.items()}


@cache
def drawn():
    rng = np.random.default_rng(0)
    ids = {"ids": np.array([[0, 3, 1], [4, 4, 2]]), "targets": np.array([[1, 0, 2], [4, 3, 1]])}
    masks = {"mask": np.tri(T, S, 1, dtype=bool), "is_token": np.array([[True, True, False]])}
    return {name: rng.normal(size=shape) for name, shape in SHAPES.items()} | ids | masks


def named(prefix):
    return {n.removeprefix(prefix): a for n, a in drawn().items() if n.startswith(prefix)}


def in_torch(name, ours, *, attention=False):
    """Return a layer's parameters under PyTorch's names: a matrix is stored as (out, in)."""
    names = ("in_proj_weight", "out_proj.weight") if attention else ("weight",)
    names += ("in_proj_bias", "out_proj.bias") if attention else ("bias",)
    return {f"{name}{theirs}": drawn()[our].T for theirs, our in zip(names, ours, strict=True)}


@cache
def expected():
    """Return what each call should give, by the functions of the course, and the variables or parameters it needs."""
    v, found = drawn(), {}
    x, ids, text, causal = v["x"], v["ids"], np.array([0, 1, 2, 3, 4, 0, 2, 2, 1]), np.tri(T, dtype=bool)

    def add(span, function, *args, change=None, result=lambda out: out, **options):
        module, _, name = function.partition(".")
        out = getattr(solution_module(module), name)(*args, **options)
        found[span] = (result(out[0] if isinstance(out, tuple) else out), change or {})

    rows = np.bincount(text[:-1], minlength=V)[:, None]
    counts = "F.one_hot(ids[:-1], V).T @ F.one_hot(ids[1:], V)"
    add(counts, "counting.bigram_counts", text, V, 0, change={"ids": text}, result=lambda P: P * rows)
    darts = np.random.default_rng(0)
    add("torch.multinomial(probs, 1)", "counting.draw", np.eye(V)[2], darts, change={"probs": np.eye(V)[2]})
    add("grad.sum_to_size(shape)", "gradients.sum_to_shape", v["grad"], (T, 1))
    add("F.softmax(x / temperature, dim=axis)", "softmax.softmax", x, axis=-2, temperature=0.7)
    add("F.log_softmax(x, dim=axis)", "softmax.log_softmax", x, axis=-2)
    loss = "F.cross_entropy(logits.flatten(0, -2), targets.flatten())"
    add(loss, "softmax.cross_entropy", v["logits"], v["targets"])
    pairs = {"ids": text[:-1], "targets": text[1:], "W": v["table"]}
    add("F.cross_entropy(F.embedding(ids, W), targets)", "bigram.bigram_loss", *pairs.values(), change=pairs)
    add("F.embedding(ids, W_tok)", "embeddings.embed_tokens", ids, v["W_tok"])
    add("F.embedding(ids, W_tok) * scale + W_pos[:T]", "embeddings.embed", ids, v["W_tok"], v["W_pos"], 1.5)
    ends = np.arange(1, T + 1)[:, None]
    add("x.cumsum(dim=-2)", "attention.causal_average_matmul", x, result=lambda mean: mean * ends)
    add("torch.ones(T, S, dtype=torch.bool).tril(S - T)", "attention.causal_mask", T, S)
    add("is_token[..., None, None, :]", "attention.padding_mask", v["is_token"])
    attention = "F.scaled_dot_product_attention(q, k, v, "
    add(f"{attention}mask)", "attention.attention", v["q"], v["k"], v["v"], v["mask"])
    one = {"k": v["key"], "v": -v["key"]}
    grouped = f"{attention}is_causal=True, enable_gqa=True)"
    add(grouped, "attention.attention", v["q"], *one.values(), causal, change=one)
    add("x.unflatten(-1, (H, K)).transpose(-2, -3)", "multihead.split_heads", x, H)
    add("heads.transpose(-2, -3).flatten(-2)", "multihead.merge_heads", v["heads"])
    add("F.layer_norm(x, (D,), gamma, beta)", "layernorm.layernorm", x, v["gamma"], v["beta"])
    add("nn.LayerNorm(D)", "layernorm.layernorm", x, v["gamma"], v["beta"], change=in_torch("", ("gamma", "beta")))
    add("F.rms_norm(x, (D,), gamma, 1e-5)", "layernorm.rmsnorm", x, v["gamma"])
    for eps, argument in ((1e-5, "1e-5"), (1e-6, "eps")):
        change = {"weight": v["gamma"]}
        add(f"nn.RMSNorm(D, eps={argument})", "layernorm.rmsnorm", x, v["gamma"], eps, change=change)
    for span, name in (("relu", "ffn.relu"), ("silu", "llama_layers.silu"), ("gelu(x)", "ffn.gelu_exact")):
        add(f"F.{span}", name, x)
    add('F.gelu(x, approximate="tanh")', "ffn.gelu", x)
    add("F.linear(x, W.T, b)", "ffn.linear", x, v["W"], v["b"])
    add("nn.Linear(D_in, D_out)", "ffn.linear", x, v["W"], v["b"], change=in_torch("", ("W", "b")))
    linear = {n[2:]: (lambda x, W=W: x @ torch.from_numpy(W)) for n, W in named("swiglu.").items()}
    add("down(F.silu(gate(x)) * up(x))", "llama_layers.swiglu", x, named("swiglu."), change=linear)
    W8, scales = solution_module("fast").quantize(v["W"])
    add("(W / scales).round().to(torch.int8)", "fast.quantize", v["W"], change={"scales": scales})
    add("x @ W8.to(x.dtype) * scales", "fast.int8_linear", x, W8, scales, change={"W8": W8, "scales": scales})
    masked = {"mask": np.array([[False, True, True], [False, False, True]])}
    chosen = "F.cross_entropy(logits[mask], targets[mask])"
    add(chosen, "finetuning.answer_loss", v["logits"], v["targets"], masked["mask"], change=masked)
    lora = {"A": v["W"][:, :2], "B": v["W"][:2], "alpha": 3.0}
    merged = "F.linear(x, (W + alpha / r * A @ B).T)"
    add(merged, "finetuning.lora_linear", x, v["W"], *lora.values(), change=lora | {"r": 2})
    m, zeros = v["b"], np.zeros(4)
    add("-F.logsigmoid(m).mean()", "finetuning.dpo_loss", m, zeros, zeros, zeros, 1.0, change={"m": m})
    found["weight.T"] = (v["W"].T, {"weight": v["W"]})
    found["weight.float()"] = (v["W"].astype(np.float32), {"weight": v["W"]})
    found["std / math.sqrt(2 * n_layers)"] = (0.01, {})
    found["sum(p.numel() for p in model.parameters())"] = (3 * 2 + 2, {})
    names = ("attn.W_qkv", "attn.W_o", "attn.b_qkv", "attn.b_o")
    whole = "nn.MultiheadAttention(D, H, batch_first=True)"
    attn = in_torch("", names, attention=True)
    add(whole, "multihead.multihead_attention", x, named("attn."), H, causal, change=attn)
    layers = [(f"ffn.W_{i}", f"ffn.b_{i}") for i in (1, 2)]
    two = 'nn.Sequential(nn.Linear(D, 4 * D), nn.GELU("tanh"), nn.Linear(4 * D, D))'
    add(two, "ffn.ffn", x, named("ffn."), change=in_torch("0.", layers[0]) | in_torch("2.", layers[1]))
    block = in_torch("self_attn.", names, attention=True)
    block |= in_torch("linear1.", layers[0]) | in_torch("linear2.", layers[1])
    norms = [in_torch(f"norm{i}.", (f"ln{i}.gamma", f"ln{i}.beta")) for i in (1, 2, 3)]
    params = {name: v[name] for name in v if name.startswith(("attn", "ffn", "ln"))}
    encoder = {name: a for name, a in params.items() if not name.startswith("ln3")}
    add(ENCODER, "blocks.block", x, encoder, H, change=block | norms[0] | norms[1])
    relu = 'Layer(D, H, 4 * D, activation="relu", batch_first=True)'
    change = block | norms[0] | norms[1]
    add(f"nn.TransformerEncoder{relu}", "encoder_decoder.encoder_block", x, encoder, H, change=change)
    params |= {f"source_{name}": v[name] for name in names}
    change = change | norms[2] | in_torch("multihead_attn.", names, attention=True)
    add(f"nn.TransformerDecoder{relu}", "encoder_decoder.decoder_block", x, v["memory"], params, H, change=change)
    return found


def namespace(**changes):
    known = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math, "shape": (T, 1), "axis": -2}
    known |= {"V": V, "T": T, "S": S, "D": D, "H": H, "K": K, "D_in": D, "D_out": 4, "p": 0.5, "eps": 1e-6, "lr": 0.1}
    known |= {"std": 0.02, "n_layers": 2, "temperature": 0.7, "scale": 1.5, "weight": torch.zeros(10, 10)}
    known |= {n: torch.from_numpy(a) if isinstance(a, np.ndarray) else a for n, a in (drawn() | changes).items()}
    known |= {name: getattr(torch.optim.lr_scheduler, name) for name in SPANS if name.endswith("LR")}
    known["model"] = torch.nn.Linear(3, 2)
    known["optimizer"] = torch.optim.SGD(known["model"].parameters(), lr=0.1)
    return known | {"loss": known["model"](torch.ones(1, 3)).sum()}


def result(span, changes):
    """Return what a call of the page gives; a module is applied, with the parameters `changes`."""
    if not span.startswith("nn."):
        out = eval(span, namespace(**changes))
        return out(torch.from_numpy(drawn()["x"])) if callable(out) else out
    module = eval(span, namespace()).double().eval()
    x, memory = (torch.from_numpy(drawn()[name]) for name in ("x", "memory"))
    module.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in changes.items()})
    if "Multihead" in span:
        return module(x, x, x, attn_mask=~torch.ones(T, T).tril().bool())[0].detach()
    return (module(x, memory) if "Decoder" in span else module(x)).detach()


@pytest.mark.parametrize("span", SPANS)
def test_line_of_pytorch_page_gives_what_the_course_gives(span):
    if span in expected():
        right, changes = expected()[span]
        np.testing.assert_allclose(np.squeeze(result(span, changes)), np.squeeze(right), atol=1e-12)
    elif "…" in span:  # an abbreviated call: its functions exist
        assert all(callable(eval(name, namespace())) for name in re.findall(r"[\w.]+(?=\()", span))
    elif span not in NO_CODE:
        assert span in RUN or re.fullmatch(r"[\w.]+", span), "say in this test what it should give"
        exec(span, namespace())


def test_encoder_layer_of_pytorch_page_is_exact_without_gradients():
    changes = expected()[ENCODER][1]
    with torch.no_grad():
        unlike_training = result(ENCODER, changes)
    np.testing.assert_allclose(unlike_training, result(ENCODER.replace('"tanh"', ""), changes), atol=1e-12)
    assert (result(ENCODER, changes) - unlike_training).abs().max() > 1e-6
