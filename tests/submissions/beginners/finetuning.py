"""Wrong answers to `finetuning` as beginners write them; each docstring lists the mistakes that the report should name.

Replace them, and add more: at least six.
"""


def finetuning__columns(x):
    """mean-of-columns"""
    return x - x.mean(axis=0)


def finetuning__sum_of_both(x):
    """mean-added"""
    mean = x.mean(axis=1, keepdims=True)
    return x + mean
