"""Checks of assignment 7: activations, linear layers, dropout and the feed-forward network."""
