"""Training on a page of `headway serve`."""
