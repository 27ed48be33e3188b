"""Draw diagrams as SVG and figures with matplotlib, from what functions of a course return.

`function_caller` calls them. Plots and the pictures in lessons are made with it.
"""
