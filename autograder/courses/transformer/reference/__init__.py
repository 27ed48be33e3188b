"""PyTorch's answers, one module per assignment."""
