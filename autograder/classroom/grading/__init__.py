"""Run the checks of many submissions in grading processes, here or on a cluster."""
