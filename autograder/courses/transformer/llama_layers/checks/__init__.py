"""Checks of `llama_layers`: rotary positions, SwiGLU, and shared keys and values."""
