"""The pictures in the lessons, drawn from the official functions: `make figures`.

`catalog` lists them. `diagram` draws boxes, arrows and tables of numbers as SVG; curves and bars come from matplotlib,
many of them from the plots of `headway plot`. What a trained model shows is measured once and kept in
`trained_model.json`, so that every machine draws the same.
"""
