"""Checks of `llama`: the block, the model, its checkpoints, and texts."""
