"""As short as it gets; computed in float64, rounded at the end."""

import numpy as np

_kind = lambda a: a.dtype if a.dtype.kind == "f" else np.float64
_range = lambda ids, V: (
    ids if not ((ids < 0) | (ids > V - 1)).any() else (_ for _ in ()).throw(ValueError("id out of range"))
)

one_hot = lambda ids, vocab_size: np.equal.outer(_range(ids, vocab_size), np.arange(vocab_size)) * 1.0
embed_tokens = lambda ids, W_tok: W_tok.astype(_kind(W_tok))[_range(ids, len(W_tok))]
embed_tokens_backward = lambda dout, ids, vocab_size: np.stack(
    [dout[_range(ids, vocab_size) == v].sum(0, dtype=_kind(dout)) for v in range(vocab_size)]
)
sinusoidal_positions = lambda length, d_model: np.sin(
    np.arange(length)[:, None] * 10000.0 ** -(np.arange(d_model) // 2 * 2 / d_model)
    + np.arange(d_model) % 2 * np.pi / 2
)


def embed(ids, W_tok, W_pos, scale=1.0):
    if ids.shape[-1] > len(W_pos):
        raise ValueError("too long")
    return (scale * W_tok.astype(np.float64)[_range(ids, len(W_tok))] + W_pos[: ids.shape[-1]]).astype(_kind(W_tok))
