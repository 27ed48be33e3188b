"""`headway serve`: a local server for one workspace, whose pages check what the student writes."""
