"""One row of scores at several temperatures; the other picture is a plot of `headway plot`."""

from autograder.courses.transformer.common.figures.diagram import MUTED, Diagram
from autograder.courses.transformer.softmax.plots import SCORES
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller


def temperature(functions: FunctionCaller) -> str:
    """Return the probabilities of five scores at falling temperatures, beside those at temperature 1."""
    d = Diagram(860, 270)
    d.bars(functions.array("softmax.softmax", SCORES.shape, SCORES), 40, 210, 76, 155, figure.BLUE)
    for x in (40, 460):
        d.labels([f"{score:g}".replace("-", "−") for score in SCORES.tolist()], x, 226, 76, color=MUTED)
    d.text(230, 18, "temperature 1", 14, bold=True)
    for heat in (10.0, 4.0, 2.0, 1.0, 0.5, 0.25, 0.1):
        d.frame(f"{heat:g}")
        d.text(650, 18, f"temperature {heat:g}", 14, bold=True)
        row = functions.array("softmax.softmax", SCORES.shape, SCORES, temperature=heat)
        d.bars(row, 460, 210, 76, 155, figure.ORANGE)
    return d.svg("temperature")


FIGURES = (temperature, "softmax-overflow")
