"""Checks of `llama`: rotary positions, SwiGLU, shared keys and values, and the model made of them."""
