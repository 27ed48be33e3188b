"""Emil: a loop that never ends."""


def layernorm(x, gamma, beta, eps=1e-5):
    row = 0
    while row < len(x):
        x[row] = (x[row] - x[row].mean()) / x[row].std()
    return gamma * x + beta
