"""Names and shapes of parameters, in the order in which checks draw them."""

from autograder.core.wire_format import Config


def block_shapes(d: int, f: int) -> dict[str, tuple[int, ...]]:
    """Return the parameter shapes of a block of width d with f hidden units."""
    return {
        "ln1.gamma": (d,),
        "ln1.beta": (d,),
        "attn.W_qkv": (d, 3 * d),
        "attn.b_qkv": (3 * d,),
        "attn.W_o": (d, d),
        "attn.b_o": (d,),
        "ln2.gamma": (d,),
        "ln2.beta": (d,),
        "ffn.W_1": (d, f),
        "ffn.b_1": (f,),
        "ffn.W_2": (f, d),
        "ffn.b_2": (d,),
    }


def gpt_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the parameter shapes of a GPT."""
    d = config.d_model
    fields = {"norm": "pre", "positions": "learned"} | config.fields
    biases = {True: "b_qkv b_o b_1 b_2", False: ""}.get(config.bias, config.bias).split()
    layer = block_shapes(d, config.d_ff)
    layer = {name: layer[name] for name in layer if ".b_" not in name or name.split(".")[1] in biases}
    shapes: dict[str, tuple[int, ...]] = {"W_tok": (config.vocab_size, d)}
    if fields["positions"] == "learned":
        shapes["W_pos"] = (config.block_size, d)
    for i in range(config.n_layers):
        shapes |= {f"blocks.{i}.{name}": shape for name, shape in layer.items()}
    if fields["norm"] == "pre":
        shapes |= {"ln_f.gamma": (d,), "ln_f.beta": (d,)}
    if not config.tied:
        shapes["W_head"] = (d, config.vocab_size)
    return {**shapes, "b_head": (config.vocab_size,)} if "b_head" in biases else shapes
