"""No picture but the map."""

FIGURES = ()
