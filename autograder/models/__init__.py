"""What one does with a model: train it, let it write, import one, look inside it."""
