"""The attention of a trained model as an interactive HTML page: one file, no network, mouse or keyboard."""

import json
from importlib.resources import files

from autograder.course import Plot
from autograder.models.plots.inputs import PlotInputs
from autograder.models.plots.model import ForwardPass

DATA = "{{data}}"  # placeholder for the data, inside a <script type="application/json">


def page(plot: Plot, inputs: PlotInputs) -> str:
    """Return the page: the weights of every head over a text, and the model's most likely next tokens."""
    forward = ForwardPass(inputs)
    best = [row.argsort()[::-1][:3].tolist() for row in forward.logits]
    data = {
        "title": plot.title,
        "labels": forward.labels,
        "weights": forward.attention_weights().round(4).tolist(),  # (L, H, T, T)
        "expected": [forward.model.labels(ids) for ids in best],
        "unit": forward.model.unit,
        "about": forward.model.about,
    }
    template = files(__package__).joinpath("viewer.html").read_text("utf-8")
    return template.replace(DATA, embed(data))


def embed(data: object) -> str:
    """Return JSON that is safe inside a script element: nothing in it can end the element or start another."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
