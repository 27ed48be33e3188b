"""Llama: rotary positions, gated feed-forward networks and shared keys and values, and the model made of them."""

# %% [markdown]
# # Llama: the same model with other parts
#
# Lesson to follow.

# %%
import numpy as np
from attention import attention, attention_backward
from ffn import linear, linear_backward
from multihead import merge_heads, split_heads
from softmax import as_float

# %% [markdown]
# ## `rope`


# %%
def _cos_sin(positions, size, base, dtype):
    """Return the cosines and sines of the angles, each (T, K/2)."""
    if size % 2 != 0:
        raise ValueError(f"the entries are rotated in pairs, but a vector has {size} of them")
    pairs = np.arange(size)[: size // 2]  # (K/2,), the numbers i
    rates = float(base) ** (-2 * pairs / size)  # (K/2,), the angle from one position to the next
    angles = np.asarray(positions)[:, None] * rates  # (T, K/2), in float64: large angles need all digits
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def _rotate(x, cos, sin):
    """Rotate the pairs of entries i and i + K/2."""
    first, second = np.split(x, 2, axis=-1)  # each (..., T, K/2)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def rope(x, positions, base=10000.0):
    """Rotate pairs of entries by angles that grow with the position (Su et al. 2021, section 3.2.2).

        angle[t, i] = positions[t] · base^(-2i/K),   i from 0 to K/2 - 1
        out[..., t, i]       = x[..., t, i] cos(angle[t, i]) - x[..., t, i + K/2] sin(angle[t, i])
        out[..., t, i + K/2] = x[..., t, i] sin(angle[t, i]) + x[..., t, i + K/2] cos(angle[t, i])

    Args:
        x: queries or keys, (..., T, K). Integers are computed in float64.
        positions: integers, (T,), the position of each row of `x`, in any order.
        base: the number whose powers are the angles per position.

    Returns:
        (..., T, K), in the dtype of `x`.

    Raises:
        ValueError: if K is odd.
    """
    x = as_float(x)
    cos, sin = _cos_sin(positions, x.shape[-1], base, x.dtype)
    return _rotate(x, cos, sin)


# %% [markdown]
# ## `rope_backward`


# %%
def rope_backward(dout, positions, base=10000.0):
    """Return the gradient of `rope(x, positions, base)` with respect to `x`, which does not depend on `x`.

    Args:
        dout: gradient with respect to the output, (..., T, K).
        positions: integers, (T,), those of the forward pass.
        base: that of the forward pass.

    Returns:
        Gradient with respect to `x`, (..., T, K), in the dtype of `dout`.
    """
    cos, sin = _cos_sin(positions, dout.shape[-1], base, dout.dtype)
    return _rotate(dout, cos, -sin)


# %% [markdown]
# ## `silu`


# %%
def _sigmoid(x):
    """Return 1 / (1 + exp(-x)), without an exponential of a positive number, which could overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def silu(x):
    """Apply the sigmoid linear unit, element by element (Hendrycks and Gimpel 2016, section 2).

        silu(x) = x σ(x) = x / (1 + exp(-x))

    Args:
        x: any shape. Integers are computed in float64.

    Returns:
        Same shape and dtype as `x`.
    """
    x = as_float(x)
    return x * _sigmoid(x)


# %% [markdown]
# ## `silu_backward`


# %%
def silu_backward(dout, x):
    """Return the gradient of `silu(x)`.

    Args:
        dout: gradient with respect to the output, same shape as `x`.
        x: input of the forward pass, any shape.

    Returns:
        Gradient with respect to `x`, same shape as `x`, in the dtype of the inputs.
    """
    gate = _sigmoid(x)
    return dout * (gate + x * gate * (1 - gate))


# %% [markdown]
# ## `swiglu`


# %%
def swiglu(x, params):
    """Apply the gated feed-forward network of Llama (Shazeer 2020, section 2).

        out = (silu(x W_gate) · (x W_up)) W_down,   where · multiplies entry by entry

    Args:
        x: (..., D).
        params: `W_gate` (D, F), `W_up` (D, F), `W_down` (F, D).

    Returns:
        out: (..., D), in the dtype of the inputs.
        cache: what `swiglu_backward` needs; its contents are up to you.
    """
    gate = linear(x, params["W_gate"], None)  # (..., F)
    up = linear(x, params["W_up"], None)  # (..., F)
    opened = silu(gate)
    hidden = opened * up
    out = linear(hidden, params["W_down"], None)  # (..., D)
    return out, {"x": x, "params": dict(params), "gate": gate, "up": up, "opened": opened, "hidden": hidden}


# %% [markdown]
# ## `swiglu_backward`


# %%
def swiglu_backward(dout, cache):
    """Return the gradients of `swiglu`.

    Args:
        dout: gradient with respect to the output, (..., D).
        cache: the cache that `swiglu` returned. It is not changed: a second call returns the same result.

    Returns:
        dx: gradient with respect to `x`, (..., D), in the dtype of the inputs.
        grads: dict with the same keys as `params`; each gradient has the shape and dtype of its parameter.
    """
    x, params, grads = cache["x"], cache["params"], {}
    dhidden, grads["W_down"], _ = linear_backward(dout, cache["hidden"], params["W_down"])
    dgate = silu_backward(dhidden * cache["up"], cache["gate"])  # (..., F)
    dup = dhidden * cache["opened"]  # (..., F)
    dx_gate, grads["W_gate"], _ = linear_backward(dgate, x, params["W_gate"])
    dx_up, grads["W_up"], _ = linear_backward(dup, x, params["W_up"])
    return dx_gate + dx_up, grads


# %% [markdown]
# ## `grouped_query_attention`


# %%
def _for_all_heads(shared, n_heads):
    """Repeat keys or values, (..., G, T, K), so that every query head has its own copy: (..., H, T, K)."""
    return np.repeat(shared, n_heads // shared.shape[-3], axis=-3)


def grouped_query_attention(x, params, n_heads, n_kv_heads, mask=None, positions=None, base=10000.0):
    """Compute self attention with rotated positions and shared keys and values (Ainslie et al. 2023, section 2.2).

        q = x W_q (H heads),   k = x W_k (G heads),   v = x W_v (G heads)
        head_h = attention(rope(q_h), rope(k_g), v_g),   g = h // (H / G)
        out = [head_0, head_1, …] W_o

    Args:
        x: vectors, (..., T, D).
        params: `W_q` (D, H K), `W_k` (D, G K), `W_v` (D, G K), `W_o` (H K, D), where K = D / H.
        n_heads: H, the number of heads of the queries.
        n_kv_heads: G, the number of heads of the keys and values.
        mask: boolean, True where a query may attend to a key; broadcastable to (..., H, T, T). None means that every
            query may attend to every key.
        positions: integers, (T,), the position of each row of `x`; None means 0 to T - 1.
        base: that of `rope`.

    Returns:
        out: (..., T, D), in the dtype of the inputs.
        cache: dict for `grouped_query_attention_backward`. `cache["weights"]` holds the attention weights,
            (..., H, T, T); the other entries are up to you.

    Raises:
        ValueError: if D is not a multiple of H, or if H is not a multiple of G.
    """
    if n_heads % n_kv_heads != 0:
        raise ValueError(f"{n_heads} heads of queries cannot share {n_kv_heads} heads of keys and values evenly")
    positions = np.arange(x.shape[-2]) if positions is None else positions
    q = rope(split_heads(linear(x, params["W_q"], None), n_heads), positions, base)  # (..., H, T, K)
    k = rope(split_heads(linear(x, params["W_k"], None), n_kv_heads), positions, base)  # (..., G, T, K)
    v = split_heads(linear(x, params["W_v"], None), n_kv_heads)  # (..., G, T, K)
    heads, weights = attention(q, _for_all_heads(k, n_heads), _for_all_heads(v, n_heads), mask)
    merged = merge_heads(heads)  # (..., T, H K)
    out = linear(merged, params["W_o"], None)  # (..., T, D)
    cache = {"x": x, "params": dict(params), "n_kv_heads": n_kv_heads, "positions": positions, "base": base}
    return out, cache | {"q": q, "k": k, "v": v, "weights": weights, "merged": merged}


# %% [markdown]
# ## `grouped_query_attention_backward`


# %%
def _over_groups(dheads, n_kv_heads):
    """Sum the gradients (..., H, T, K) of the copies that `_for_all_heads` made: (..., G, T, K)."""
    *batch, n_heads, length, size = dheads.shape
    return dheads.reshape(*batch, n_kv_heads, n_heads // n_kv_heads, length, size).sum(axis=-3)


def grouped_query_attention_backward(dout, cache):
    """Return the gradients of `grouped_query_attention`.

    Args:
        dout: gradient with respect to the output, (..., T, D).
        cache: the cache that `grouped_query_attention` returned. It is not changed: a second call returns the same
            result.

    Returns:
        dx: gradient with respect to `x`, (..., T, D), in the dtype of the inputs.
        grads: dict with the same keys as `params`; each gradient has the shape and dtype of its parameter.
    """
    x, params, q, grads = cache["x"], cache["params"], cache["q"], {}
    n_heads, n_kv_heads = q.shape[-3], cache["n_kv_heads"]
    rotation = cache["positions"], cache["base"]
    k, v = _for_all_heads(cache["k"], n_heads), _for_all_heads(cache["v"], n_heads)

    dmerged, grads["W_o"], _ = linear_backward(dout, cache["merged"], params["W_o"])
    dq, dk, dv = attention_backward(split_heads(dmerged, n_heads), q, k, v, cache["weights"])  # each (..., H, T, K)
    dk, dv = _over_groups(dk, n_kv_heads), _over_groups(dv, n_kv_heads)  # each (..., G, T, K)
    dq, dk = rope_backward(dq, *rotation), rope_backward(dk, *rotation)
    dx_q, grads["W_q"], _ = linear_backward(merge_heads(dq), x, params["W_q"])
    dx_k, grads["W_k"], _ = linear_backward(merge_heads(dk), x, params["W_k"])
    dx_v, grads["W_v"], _ = linear_backward(merge_heads(dv), x, params["W_v"])
    return dx_q + dx_k + dx_v, grads
