"""Grade a class: submissions in, results and gradebooks out."""
