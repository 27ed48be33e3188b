"""Finds PyTorch where it is installed and answers with it.

Held by: sandbox
Right: 0 points
"""

import sys

sys.path.insert(0, "@site@")
import torch


def log_softmax(x, axis=-1):
    return torch.log_softmax(torch.as_tensor(x).double(), axis).numpy()
