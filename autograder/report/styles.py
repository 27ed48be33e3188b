"""The colours of the terminal. Wherever a colour has a meaning, a mark next to it has the same meaning.

Colour-blind readers can tell them apart (Okabe and Ito 2008, "Color Universal Design"). Orange and sky blue are darker
than in that palette, so that every colour has a contrast of at least 3 to 1 with white and with black, as WCAG 2.2
requires (success criterion 1.4.11).
"""

GREEN = "#009e73"
VERMILION = "#d55e00"
ORANGE = "#c08400"
BLUE = "#2e93d1"
PINK = "#cc79a7"
