"""The plots that `headway plot` can draw: their names, titles and the functions that draw them."""

import difflib
from dataclasses import KW_ONLY, dataclass

from autograder.errors import UsageError

FIGURES = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Plot:
    """A plot that can be drawn."""

    name: str
    entry_point: str  # the function that draws it, `module:function` in `workspace.plots`
    needs: tuple[str, ...]  # the functions of the course that compute what it shows
    _: KW_ONLY
    title: str
    caption: str  # what to look for, in one sentence
    trained: bool = False  # whether it shows a trained model, read from a checkpoint
    suffixes: tuple[str, ...] = FIGURES  # the file formats it can be written in; the first is the default

    @property
    def module(self) -> str:
        """The assignment it belongs to: that of the last function it needs, or training if it needs none."""
        return self.needs[-1].partition(".")[0] if self.needs else "training"


_CATALOG = (
    Plot("token-ids", "functions:token_ids", ("tokenizer.build_vocab", "tokenizer.encode"),
         title="A text as the model sees it",
         caption="The same character has the same height wherever it appears."),
    Plot("softmax-temperatures", "functions:temperatures", ("softmax.softmax",),
         title="One row of scores at five temperatures",
         caption="The order never changes; only how concentrated the probabilities are."),
    Plot("softmax-overflow", "functions:overflow", ("softmax.softmax",),
         title="Where the naive softmax formula overflows",
         caption="The naive lines end where exp overflows; the line of softmax.softmax continues."),
    Plot("positions", "embeddings:positions", ("embeddings.sinusoidal_positions",),
         title="Sinusoidal positions: the table, its waves, the similarity of positions, the wavelengths",
         caption="Columns on the left vary quickly, columns on the right slowly; "
                 "similarity depends only on the distance."),
    Plot("embedding-map", "embeddings:token_map", ("embeddings.embed_tokens", "embeddings.embed"), trained=True,
         title="Embeddings of a trained model in two dimensions",
         caption="Are the vowels close together? With positions added, each token becomes a series of points."),
    Plot("embedding-norms", "embeddings:norms",
         ("tokenizer.encode", "embeddings.embed_tokens", "embeddings.embed"), trained=True,
         title="How much of each input vector is token and how much is position",
         caption="If one part were much longer than the other, the sum would be almost that part alone."),
    Plot("attention-mask", "attention:steps", ("attention.causal_mask", "attention.attention"),
         title="From scores to output, with the causal mask",
         caption="Masked positions have weight exactly 0, and each row still sums to 1."),
    Plot("attention-queries", "attention:queries", ("attention.causal_mask", "attention.attention"),
         title="The distribution of each query over the keys",
         caption="Each query has its own distribution: one row of the weights."),
    Plot("layernorm", "functions:layernorm", ("layernorm.layernorm",),
         title="Four vectors before and after layer norm",
         caption="Afterwards each vector has mean 0 and standard deviation 1; the pattern of its values is unchanged."),
    Plot("activations", "functions:activations", ("ffn.relu", "ffn.gelu", "ffn.relu_backward", "ffn.gelu_backward"),
         title="ReLU and GELU, and their derivatives",
         caption="GELU is a smooth version of ReLU; its slope goes below 0 and slightly above 1."),
    Plot("ffn-hidden", "model:ffn_hidden",
         ("tokenizer.encode", "layernorm.layernorm", "ffn.linear", "ffn.relu", "ffn.gelu", "gpt.gpt"), trained=True,
         title="Inside the feed-forward networks of a trained model",
         caption="Many hidden values are close to 0 after the activation; which ones depends on the character."),
    Plot("attention-heads", "model:heads", ("tokenizer.encode", "gpt.gpt"), trained=True,
         title="Every head of a trained model",
         caption="Heads differ: some attend to the previous character, some to the first one, some to many."),
    Plot("attention-viewer", "viewer:page", ("tokenizer.encode", "gpt.gpt"), trained=True, suffixes=("html",),
         title="Every head of a trained model, to explore in a browser",
         caption="Point at a character, or use the arrow keys: what does each head attend to from there?"),
    Plot("residual-norms", "model:residual_norms", ("tokenizer.encode", "gpt.gpt"), trained=True,
         title="The length of the residual stream, and of what each layer adds to it",
         caption="The stream grows from layer to layer. Which layers add the most?"),
    Plot("residual-stream", "model:residual_stream", ("tokenizer.encode", "gpt.gpt"), trained=True,
         title="The residual stream at the last position, feature by feature",
         caption="Columns that keep their color are passed on unchanged."),
    Plot("logit-lens", "model:logit_lens",
         ("tokenizer.encode", "layernorm.layernorm", "softmax.softmax", "ffn.linear", "gpt.gpt"), trained=True,
         title="The most likely next token after each block",
         caption="Read a column from top to bottom: from which block on is the prediction the final one?"),
    Plot("learning-rate", "training:schedule", ("training.learning_rate",),
         title="The learning rate: warm-up, then a cosine",
         caption="A straight line up, then half a cosine wave down."),
    Plot("loss", "training:loss", (), trained=True,
         title="The loss during training",
         caption="It starts at the loss of uniform guessing and cannot stay below the entropy of the text."),
    Plot("gradient-norms", "training:gradient_norms",
         ("tokenizer.encode", "tokenizer.get_batch", "gpt.init_gpt", "gpt.gpt_loss"), trained=True,
         title="The gradient norm of each layer, before and after training",
         caption="Every layer should receive a gradient. Which ones receive the largest?"),
)  # fmt: skip

PLOTS = {plot.name: plot for plot in _CATALOG}


def find_plot(name: str) -> Plot:
    """Return the plot with this name."""
    if name not in PLOTS:
        close = difflib.get_close_matches(name, PLOTS, n=1, cutoff=0.4)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(f"no such plot: {name!r}. {hint}List them all: headway plot")
    return PLOTS[name]
