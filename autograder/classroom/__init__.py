"""Grade a class: read submissions, run the checks, write results and gradebooks."""
