"""Checks of `ffn`: activations, linear layers, dropout and the feed-forward network."""
