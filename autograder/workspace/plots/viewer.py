"""The attention of a trained model as a page to explore: one file, no network, usable with mouse and keyboard."""

import json
from importlib.resources import files

from autograder.workspace.plots import Picture
from autograder.workspace.plots.inputs import Subject
from autograder.workspace.plots.model import Reading

DATA = "{{data}}"  # where the page's data goes: inside a <script type="application/json">
DECIMALS = 4


def page(picture: Picture, subject: Subject) -> str:
    """The page, with the weights of every head over a text and what the model expects next in it."""
    reading = Reading(subject)
    logits = reading.logits
    chars = reading.run.chars
    expected = [[chars[i] for i in row.argsort()[::-1][:3].tolist()] for row in logits]
    data = {
        "title": picture.title,
        "text": list(reading.text),
        "labels": reading.labels,
        "weights": reading.weights().round(DECIMALS).tolist(),  # (L, H, T, T)
        "expected": expected,
        "about": f"{reading.run.settings.preset} on {reading.run.settings.data}, {reading.run.step:,} steps",
    }
    template = files(__package__).joinpath("viewer.html").read_text("utf-8")
    return template.replace(DATA, embed(data))


def embed(data: object) -> str:
    """JSON that can stand inside a script element: nothing in it ends the element or starts another."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
