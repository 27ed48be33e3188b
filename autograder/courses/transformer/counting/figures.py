"""The table of counted pairs."""

import numpy as np

from autograder.course.stubs import bundled
from autograder.courses.transformer.common.figures.diagram import Diagram
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller


def bigram_table(functions: FunctionCaller) -> str:
    """Return the probabilities of the next token, counted in the names that come with Headway."""
    lines = (bundled("data") / "names.txt").read_text("utf-8").splitlines()
    # In the order of `headway train`.
    text = "".join(f"{lines[i]}\n" for i in np.random.default_rng(0).permutation(len(lines)))
    chars, stoi, _ = functions.values("tokenizer.build_vocab", 3, text)
    ids = functions.call("tokenizer.encode", text, stoi)
    train, _ = functions.values("tokenizer.train_val_split", 2, ids)
    size = len(chars)
    probs = functions.array("counting.bigram_counts", (size, size), train, size)
    names = [figure.visible_character(char) for char in chars]
    row, column = np.unravel_index(probs.argmax(), probs.shape)
    d = Diagram(860, 650)
    d.text(40, 14, "probability of the next token (column) after a token (row)", 14, "start", bold=True)
    d.labels(names, 40, 38, 30)
    d.labels(names, 30, 50, 20, down=True)
    d.table(probs, 40, 50, (30, 20), gap=0)
    d.note(
        612,
        "Counted in the names; ↵ ends a name and begins the next one. The darker a cell, the more likely:",
        f"from white, 0, to the darkest blue, {probs.max():.2f}, for “{names[column]}” after “{names[row]}”.",
        x=40,
    )
    return d.svg()


FIGURES = (bigram_table,)
