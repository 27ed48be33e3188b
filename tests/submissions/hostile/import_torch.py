"""Imports PyTorch as if it were there.

Held by: process
Right: 0 points
"""

import torch


def log_softmax(x, axis=-1):
    return torch.log_softmax(torch.as_tensor(x).double(), axis).numpy()
