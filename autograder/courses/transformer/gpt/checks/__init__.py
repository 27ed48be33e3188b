"""Checks of `gpt`: the initial parameters, the model, its loss and the number of its parameters."""
