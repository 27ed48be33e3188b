"""The panels of the plot of the sinusoidal positions."""

from autograder.courses.transformer.embeddings.figures import BASES, LONG_TEXT, wavelengths
from autograder.drawing import panels
from autograder.drawing.function_caller import FunctionCaller
from autograder.drawing.panels import Panels

POSITIONS, POSITION_WIDTH = 64, 48
WAVES = (0, 8, 16, 24)  # even columns: sines


def positions(functions: FunctionCaller, text: str | None) -> Panels:
    """Return the table, some of its columns, the similarity of its rows, and the wavelengths."""
    shape = length, width = POSITIONS, POSITION_WIDTH
    table = functions.array("embeddings.sinusoidal_positions", shape, *shape)
    waves = [
        panels.series(f"column {column}", range(length), table[:, column], color=color)
        for color, column in enumerate(WAVES)
    ]
    waves.append(panels.series("column 1 (cosine)", range(length), table[:, 1], color=0, style="dotted"))
    lengths = [
        panels.series(f"base {base:,}", *wavelengths(width, base), color=color)
        for base, color in zip(BASES, (1, 0, 2), strict=True)
    ]
    highest = max(value for series in lengths for value in series["y"] if value is not None)
    lengths.append(panels.series(f"{LONG_TEXT:,} positions", [0, width - 2], [LONG_TEXT] * 2, color=4, style="dotted"))
    position, feature = panels.axis("position", 0, length - 1), panels.axis("column (feature)", 0, width - 2)
    wave_height = panels.spanning("value", -1, 1, *(table[:, column] for column in (*WAVES, 1)))
    dot_products = panels.Scale("dot product of two rows")
    wave_length = panels.log_axis("wavelength (positions)", 1, highest)
    return 2, [
        panels.heatmap("the table", "column (feature)", "position", table, panels.Scale("value", signed=True)),
        panels.lines("some columns as waves", position, wave_height, *waves),
        panels.heatmap("similarity: dot products", "position", "position", table @ table.T, dot_products),
        panels.lines("why 10000: the longest wave", feature, wave_length, *lengths),
    ]
