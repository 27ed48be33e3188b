"""Pictures of what the functions of the course do, drawn by the student's own functions: `headway plot NAME`.

One registry says what there is; the drawing is in small modules, one per theme, imported when a picture is drawn. A
drawing is a function of a `Subject` (whose functions, which text, which trained model) and gives a matplotlib figure.
"""

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.workspace.plots.inputs import Subject


class NotWritten(UsageError):
    """A function that the picture needs is not written yet."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"the picture is drawn by {function}, which is not written yet. Write it (headway check {function}), "
            "or let the official solution draw: --solution"
        )
        self.function = function


FIGURES = ("png", "svg", "pdf")
PAGE = ("html",)


@dataclass(frozen=True)
class Picture:
    """One picture that can be drawn.

    Attributes:
        name: on the command line.
        title: stands above it.
        look: what to look for, one sentence.
        drawing: where it is drawn, `module:function` in this package.
        needs: the functions of the contract that draw it.
        trained: whether it shows a trained model, from a checkpoint.
        suffixes: the kinds of files it can be written to; the first is the default.
    """

    name: str
    title: str
    look: str
    drawing: str
    needs: tuple[str, ...]
    trained: bool = False
    suffixes: tuple[str, ...] = FIGURES

    @property
    def module(self) -> str:
        """The assignment that it belongs to: that of the last function it needs; none at all: training."""
        return self.needs[-1].partition(".")[0] if self.needs else "training"


def _picture(name: str, title: str, look: str, drawing: str, needs: str = "", **more: Any) -> Picture:
    return Picture(name, title, look, drawing, tuple(needs.split()), **more)


_ALL = (
    _picture(
        "token-ids",
        "A text as the model sees it",
        "The same character has the same height wherever it stands.",
        "text:token_ids",
        "tokenizer.build_vocab tokenizer.encode",
    ),
    _picture(
        "softmax-temperatures",
        "One row of scores, five temperatures",
        "The order never changes; how decided the choice is does.",
        "softmax:temperatures",
        "softmax.softmax",
    ),
    _picture(
        "softmax-overflow",
        "Where the formula, typed in as it stands, breaks down",
        "The naive lines end where exp overflows; yours goes on.",
        "softmax:overflow",
        "softmax.softmax",
    ),
    _picture(
        "positions",
        "Sinusoidal positions: the table, its waves, and how alike two positions are",
        "Fast waves left, slow ones right; similarity depends on the distance only.",
        "embeddings:positions",
        "embeddings.sinusoidal_positions",
    ),
    _picture(
        "embedding-map",
        "Embeddings of a trained model in two dimensions",
        "Do vowels lie together? With positions, each token becomes a row of points.",
        "embeddings:token_map",
        "embeddings.embed_tokens embeddings.embed",
        trained=True,
    ),
    _picture(
        "embedding-norms",
        "How much of each input vector is token, how much is position",
        "If one part were far longer than the other, the sum would be nearly that part alone.",
        "embeddings:norms",
        "tokenizer.encode embeddings.embed_tokens embeddings.embed",
        trained=True,
    ),
    _picture(
        "attention-mask",
        "From scores to output, with the causal mask",
        "What the mask forbids has weight exactly 0, and each row still adds up to 1.",
        "attention:steps",
        "attention.causal_mask attention.attention",
    ),
    _picture(
        "attention-queries",
        "Each query's own distribution over the keys",
        "Every row of the weights is a distribution: as many as there are queries.",
        "attention:queries",
        "attention.causal_mask attention.attention",
    ),
    _picture(
        "layernorm",
        "Four vectors before and after layer norm",
        "Afterwards each has mean 0 and standard deviation 1; its shape is still the same.",
        "layers:layernorm",
        "layernorm.layernorm",
    ),
    _picture(
        "activations",
        "ReLU and GELU, and their derivatives",
        "GELU is ReLU with a smooth corner; its slope goes below 0 and a little above 1.",
        "layers:activations",
        "ffn.relu ffn.gelu ffn.relu_backward ffn.gelu_backward",
    ),
    _picture(
        "ffn-hidden",
        "Inside the feed-forward networks of a trained model",
        "Most hidden values are shut, and different ones for different characters.",
        "model:ffn_hidden",
        "tokenizer.encode layernorm.layernorm ffn.linear ffn.relu ffn.gelu gpt.gpt",
        trained=True,
    ),
    _picture(
        "attention-heads",
        "Every head of a trained model",
        "Heads differ: some look at the character before, some at the first one, some spread out.",
        "model:heads",
        "tokenizer.encode gpt.gpt",
        trained=True,
    ),
    _picture(
        "attention-viewer",
        "Every head of a trained model, to explore in a browser",
        "Move over a character, or use the arrow keys: what does each head look at from there?",
        "viewer:page",
        "tokenizer.encode gpt.gpt",
        trained=True,
        suffixes=PAGE,
    ),
    _picture(
        "residual-norms",
        "The residual stream from layer to layer: its length, and what each step adds",
        "The stream grows; what a step adds is small beside it, and hardly ever 0.",
        "model:residual_norms",
        "tokenizer.encode gpt.gpt",
        trained=True,
    ),
    _picture(
        "residual-stream",
        "The residual stream at the last position, feature by feature",
        "Columns that keep their colour are handed on unchanged: the stream remembers.",
        "model:residual_stream",
        "tokenizer.encode gpt.gpt",
        trained=True,
    ),
    _picture(
        "learning-rate",
        "The learning rate: warm-up, then a cosine",
        "A straight line up, half a wave down.",
        "training:schedule",
        "training.learning_rate",
    ),
    _picture(
        "loss",
        "The loss while training",
        "It starts at the loss of a model that knows nothing, and cannot fall below the entropy of the text.",
        "training:loss",
        trained=True,
    ),
    _picture(
        "gradient-norms",
        "How long the gradient of each part is, before and after training",
        "No part is left without gradient, and none drowns the others.",
        "training:gradient_norms",
        "tokenizer.encode tokenizer.get_batch gpt.init_gpt gpt.gpt_loss",
        trained=True,
    ),
)

PICTURES = {picture.name: picture for picture in _ALL}


def find(name: str) -> Picture:
    """The picture of that name.

    Raises:
        UsageError: if there is none.
    """
    if name not in PICTURES:
        close = difflib.get_close_matches(name, PICTURES, n=1, cutoff=0.4)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(f"there is no picture {name!r}. {hint}All of them: headway plot")
    return PICTURES[name]


def draw(picture: Picture, subject: "Subject") -> Any:
    """The picture: a matplotlib figure, or the text of a page.

    Raises:
        UsageError: if a function that it needs is missing, fails or gives something that cannot be drawn; if there is
            no checkpoint where one is needed; if matplotlib is not installed.
    """
    module, _, function = picture.drawing.partition(":")
    if picture.suffixes == FIGURES:
        from autograder.workspace.plots import figure as paper

        paper.require()  # before the student's functions are asked for anything
    drawing = importlib.import_module(f"{__name__}.{module}")
    return getattr(drawing, function)(picture, subject)


def write(picture: Picture, subject: "Subject", path: Path) -> None:
    """Draw, and write to `path`; the ending says in which format.

    Raises:
        UsageError: as `draw`; for an ending that is none of the picture's; if the file cannot be written.
    """
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in picture.suffixes:
        endings = " or ".join(f".{suffix}" for suffix in picture.suffixes)
        raise UsageError(f"{path}: {picture.name} can be written as {endings}. Name such a file: --out {picture.name}."
                         f"{picture.suffixes[0]}")  # fmt: skip
    drawn = draw(picture, subject)
    if isinstance(drawn, str):
        content = drawn.encode("utf-8")
    else:
        from autograder.workspace.plots import figure as paper

        content = paper.to_bytes(drawn, suffix)
    from autograder.core.files import write_atomically

    try:
        write_atomically(path, content)
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror}). Name another file: --out FILE") from None


class Drawn:
    """A picture in a notebook: Jupyter shows the PNG, and `figure` can be changed further."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def _repr_png_(self) -> bytes:
        from autograder.workspace.plots import figure as paper

        return paper.to_bytes(self.figure, "png")


def show(
    name: str, namespace: Mapping[str, Any], checkpoint: str = "model.safetensors", text: str | None = None
) -> Drawn | None:
    """Draw a picture in a notebook with the functions defined in it.

    Where they are not written yet, the official solution draws, and a line says so: run the cell again afterwards.

    Args:
        name: of the picture, as in `headway plot`.
        namespace: `globals()` of the notebook.
        checkpoint: the trained model, for pictures that show one.
        text: what to show it for.

    Returns:
        The picture; None if it cannot be drawn, after a line that says why.
    """
    from autograder.curriculum.stubs import bundled
    from autograder.workspace.plots.inputs import Subject, work_of_folder, work_of_namespace
    from autograder.workspace.training.checkpoint import load

    def drawn(work: Any) -> Drawn:
        picture = find(name)
        if picture.suffixes != FIGURES:
            raise UsageError(f"{name} is a page for a browser. Write it with: headway plot {name}")
        return Drawn(draw(picture, Subject(work, text, lambda: load(Path(checkpoint)))))

    try:
        try:
            return drawn(work_of_namespace(namespace))
        except NotWritten as error:
            print(f"Drawn by the official solution: {error.function} is not written yet. Then run this cell again.")
        with work_of_folder(bundled("solutions")) as work:
            return drawn(work)
    except UsageError as error:
        print(error)
        return None
