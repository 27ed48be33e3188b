"""A right answer to `finetuning` as short as it can be; replace it. `headway verify` requires that it passes every check."""


def finetuning(x):
    return (x.T - x.mean(1)).T
