"""Draw figures with matplotlib, or describe them as data (`panels`), from what functions of a course return.

`function_caller` calls them. Plots and the curves in lessons are made with it.
"""
