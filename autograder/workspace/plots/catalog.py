"""The plots that `headway plot` can draw: their names, titles and the functions that draw them."""

import difflib
from dataclasses import dataclass

from autograder.errors import UsageError

FIGURES = ("png", "svg", "pdf")
PAGE = ("html",)


@dataclass(frozen=True)
class Plot:
    """A plot that can be drawn.

    Attributes:
        name: the name on the command line.
        title: the heading of the plot.
        caption: what to look for, in one sentence.
        entry_point: the function that draws it, `module:function` in this package.
        needs: the functions of the course that compute what it shows.
        trained: whether it shows a trained model, read from a checkpoint.
        suffixes: the file formats it can be written in; the first is the default.
    """

    name: str
    title: str
    caption: str
    entry_point: str
    needs: tuple[str, ...]
    trained: bool = False
    suffixes: tuple[str, ...] = FIGURES

    @property
    def module(self) -> str:
        """The assignment it belongs to: that of the last function it needs, or training if it needs none."""
        return self.needs[-1].partition(".")[0] if self.needs else "training"


_CATALOG = (
    Plot(
        "token-ids",
        "A text as the model sees it",
        "The same character has the same height wherever it appears.",
        "text:token_ids",
        ("tokenizer.build_vocab", "tokenizer.encode"),
    ),
    Plot(
        "softmax-temperatures",
        "One row of scores at five temperatures",
        "The order never changes; only how concentrated the probabilities are.",
        "softmax:temperatures",
        ("softmax.softmax",),
    ),
    Plot(
        "softmax-overflow",
        "Where the naive softmax formula overflows",
        "The naive lines end where exp overflows; the line of softmax.softmax continues.",
        "softmax:overflow",
        ("softmax.softmax",),
    ),
    Plot(
        "positions",
        "Sinusoidal positions: the table, its waves, and the similarity of positions",
        "Columns on the left vary quickly, columns on the right slowly; similarity depends only on the distance.",
        "embeddings:positions",
        ("embeddings.sinusoidal_positions",),
    ),
    Plot(
        "embedding-map",
        "Embeddings of a trained model in two dimensions",
        "Are the vowels close together? With positions added, each token becomes a series of points.",
        "embeddings:token_map",
        ("embeddings.embed_tokens", "embeddings.embed"),
        trained=True,
    ),
    Plot(
        "embedding-norms",
        "How much of each input vector is token and how much is position",
        "If one part were much longer than the other, the sum would be almost that part alone.",
        "embeddings:norms",
        ("tokenizer.encode", "embeddings.embed_tokens", "embeddings.embed"),
        trained=True,
    ),
    Plot(
        "attention-mask",
        "From scores to output, with the causal mask",
        "Masked positions have weight exactly 0, and each row still sums to 1.",
        "attention:steps",
        ("attention.causal_mask", "attention.attention"),
    ),
    Plot(
        "attention-queries",
        "The distribution of each query over the keys",
        "Each query has its own distribution: one row of the weights.",
        "attention:queries",
        ("attention.causal_mask", "attention.attention"),
    ),
    Plot(
        "layernorm",
        "Four vectors before and after layer norm",
        "Afterwards each vector has mean 0 and standard deviation 1; the pattern of its values is unchanged.",
        "layers:layernorm",
        ("layernorm.layernorm",),
    ),
    Plot(
        "activations",
        "ReLU and GELU, and their derivatives",
        "GELU is a smooth version of ReLU; its slope goes below 0 and slightly above 1.",
        "layers:activations",
        ("ffn.relu", "ffn.gelu", "ffn.relu_backward", "ffn.gelu_backward"),
    ),
    Plot(
        "ffn-hidden",
        "Inside the feed-forward networks of a trained model",
        "Many hidden values are close to 0 after the activation; which ones depends on the character.",
        "model:ffn_hidden",
        ("tokenizer.encode", "layernorm.layernorm", "ffn.linear", "ffn.relu", "ffn.gelu", "gpt.gpt"),
        trained=True,
    ),
    Plot(
        "attention-heads",
        "Every head of a trained model",
        "Heads differ: some attend to the previous character, some to the first one, some to many.",
        "model:heads",
        ("tokenizer.encode", "gpt.gpt"),
        trained=True,
    ),
    Plot(
        "attention-viewer",
        "Every head of a trained model, to explore in a browser",
        "Point at a character, or use the arrow keys: what does each head attend to from there?",
        "viewer:page",
        ("tokenizer.encode", "gpt.gpt"),
        trained=True,
        suffixes=PAGE,
    ),
    Plot(
        "residual-norms",
        "The length of the residual stream, and of what each layer adds to it",
        "The stream grows from layer to layer. Which layers add the most?",
        "model:residual_norms",
        ("tokenizer.encode", "gpt.gpt"),
        trained=True,
    ),
    Plot(
        "residual-stream",
        "The residual stream at the last position, feature by feature",
        "Columns that keep their color are passed on unchanged.",
        "model:residual_stream",
        ("tokenizer.encode", "gpt.gpt"),
        trained=True,
    ),
    Plot(
        "learning-rate",
        "The learning rate: warm-up, then a cosine",
        "A straight line up, then half a cosine wave down.",
        "training:schedule",
        ("training.learning_rate",),
    ),
    Plot(
        "loss",
        "The loss during training",
        "It starts at the loss of uniform guessing and cannot stay below the entropy of the text.",
        "training:loss",
        (),
        trained=True,
    ),
    Plot(
        "gradient-norms",
        "The gradient norm of each layer, before and after training",
        "Every layer should receive a gradient. Which ones receive the largest?",
        "training:gradient_norms",
        ("tokenizer.encode", "tokenizer.get_batch", "gpt.init_gpt", "gpt.gpt_loss"),
        trained=True,
    ),
)

PLOTS = {plot.name: plot for plot in _CATALOG}


def find_plot(name: str) -> Plot:
    """Return the plot with this name."""
    if name not in PLOTS:
        close = difflib.get_close_matches(name, PLOTS, n=1, cutoff=0.4)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(f"there is no plot {name!r}. {hint}List them all: headway plot")
    return PLOTS[name]
