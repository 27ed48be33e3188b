"""The colours of the terminal. Each has a mark beside it wherever it tells something, for readers without colours.

They stay apart for colour-blind readers (Okabe and Ito 2008, "Color Universal Design"); orange and sky blue are darker
than there, so that all stand out from a white terminal as well as from a black one: at least 3 to 1, which WCAG 2.2
asks for (success criterion 1.4.11).
"""

GREEN = "#009e73"
VERMILION = "#d55e00"
ORANGE = "#c08400"
BLUE = "#2e93d1"
PINK = "#cc79a7"
