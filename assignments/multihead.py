"""Assignment 5: multi-head attention, several attentions side by side, within one text or between two."""

# %% [markdown]
# # Multi-head attention: looking for several things at once
#
# *Assignment 5 of 12 · 4 functions · about 1 h 55 min*
#
# `attention` takes queries, keys and values, but where do they come from? It also computes only one set of weights for
# each query. A word needs several kinds of information: which noun does this adjective belong to, where did the
# sentence begin, which token came just before? One weighted average cannot answer all these questions.
#
# Multi-head attention solves both problems. The D entries of each vector are divided among H **heads**. Each head has
# its own K = D / H entries for queries, keys and values, computed from the vector of the position with learned
# matrices, and does its own attention. Then the results are put side by side again, and one more matrix mixes them
# (Vaswani et al. 2017, section 3.2.2):
#
# $$\mathrm{head}_h = \mathrm{attention}(x W^Q_h,\; x W^K_h,\; x W^V_h) \qquad
#   \mathrm{out} = [\mathrm{head}_0, \dots, \mathrm{head}_{H-1}]\; W^O$$
#
# ```text
#     vector of a position, D entries    ████ ████ ████ ████
#                                         │    │    │    │       H = 4 heads of K = D / 4 entries
#     one attention for each head         ▼    ▼    ▼    ▼
#     side by side again, D entries      ████ ████ ████ ████  ── one more matrix ──>  D entries
# ```
#
# More heads add no parameters. They are cut from the same D columns, and the matrices have 4D² entries for any H.

# %%
import numpy as np
from attention import attention, attention_backward

# %% [markdown]
# ## `split_heads`
#
# *15 min, needs some thought*
#
# `attention` works on the last two axes and treats all axes before them as a batch. If the head axis comes before these
# two, one call computes all heads:
#
# ```text
#     (B, T, D)  ── cut each vector into H pieces ─>  (B, T, H, K)  ── swap two axes ─>  (B, H, T, K)
# ```
#
# Head 0 owns the first K columns of every position, head 1 the next K, and so on.
#
# ```python
# >>> x = np.array([[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])  # T = 3 positions, D = 4
# >>> split_heads(x, n_heads=2)
# array([[[ 0,  1],
#         [10, 11],
#         [20, 21]],
# <BLANKLINE>
#        [[ 2,  3],
#         [12, 13],
#         [22, 23]]])
#
# ```
#
# Both steps are needed. A reshape straight to (H, T, K) has the right shape but the wrong contents: it keeps the order
# in which the entries are stored, and "head 0" gets half of the *positions*. There is no error, but positions are
# mixed, and a causal model can then read the future, as you will see at `multihead_attention`:
#
# ```python
# >>> x.reshape(2, 3, 2)  # wrong: the first head holds positions 0 and half of 1
# array([[[ 0,  1],
#         [ 2,  3],
#         [10, 11]],
# <BLANKLINE>
#        [[12, 13],
#         [20, 21],
#         [22, 23]]])
#
# ```

# %%
def split_heads(x, n_heads):
    """Split the last axis into heads, and move the heads before the positions (Vaswani et al. 2017, section 3.2.2).

        out[..., h, t, i] = x[..., t, h K + i],   K = D / H

    Args:
        x: vectors, (..., T, D).
        n_heads: H, at least 1.

    Returns:
        (..., H, T, K), in the dtype of `x`. It may be a view of `x`.

    Raises:
        ValueError: if D is not a multiple of H.
    """
    raise NotImplementedError("multihead.split_heads")


# %% [markdown]
# ## `merge_heads`
#
# *10 min, straightforward*
#
# `merge_heads` undoes `split_heads`: swap the two axes first, then join the heads.
#
# ```python
# >>> x = np.array([[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])
# >>> merge_heads(split_heads(x, n_heads=2))
# array([[ 0,  1,  2,  3],
#        [10, 11, 12, 13],
#        [20, 21, 22, 23]])
#
# ```
#
# The typical mistake is the same: a reshape without the swap mixes positions. With one head the wrong version gives the
# right answer, so try it with two.

# %%
def merge_heads(x):
    """Join the heads side by side: the inverse of `split_heads` (Vaswani et al. 2017, section 3.2.2, "Concat").

        out[..., t, h K + i] = x[..., h, t, i]

    Args:
        x: one vector per head and position, (..., H, T, K).

    Returns:
        (..., T, H K), in the dtype of `x`. It may be a view of `x`.
    """
    raise NotImplementedError("multihead.merge_heads")


# %% [markdown]
# ## `multihead_attention`
#
# *40 min, needs pen and paper*
#
# Now the matrices. "Multiply by a learned matrix and add a learned vector" is called a **linear layer**, $y = x W + b$.
# The matrix $W$ is often called its weights, and the vector $b$ is its **bias**. The matrices of all heads for queries,
# keys and values are stored side by side as one matrix, so that one large product replaces 3H small ones:
#
# ```text
#     W_qkv (D, 3D) = [ head 0 | head 1 | … | head 0 | head 1 | … | head 0 | head 1 | … ]
#                      '------ queries -----' '------- keys ------' '------ values -----'
# ```
#
# The whole computation, with the shape at each step:
#
# ```text
#     x (B, T, D)  ── W_qkv, b_qkv ──>  q, k, v, each (B, T, D)  ── split ──>  each (B, H, T, K)
#       ── attention ──>  (B, H, T, K)  ── merge ──>  (B, T, D)  ── W_o, b_o ──>  out (B, T, D)
# ```
#
# The parameters come in a dictionary. Some models have no biases: then the keys `b_qkv` and `b_o`, or one of them, are
# absent (`params.get` returns None).
#
# Here is an example with two tokens and two heads of size 1. With these parameters queries, keys and values are all
# equal to x, and the last matrix changes nothing:
#
# ```python
# >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])  # T = 2, D = 2
# >>> params = {"W_qkv": np.tile(np.eye(2), 3), "W_o": np.eye(2)}
# >>> out, cache = multihead_attention(x, params, n_heads=2)
# >>> cache["weights"].round(4)
# array([[[0.7311, 0.2689],
#         [0.5   , 0.5   ]],
# <BLANKLINE>
#        [[0.5   , 0.5   ],
#         [0.2689, 0.7311]]])
# >>> out.round(4)
# array([[0.7311, 0.5   ],
#        [0.5   , 0.7311]])
#
# ```
#
# The two heads have different weights: in head 0 the first position attends mostly to itself, in head 1 to both
# positions equally.
#
# The function returns two results, and so will every larger part of the model from now on: its output, and a **cache**,
# a dictionary with everything that the backward pass will need. What is in it is up to you. Only `"weights"` has a
# fixed name, so that later assignments and plots find the attention weights there.
#
# Three things to watch out for:
#
# - **Which root?** Each head divides its scores by √K, where K is the length of *its* queries (√1 in the example), not
#   by √D. If your `attention` reads this length off its own `q`, there is nothing to do.
# - **Does the mask fit?** It has to broadcast to (..., H, T, S). A causal mask (T, S) does, and so does a padding mask
#   (B, 1, 1, S). A mask of shape (B, T, S) does *not*: broadcasting would line up its batch with the heads. Give it an
#   axis for the heads, (B, 1, T, S).
# - **Other layouts.** Parameters from other models may need rearranging. PyTorch's `nn.MultiheadAttention` stores
#   `in_proj_weight` as (3D, D), the transpose of ours, in the same order of q, k and v. GPT-2's `c_attn` has our
#   layout. GPT-NeoX orders the columns by heads, with q, k and v of head 0 first. Many tutorials use three separate
#   matrices.
#
# ### Is it still causal?
#
# With the causal mask, a change at the last position must not change the output at any other position. Test every
# causal model like this: the test is short, and it finds mistakes that give no error. Here it is for the first half of
# `multihead_attention`, without biases, with your own functions and with a reshape in their place:
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> text, W_qkv = rng.normal(size=(4, 4)), rng.normal(size=(4, 12))  # T = 4 positions, D = 4
# >>> moved = text.copy()
# >>> moved[-1] += 1.0  # another vector at the last position
# >>> def changed_positions(split, merge):
# ...     outputs = []
# ...     for vectors in (text, moved):
# ...         q, k, v = (split(part) for part in np.split(vectors @ W_qkv, 3, axis=-1))
# ...         heads, _ = attention(q, k, v, mask=np.tri(4, dtype=bool))
# ...         outputs.append(merge(heads))
# ...     return np.flatnonzero(np.abs(outputs[1] - outputs[0]).max(axis=-1) > 1e-9).tolist()
# >>> def split(x):
# ...     return split_heads(x, n_heads=2)
# >>> def wrong_split(x):
# ...     return x.reshape(2, 4, 2)
# >>> def wrong_merge(heads):
# ...     return heads.reshape(4, 4)
# >>> changed_positions(split, merge_heads)
# [3]
# >>> changed_positions(split, wrong_merge)
# [1, 3]
# >>> changed_positions(wrong_split, merge_heads)
# [2, 3]
# >>> changed_positions(wrong_split, wrong_merge)
# [3]
#
# ```
#
# With one wrong reshape, an earlier position reads the last one. In training, such a model can read the tokens that it
# should predict, and its loss falls far too low (an experiment in assignment 10 shows how far). Two wrong reshapes undo
# each other in this test, but they are still wrong: each head then attends only within its own part of the text.
#
# ### Attending to another text
#
# So far a text attends to itself: **self attention**, S = T. But a translator that writes English has to attend to the
# French text. With **cross attention** the queries come from x as before, but the keys and values come from another
# array of vectors, the **memory** (B, S, D) (section 3.2.3). The matrix is the same: its first D columns are used for
# x, the others for the memory.
#
# ```python
# >>> memory = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])  # S = 3
# >>> out, cache = multihead_attention(x, params, n_heads=2, memory=memory)
# >>> cache["weights"].shape  # (H, T, S)
# (2, 2, 3)
# >>> out.round(4)
# array([[1.574 , 0.6667],
#        [0.6667, 1.574 ]])
#
# ```
#
# You will not need it before assignment 12, but it takes only a few lines now.

# %%


def multihead_attention(x, params, n_heads, mask=None, memory=None):
    """Compute multi-head self attention, or cross attention if there is a memory (Vaswani et al. 2017, section 3.2.2).

        q = x W_qkv[:, :D] + b_qkv[:D]           source = x, or the memory
        k = source W_qkv[:, D:2D] + b_qkv[D:2D]
        v = source W_qkv[:, 2D:] + b_qkv[2D:]
        head_h = attention(q_h, k_h, v_h),       where head h owns the columns from h K up to (h + 1) K, K = D / H
        out = [head_0, head_1, …] W_o + b_o

    Args:
        x: vectors, (..., T, D); for B texts (B, T, D).
        params: dict with `W_qkv` (D, 3D), `b_qkv` (3D,), `W_o` (D, D), `b_o` (D,). Each bias may be absent.
        n_heads: H, at least 1.
        mask: boolean, True where a query may attend to a key; broadcastable to (..., H, T, S), such as (T, S) or
            (B, 1, T, S). None means that every query may attend to every key.
        memory: None for self attention (then S = T), or the vectors to attend to, (..., S, D), with the batch axes of
            `x`.

    Returns:
        out: (..., T, D), in the dtype of the inputs.
        cache: dict for `multihead_attention_backward`. `cache["weights"]` holds the attention weights,
            (..., H, T, S); the other entries are up to you.

    Raises:
        ValueError: if D is not a multiple of H, or if the mask does not broadcast to (..., H, T, S).
        TypeError: if the mask is not boolean.
    """
    raise NotImplementedError("multihead.multihead_attention")


# %% [markdown]
# ## `multihead_attention_backward`
#
# *50 min, needs pen and paper*
#
# Work from the output back to the input. You have most of the pieces: `attention_backward`, `split_heads` and
# `merge_heads`. The last two only move entries, so the backward pass of each is the other. New is the linear layer $y =
# x W + b$. Take all positions of all texts as the rows of one matrix, (N, D):
#
# $$dW = x^\top dy \qquad db = \sum_n dy_n \qquad dx = dy\, W^\top$$
#
# All N positions used the same matrix and the same bias, so their gradients are sums over the positions. For $W$ the
# product computes the sum. For $b$ you have to write it down. If you forget it, the gradient keeps the shape (N, D),
# and nothing fails at once, because broadcasting lets you subtract it from $b$.
#
# The vector x was used three times, for q, k and v, so its three gradients are *added*. If dq, dk and dv are side by
# side, in the order of the columns of `W_qkv`, a single product adds them up.
#
# In cross attention, the gradient through q belongs to x. The gradient through k and v belongs to the memory, and is
# returned as a third result.
#
# ```python
# >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
# >>> params = {"W_qkv": np.tile(np.eye(2), 3), "W_o": np.eye(2)}
# >>> out, cache = multihead_attention(x, params, n_heads=2)
# >>> dx, grads = multihead_attention_backward(np.array([[1.0, 0.0], [0.0, 0.0]]), cache)
# >>> dx.round(4)
# array([[1.1243, 0.    ],
#        [0.0723, 0.    ]])
# >>> {name: grad.shape for name, grad in grads.items()}
# {'W_qkv': (2, 6), 'W_o': (2, 2)}
#
# ```
#
# The second column of dx is 0: `dout` is nonzero only for the first column of the output. Head 0 computed that column,
# and it uses only the first column of x here.

# %%


def multihead_attention_backward(dout, cache):
    """Return the gradients with respect to the input, the parameters and, for cross attention, the memory.

        for y = x W + b, over all N positions:   dW = xᵀ dy,   db = Σ_n dy_n,   dx = dy Wᵀ

    Args:
        dout: gradient with respect to `out`, (..., T, D).
        cache: the cache that `multihead_attention` returned. It is not changed.

    Returns:
        dx: gradient with respect to `x`, (..., T, D).
        grads: dict with the same keys and shapes as `params`; a bias that was absent has no gradient.
        dmemory: gradient with respect to `memory`, (..., S, D). Only for cross attention: self attention returns the
            pair (dx, grads), cross attention the triple (dx, grads, dmemory).
        All in the dtype of the inputs.
    """
    raise NotImplementedError("multihead.multihead_attention_backward")


# %% [markdown]
# ## What could go wrong
#
# These mistakes are easy to make here. Read them before you write the functions, and again when a check fails: the
# report uses the same words when it recognizes one.
#
# - `split_heads`: **x was reshaped straight to (…, H, T, K), without swapping axes.** The shape is right, but the
#   entries are in the wrong places: each head gets pieces of several positions.
# - `multihead_attention`: **the heads were merged by reshape alone, without swapping axes.** The shape is right, but
#   positions are mixed. In a causal model, some positions can then read later ones, and the loss falls far too low.
# - `multihead_attention`: **the scores were divided by √D, not by √K, the size of a head.** Each head multiplies
#   vectors of K = D / H entries. With one head the mistake
#   stays hidden.
# - `multihead_attention`: **the first third of W_qkv was used for the keys, the second for the queries.** The name
#   gives the order: q, k, v.
# - `multihead_attention`: **the mask was not passed to attention.** Every position then attends to all others,
#   including the future and the padding.
# - `multihead_attention_backward`: **dx has only the gradient that came through the queries.** x was used three times,
#   for q, k and v, and the three gradients are added.
# - `multihead_attention_backward`: **the gradients of the biases were not summed over the positions.** They have the
#   shape of dout instead of the bias. Broadcasting still lets you subtract them, and the bias becomes a matrix.

# %% [markdown]
# ## Try it
#
# You can build a head by hand. Let the vector of each position be a one-hot row that encodes only its position, and let
# the keys be the same rows. Then row t of the query matrix decides which position t attends to. One head should attend
# to the *previous* position, another to the *first*.
#
# **Guess first.** What do the two tables of weights look like, with a causal mask? Position 0 has no previous position:
# what does it attend to? And what happens if one head is to do both at once?
#
# Run it: `python multihead.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    T = 4
    previous, first = np.eye(T, k=-1), np.tile(np.eye(T)[0], (T, 1))  # row t: where position t attends

    def weights_of(*targets):  # one head for each
        H = len(targets)
        W_q = np.zeros((H * T, H * T))
        for h, target in enumerate(targets):
            W_q[h * T : (h + 1) * T, h * T : (h + 1) * T] = 20 * target  # large, so that softmax gives nearly 0 or 1
        params = {"W_qkv": np.hstack([W_q, np.eye(H * T), np.eye(H * T)]), "W_o": np.eye(H * T)}
        x = np.tile(np.eye(T), (1, H))  # (T, H T): every head gets a copy of the position
        _, cache = multihead_attention(x, params, n_heads=H, mask=np.tri(T, dtype=bool))
        return cache["weights"].round(2)

    print(weights_of(previous, first))
    print(weights_of(previous + first))


# %% [markdown]
# ## What came out
#
# ```text
# [[[1. 0. 0. 0.]
#   [1. 0. 0. 0.]
#   [0. 1. 0. 0.]
#   [0. 0. 1. 0.]]
#
#  [[1. 0. 0. 0.]
#   [1. 0. 0. 0.]
#   [1. 0. 0. 0.]
#   [1. 0. 0. 0.]]]
# [[[1.  0.  0.  0. ]
#   [1.  0.  0.  0. ]
#   [0.5 0.5 0.  0. ]
#   [0.5 0.  0.5 0. ]]]
# ```
#
# Each of the two heads attends where it should (position 0 can only attend to itself). The single head that has to do
# both gives each position half of its weight: softmax weights add up to 1, and the result is one average, which does
# not show which vector came from where. That is why there are several heads. Trained models have such heads, too: in
# BERT, some put more than half of their weight on the previous position (Clark et al. 2019, section 3.1).
#
# 1. Leave the mask out. Which row of the previous-position head changes, and to what?
# 2. These heads can tell positions apart only because the vectors encode them. Take random parameters and vectors
#    without positions, and shuffle the positions. What happens to the output, without a mask and with a causal one?

# %% [markdown]
# ## Answers
#
# **1. Row 0.** Its query is 0, so all its scores are 0, and it attends to all positions equally:
#
# ```python
# >>> params = {"W_qkv": np.hstack([20 * previous, np.eye(T), np.eye(T)]), "W_o": np.eye(T)}
# >>> multihead_attention(np.eye(T), params, n_heads=1)[1]["weights"].round(2)
# array([[[0.25, 0.25, 0.25, 0.25],
#         [1.  , 0.  , 0.  , 0.  ],
#         [0.  , 1.  , 0.  , 0.  ],
#         [0.  , 0.  , 1.  , 0.  ]]])
#
# ```
#
# **2. Without a mask the same vectors come out, in the new order.** Attention by itself treats its input as a *set*.
# With the causal mask the vectors change, because each position now attends to different ones. All information about
# order comes from the position vectors and from the mask.
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> params = {"W_qkv": rng.normal(size=(8, 24)), "W_o": rng.normal(size=(8, 8))}
# >>> x, order = rng.normal(size=(5, 8)), np.array([3, 0, 4, 1, 2])
# >>> for mask in (None, np.tri(5, dtype=bool)):
# ...     out, _ = multihead_attention(x, params, n_heads=2, mask=mask)
# ...     shuffled, _ = multihead_attention(x[order], params, n_heads=2, mask=mask)
# ...     print(np.allclose(shuffled, out[order]))
# True
# False
#
# ```

# %% [markdown]
# ## In your own GPT
#
# Once you have trained your GPT (`headway train`, assignment 10), you can see this part at work:
# `headway plot attention-heads`.
