"""Mistakes in assignment 7: activations, linear layers, dropout and the feed-forward network."""

from autograder.courses.transformer.mistakes._ffn_activations import ACTIVATIONS
from autograder.courses.transformer.mistakes._ffn_backward import MISTAKES as BACKWARD
from autograder.courses.transformer.mistakes._ffn_formulas import FORMULAS
from autograder.courses.transformer.mistakes._quotients import quotient, quotient_of_each
from autograder.engine.diagnosis.mistake import Mistake

_NOT_CHECKED = (("    if activation not in", "    if False and activation not in"),)

FORWARD = (
    Mistake(
        "ffn.linear",
        "bias-forgotten",
        "the bias is not added",
        "With a bias of 0, as at the start of training, nothing shows.",
        "What should come out for x = 0?",
        edits=(("out += b", "out += 0.0"),),
        common=True,
    ),
    Mistake(
        "ffn.linear",
        "weights-transposed",
        "x was multiplied by the transposed weights",
        "PyTorch's nn.Linear stores its weights as (D_out, D_in); here W is (D_in, D_out). Square weights hide it.",
        "Which axis of W has to have the size of the last axis of x?",
        body="""
    x = as_float(x)
    return x @ W.T if b is None else x @ W.T + b
""",
        common=True,
    ),
    Mistake(
        "ffn.linear",
        "none-not-handled",
        "b=None is not handled",
        "A layer without bias gets None, and an array plus None is a TypeError.",
        "What does the docstring say b may be?",
        body="""
    return as_float(x) @ W + b
""",
    ),
    Mistake(
        "ffn.linear",
        "truth-of-bias",
        "the bias is asked for with `if b:`",
        "An array of several numbers is neither true nor false; NumPy raises.",
        "The question is not whether b is true, but whether there is one.",
        body="""
    out = as_float(x) @ W
    if b:
        out = out + b
    return out
""",
    ),
    Mistake(
        "ffn.linear",
        "flattened-input",
        "everything after the first axis of x was flattened into one vector",
        "That is for images. Here every vector along the last axis is multiplied on its own.",
        "How many rows does your matrix have for an x of shape (B, T, D)?",
        body="""
    x = as_float(x)
    out = x.reshape(x.shape[0], -1) @ W
    return out if b is None else out + b
""",
    ),
    Mistake(
        "ffn.linear",
        "leading-axes-lost",
        "the result has lost the leading axes of x",
        "(B, T, D_in) was made a matrix for the product, and was not unfolded again.",
        "What is the shape of x, and what is the shape of your result?",
        edits=(("out.reshape(*x.shape[:-1], d_out)", "out"),),
    ),
    Mistake(
        "ffn.linear",
        "float64",
        "the result is float64, whatever x is",
        "Everything after it in the network becomes twice as large and half as fast.",
        "Where does your code name a dtype?",
        body="""
    x = np.asarray(x, dtype=np.float64)
    return x @ W if b is None else x @ W + b
""",
    ),
    Mistake(
        "ffn.dropout",
        "not-scaled",
        "the kept values were not divided by 1 - p",
        "Without it the layers behind see smaller sums in training than in use.",
        "If half of the values are dropped, what must happen to the others for the sum to stay the same on average?",
        edits=(("        mask /= 1 - float(p)\n", ""),),
        common=True,
    ),
    Mistake(
        "ffn.dropout",
        "divided-by-p",
        "the kept values were divided by p instead of 1 - p",
        "With p = 0.5 nothing shows.",
        "Which share of the values is kept if p is 0.2?",
        edits=(("mask /= 1 - float(p)", "mask /= float(p)"),),
        common=True,
    ),
    Mistake(
        "ffn.dropout",
        "multiplied",
        "the kept values were multiplied by 1 - p instead of divided",
        "They have to become larger, to stand in for those that are dropped.",
        "If half of the values are dropped, what must happen to the others for the sum to stay the same on average?",
        edits=(("mask /= 1", "mask *= 1"),),
    ),
    Mistake(
        "ffn.dropout",
        "kept-and-dropped-exchanged",
        "a share p is kept, and 1 - p is dropped",
        "With p = 0.1 nine values of ten are gone. With p = 0.5 only the pattern differs.",
        "Is p the probability of dropping or of keeping? Which of your comparisons says that?",
        edits=((">= p", "< p"),),
        common=True,
    ),
    Mistake(
        "ffn.dropout",
        "p-is-kept-share",
        "p was taken for the probability of keeping a value",
        "A share p is kept and divided by p. Here p is the probability of dropping, as in PyTorch.",
        "What should happen for p = 0: everything stays, or everything goes?",
        edits=((">= p", "< p"), ("1 - float(p)", "float(p)")),
    ),
    Mistake(
        "ffn.dropout",
        "on-outside-training",
        "values are dropped although training is false",
        "In use the answers would be random, and worse.",
        "Which of your lines looks at `training`?",
        edits=(("if training and p > 0", "if p > 0"),),
        common=True,
    ),
    Mistake(
        "ffn.dropout",
        "scaled-in-use",
        "outside of training x is multiplied by 1 - p (the older kind of dropout)",
        "Inverted dropout scales during training, so that nothing has to be done in use.",
        "What should dropout(x, 0.5, rng, training=False) return?",
        edits=(
            ("        mask /= 1 - float(p)\n", ""),
            ("    return x * mask, mask", "    elif p > 0:\n        mask *= 1 - float(p)\n    return x * mask, mask"),
        ),
    ),
    Mistake(
        "ffn.dropout",
        "mask-not-scaled",
        "the output is scaled, but the mask that is returned is not",
        "The backward pass multiplies by the mask and would forget the scale.",
        "Is out equal to x times the mask that you return?",
        edits=(
            ("mask /= 1 - float(p)", "mask /= 1.0"),
            (
                "    return x * mask, mask",
                "    scale = 1 - float(p) if training else 1.0\n    return x * mask / scale, mask",
            ),
        ),
    ),
    Mistake(
        "ffn.dropout",
        "boolean-mask",
        "the mask that is returned is boolean",
        "The backward pass multiplies by the mask, and a boolean one has no scale.",
        "Is out equal to x times the mask that you return?",
        edits=(("    return x * mask, mask", "    return x * mask, mask != 0"),),
    ),
    Mistake(
        "ffn.dropout",
        "one-mask-for-all-rows",
        "one mask is drawn for the last axis and used for every row",
        "The same features are dropped for all tokens. Each value is to be decided on its own.",
        "How many random numbers do you draw for an x of shape (B, T, D)?",
        edits=(("rng.random(x.shape)", "rng.random(x.shape[-1])"),),
    ),
    Mistake(
        "ffn.dropout",
        "whole-rows",
        "a whole row is dropped or kept at once",
        "This drops tokens, not features. Each value is to be decided on its own.",
        "How many random numbers do you draw for an x of shape (B, T, D)?",
        edits=(("rng.random(x.shape)", "rng.random((*x.shape[:-1], 1))"),),
    ),
    Mistake(
        "ffn.dropout",
        "own-generator",
        "the random numbers come from a generator made inside, not from rng",
        "Every call then drops the same places.",
        "What is the argument rng for?",
        edits=(("rng.random(x.shape)", "np.random.default_rng(0).random(x.shape)"),),
    ),
    Mistake(
        "ffn.dropout",
        "float64",
        "the mask is float64, and so is the result",
        "What rng.random and np.ones give is float64; the mask is to have the dtype of x.",
        "Which dtype has the mask if x is float32?",
        edits=(("np.ones_like(x)", "np.ones(x.shape)"),),
    ),
    Mistake(
        "ffn.ffn",
        "no-activation",
        "there is no activation between the two layers",
        "Two linear layers in a row are no more than one.",
        "What stands between W_1 and W_2?",
        edits=(("activated = hidden * gate", "activated = hidden"),),
        common=True,
    ),
    Mistake(
        "ffn.ffn",
        "activation-last",
        "the activation comes after the second layer, not between the two",
        "The network widens the vector in order to bend it there.",
        "Which of the two layers is the activation's input?",
        body="""
    if activation not in ("gelu", "relu"):
        raise ValueError("unknown activation")
    function = gelu if activation == "gelu" else relu
    hidden = linear(x, params["W_1"], params.get("b_1"))
    return function(linear(hidden, params["W_2"], params.get("b_2"))), {}
""",
    ),
    Mistake(
        "ffn.ffn",
        "activation-twice",
        "the activation is applied after the second layer too",
        "The result goes into the residual stream, which needs negative numbers.",
        "How many activations does the formula have?",
        edits=(
            (
                "    cache = {",
                '    out = gelu(out) if activation == "gelu" else relu(out)\n    cache = {',
            ),
        ),
    ),
    Mistake(
        "ffn.ffn",
        "gelu-always",
        "the activation argument is ignored: it is always GELU",
        "With the default nothing shows.",
        'Which of your lines knows about "relu"?',
        edits=((' if activation == "gelu" else hidden > 0', ""),),
    ),
    Mistake(
        "ffn.ffn",
        "relu-always",
        "the activation is always ReLU",
        "The paper of 2017 has ReLU; GPT-2 and the default here have GELU.",
        "Which of your lines knows about the argument `activation`?",
        edits=(('_gelu_gate(hidden) if activation == "gelu" else hidden > 0', "hidden > 0"),),
    ),
    Mistake(
        "ffn.ffn",
        "relu-by-default",
        "the default activation is ReLU",
        "The default here is GELU in its tanh form.",
        "Compare the signature with the one in the assignment.",
        edits=(('activation="gelu"):', 'activation="relu"):'),),
    ),
    Mistake(
        "ffn.ffn",
        "exact-gelu",
        "the exact GELU was used instead of the tanh form",
        "The two are never more than 0.0005 apart, but the weights of GPT-2 belong to one of them.",
        "Which of gelu and gelu_exact does the docstring name?",
        edits=(
            ("activated = hidden * gate", 'activated = gelu_exact(hidden) if activation == "gelu" else relu(hidden)'),
        ),
    ),
    Mistake(
        "ffn.ffn",
        "first-bias-forgotten",
        "the first bias, b_1, is not added",
        "With a bias of 0, as at the start of training, nothing shows.",
        "Which entries of params does your code use?",
        edits=(('params.get("b_1")', "None"),),
        common=True,
    ),
    Mistake(
        "ffn.ffn",
        "second-bias-forgotten",
        "the second bias, b_2, is not added",
        "With a bias of 0, as at the start of training, nothing shows.",
        "Which entries of params does your code use?",
        edits=(('params.get("b_2")', "None"),),
        common=True,
    ),
    Mistake(
        "ffn.ffn",
        "biases-required",
        "a missing bias is a KeyError",
        "Each bias may be absent; the layer then has none.",
        "What does a dictionary return for a key that it does not have, if you ask it politely?",
        edits=(('params.get("b_1")', 'params["b_1"]'), ('params.get("b_2")', 'params["b_2"]')),
    ),
    Mistake(
        "ffn.ffn",
        "residual-added",
        "x was added to the result",
        "The residual connection belongs to the block, not to this network.",
        "Does the formula in the docstring have a `+ x`?",
        edits=(("    cache = {", "    out = out + x\n    cache = {"),),
        common=True,
    ),
    Mistake(
        "ffn.ffn",
        "cache-not-returned",
        "only the output is returned, without the cache",
        "The backward pass needs what the forward pass computed.",
        "How many values does the docstring list under Returns?",
        edits=(("return out, cache", "return out"),),
    ),
)

QUOTIENTS = (
    quotient_of_each("ffn.gelu_backward", "gelu"),
    quotient(
        "ffn.linear_backward",
        "    x, W = as_float(x).copy(), W.copy()\n    b = np.zeros(W.shape[1])",
        "float((linear(x, W, b) * dout).sum())",
        "tuple(map(quotients, (x, W, b)))",
    ),
)

MISTAKES = ACTIVATIONS + FORWARD + BACKWARD + FORMULAS + QUOTIENTS
