"""Multi-head attention, several attentions side by side, within one text or between two."""

# %% [markdown]
# # Multi-head attention: looking for several things at once
#
# *Assignment 8 of 21 · 4 functions · about 1 h 55 min to write them*
#
# Ask one attention to look at the previous token *and* at the first one, and it gives each of them half of its weight:
# the row `0.5 0. 0.5 0.`. The output no longer shows which vector came from where. (You will print this row at the end
# of the lesson.) But a word needs several kinds of information: which noun does this adjective belong to, which token
# came just before? And where do queries, keys and values come from in the first place?
#
# Multi-head attention answers both questions. Learned matrices compute queries, keys and values from the vector of each
# position. The results, again D entries long, are cut into H pieces of K = D / H entries, one for each **head**, and
# each head does its own attention. Then the outputs are put side by side again, and one more matrix mixes them (Vaswani
# et al. 2017, section 3.2.2):
#
# $$\mathrm{head}_h = \mathrm{attention}(x W^Q_h,\; x W^K_h,\; x W^V_h) \qquad
#   \mathrm{out} = [\mathrm{head}_0, \dots, \mathrm{head}_{H-1}]\; W^O$$
#
# ```text
#     vector of a position, D entries    ███████████████████
#                                                 │              learned matrices: every entry of
#                                                 ▼              the result depends on all D
#     query (so key, and value)          ████ ████ ████ ████     cut: H = 4 heads of K = D / 4 entries
#                                         │    │    │    │
#     one attention for each head         ▼    ▼    ▼    ▼
#     side by side again, D entries      ████ ████ ████ ████  ── one more matrix ──>  D entries
# ```
#
# ![A map of the whole model. Marked: multi-head attention, in the first half of a block.](figures/map-multihead.svg)
#
# More heads add no parameters: they are cut from the same D entries, and the matrices have 4D² entries for any H.

# %%
import numpy as np
from attention import attention, attention_backward

# %% [markdown]
# ## `split_heads`
#
# *15 min, needs some thought*
#
# `attention` works on the last two axes and treats all axes before them as a batch. So put the head axis before these
# two, and one call computes all heads:
#
# ```text
#     (B, T, D)  ── cut each vector into H pieces ─>  (B, T, H, K)  ── swap two axes ─>  (B, H, T, K)
# ```
#
# Head 0 owns the first K columns of every position, head 1 the next K, and so on. In the picture, follow the entry c3:
# it is computed from *all* features of x, and only then goes to head 1.
#
# ![Four steps. x times W_q gives q: its entry c3 depends on the whole row c of x and on column 3 of W_q. Each row of q
# is cut into three pairs. The pairs of each head are put together. Each head computes its own weights and
# output.](figures/split-heads.svg)
#
# ```python
# >>> x = np.array([[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])  # T = 3 positions, D = 4
# >>> heads = split_heads(x, n_heads=2)
# >>> heads.shape  # (H, T, K)
# (2, 3, 2)
# >>> heads[0]
# array([[ 0,  1],
#        [10, 11],
#        [20, 21]])
# >>> heads[1]
# array([[ 2,  3],
#        [12, 13],
#        [22, 23]])
#
# ```
#
# A reshape straight to (H, T, K) gives the right shape but the wrong contents: "head 0" gets half of the *positions*.
# There is no error, but a causal model can then read the future, as you will see at `multihead_attention`:
#
# ```python
# >>> x.reshape(2, 3, 2)[0]  # wrong: head 0 holds position 0 and half of position 1
# array([[ 0,  1],
#        [ 2,  3],
#        [10, 11]])
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
# A reshape without the swap mixes positions here, too. With one head, it even gives the right answer, so try it with
# two.

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
# *40 min, needs some thought*
#
# "Multiply by a learned matrix and add a learned vector" is called a **linear layer**, $y = x W + b$. The matrix $W$ is
# often called its weights, and the vector $b$ is its **bias**. The matrices of all heads for queries, keys and values
# are stored side by side as one matrix, so that one large product replaces 3H small ones:
#
# ```text
#     W_qkv (D, 3D) = [ head 0 | head 1 | … | head 0 | head 1 | … | head 0 | head 1 | … ]
#                      '------ queries -----' '------- keys ------' '------ values -----'
# ```
#
# Here is the whole computation, with the shape at each step:
#
# ```text
#     x (B, T, D)  ── W_qkv, b_qkv ──>  q, k, v, each (B, T, D)  ── split ──>  each (B, H, T, K)
#       ── attention ──>  (B, H, T, K)  ── merge ──>  (B, T, D)  ── W_o, b_o ──>  out (B, T, D)
# ```
#
# ![The steps of multi-head attention as boxes with the shape after each: three products, split, attention for each
# head, merge, one more product.](figures/multihead-shapes.svg)
#
# The parameters come in a dictionary. Some models lack one or both of the biases `b_qkv` and `b_o` (`params.get` then
# returns None).
#
# In this example with two tokens and two heads of size 1, queries, keys and values are all equal to x, and the last
# matrix changes nothing:
#
# ```python
# >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])  # T = 2, D = 2
# >>> params = {"W_qkv": np.tile(np.eye(2), 3), "W_o": np.eye(2)}
# >>> out, cache = multihead_attention(x, params, n_heads=2)
# >>> cache["weights"][0].round(4)  # the weights of head 0
# array([[0.7311, 0.2689],
#        [0.5   , 0.5   ]])
# >>> cache["weights"][1].round(4)
# array([[0.5   , 0.5   ],
#        [0.2689, 0.7311]])
# >>> out.round(4)
# array([[0.7311, 0.5   ],
#        [0.5   , 0.7311]])
#
# ```
#
# In head 0, the first position attends mostly to itself; in head 1, to both positions equally.
#
# The function returns two results, and so will every larger part of the model from now on: its output and a **cache**,
# a dictionary with everything that the backward pass will need. Only `"weights"` has a fixed name, so that later
# assignments and plots find the attention weights there.
#
# - **Which root?** Each head divides its scores by √K, where K is the length of *its* queries (√1 in the example), not
#   by √D. If your `attention` reads K off its own `q`, that is taken care of.
# - **Does the mask fit?** It has to broadcast to (..., H, T, S). A causal mask (T, S) does, and so does a padding mask
#   (B, 1, 1, S). A mask (B, T, S) does *not*: its batch would line up with the heads. Give it an axis for the heads,
#   (B, 1, T, S).
# - **Other layouts.** PyTorch's `nn.MultiheadAttention` stores `in_proj_weight` as (3D, D), the transpose of ours, in
#   the same order of q, k and v. GPT-2's `c_attn` has our layout. GPT-NeoX orders the columns by heads, with q, k and v
#   of head 0 first.
#
# ### Is it still causal?
#
# With the causal mask, a change at the last position must not change the output at any other position. Test every
# causal model this way. Here is the test for the first half of `multihead_attention`, with your functions and with a
# reshape in their place:
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
# With one wrong reshape, an earlier position reads the last one. In training, such a model sees the tokens that it
# should predict, and its loss falls far too low (an experiment in the assignment `training` shows how far). Two wrong
# reshapes undo each other in this test, but each head then attends only within its own part of the text.
#
# ### Why the texts of a batch never see each other
#
# A matrix product multiplies the last two axes only, once for each text and head. So the scores (B, H, T, T) compare
# positions of the same text, and no mask is needed between texts:
#
# ![The scores of two texts as two small tables, and as one large table whose entries between the texts do not
# exist.](figures/batch-rows.svg)
#
# ```python
# >>> two = np.random.default_rng(0).normal(size=(2, 3, 4))  # B = 2 texts
# >>> same = {"W_qkv": np.tile(np.eye(4), 3), "W_o": np.eye(4)}
# >>> before = multihead_attention(two, same, n_heads=2)[0]
# >>> two[1] = 100.0
# >>> bool((multihead_attention(two, same, n_heads=2)[0][0] == before[0]).all())
# True
#
# ```
#
# ### Attending to another text
#
# So far, a text attends to itself: **self attention**, S = T. A translator that writes English has to attend to the
# French text. With **cross attention**, the queries come from x as before, but the keys and values come from another
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
# You will need it in the assignment `encoder_decoder`; now it takes only a few lines.

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
# ### The same, written as einsum
#
# Give the columns of a matrix two axes, h for the head and k for the entry within it. Then one einsum computes the
# queries of all heads from x, and another merges the heads and multiplies by `W_o`: no `split_heads`, no `merge_heads`.
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> text, W_q, W_o = rng.normal(size=(5, 6)), rng.normal(size=(6, 6)), rng.normal(size=(6, 6))  # T = 5, D = 6
# >>> heads = np.einsum("td,dhk->htk", text, W_q.reshape(6, 2, 3))  # H = 2, K = 3
# >>> np.allclose(heads, split_heads(text @ W_q, n_heads=2))
# True
# >>> np.allclose(np.einsum("htk,hkd->td", heads, W_o.reshape(2, 3, 6)), merge_heads(heads) @ W_o)
# True
#
# ```

# %% [markdown]
# ## `multihead_attention_backward`
#
# *50 min, needs pen and paper*
#
# Only the order is new. Read the forward pass from the end to the beginning, and reverse each step:
#
# ```text
#     forward, step by step                    result               backward, from the last step
#     1  x W_qkv + b_qkv, cut into q, k, v     3 times (B, T, D)    5  linear layer
#     2  split_heads, three times              (B, H, T, K)         4  ?
#     3  attention                             (B, H, T, K)         3  attention_backward
#     4  merge_heads                           (B, T, D)            2  ?
#     5  merged W_o + b_o                      (B, T, D)            1  linear layer
# ```
#
# **Splitting and merging.** Both only move entries, so each upstream gradient goes back to where its entry came from.
# Which function moves entries in exactly that way? Fill in the two question marks.
#
# **The linear layer.** Take all positions of all texts as the rows of one matrix x, (N, D), so that $y = x W + b$. For
# the product, you know the rule from `gradients`: write down dx and dW. The bias, (D,), is broadcast to all N rows, and
# what was repeated in the forward pass is summed in the backward pass.
#
# **The input.** The vector x was used three times, for q, k and v. What happens to its three gradients? Put dq, dk and
# dv side by side, in the order of the columns of `W_qkv`, and the product in one linear layer takes care of it.
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
# Only the first column of `dout` is not 0. Head 0 computed that column from the first column of x, so the second column
# of dx is 0.

# %%


def multihead_attention_backward(dout, cache):
    """Return the gradients with respect to the input, the parameters and, for cross attention, the memory.

        dx = dL/dx,   grads["W_o"] = dL/dW_o, and so on,   where L is the loss

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
# ## On paper
#
# 1. In a linear layer, x has the two rows (1, 2) and (3, 4), W is the column (1, −1), and dy is the column (1, 10).
#    What are dW, db and dx?
# 2. The part of `b_qkv` that belongs to the keys adds the same vector c to every key of a head. What does that do to
#    the scores of one query, and to its weights? What is the gradient of that part of the bias?
# 3. Two heads have equal matrices for queries, keys and values, and `W_o` is the identity. Are the gradients of the two
#    heads' matrices equal as well?

# %% [markdown]
# ## Answers on paper
#
# **1. dW is the column (31, 42), db is 11, and dx has the rows (1, −1) and (10, −10).** The entries of dW are 1 · 1 + 3
# · 10 and 2 · 1 + 4 · 10; each row of dx is the row of dy times (1, −1).
#
# ```python
# >>> x, W, dy = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [-1.0]]), np.array([[1.0], [10.0]])
# >>> from gradients import numerical_gradient
# >>> def loss(x, W, b):
# ...     return (dy * (x @ W + b)).sum()  # the upstream gradient of this loss is dy
# >>> numerical_gradient(lambda W: loss(x, W, 0.0), W).round(3).ravel()
# array([31., 42.])
# >>> numerical_gradient(lambda b: loss(x, W, b), np.zeros(1)).round(3)
# array([11.])
# >>> numerical_gradient(lambda x: loss(x, W, 0.0), x).round(3)
# array([[  1.,  -1.],
#        [ 10., -10.]])
#
# ```
#
# **2. The gradient is 0.** Every score of a query q grows by the same number, q · c / √K, and the softmax ignores what
# is added to all scores of a row. So the bias of the keys never changes in training, and some models leave it out.
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> x, dout = rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
# >>> params = {"W_qkv": rng.normal(size=(4, 12)), "b_qkv": rng.normal(size=12), "W_o": rng.normal(size=(4, 4))}
# >>> out, cache = multihead_attention(x, params, n_heads=2)
# >>> _, grads = multihead_attention_backward(dout, cache)
# >>> np.abs(grads["b_qkv"]).reshape(3, 4).max(axis=1) > 1e-9  # queries, keys, values
# array([ True, False,  True])
#
# ```
#
# **3. No.** The heads compute the same vectors, but head 0 gets different columns of `dout` from head 1, so training
# makes them different. Only if the two halves of `dout` are equal do both heads get the same gradients.
#
# ```python
# >>> W = rng.normal(size=(4, 3, 1, 2))  # D, three kinds, one head, K
# >>> params = {"W_qkv": np.tile(W, (1, 1, 2, 1)).reshape(4, 12), "W_o": np.eye(4)}
# >>> out, cache = multihead_attention(x, params, n_heads=2)
# >>> for upstream in (dout, np.tile(dout[:, :2], (1, 2))):
# ...     _, grads = multihead_attention_backward(upstream, cache)
# ...     of_heads = grads["W_qkv"].reshape(4, 3, 2, 2)
# ...     print(np.allclose(of_heads[:, :, 0], of_heads[:, :, 1]))
# False
# True
#
# ```

# %% [markdown]
# ## What could go wrong
#
# In most of these the shape is right and the contents are wrong. The report uses the same words.
#
# - `split_heads`: **x was reshaped straight to (…, H, T, K), without swapping axes.** The shape is right, but the
#   entries are in the wrong places: each head gets pieces of several positions.
# - `multihead_attention`: **the heads were merged by reshape alone, without swapping axes.** The shape is right, but
#   positions are mixed. In a causal model, some positions can then read later ones, and the loss falls far too low.
# - `multihead_attention`: **the scores were divided by √D, not by √K, the size of a head.** Each head multiplies
#   vectors of K = D / H entries. With one head the mistake stays hidden.
# - `multihead_attention_backward`: **dx has only the gradient that came through the queries.** x was used three times,
#   for q, k and v, and the three gradients are added.
# - `multihead_attention_backward`: **the gradients of the biases were not summed over the positions.** They have the
#   shape of dout instead of the bias. Broadcasting still lets you subtract them, and the bias becomes a matrix.

# %% [markdown]
# ## Try it
#
# Build two heads by hand. Let the vector of each position be a one-hot row that encodes only its position, and let the
# keys be the same rows. Then row t of the query matrix decides which position t attends to. One head should attend to
# the *previous* position, the other to the *first*.
#
# **Guess first.** What do the two tables of weights look like, with a causal mask? Position 0 has no previous position:
# what does it attend to? And what happens if one head has to do both at once?
#
# Run it: `headway experiment multihead`, or the next cell of the notebook.

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
# Each head attends where it should (position 0 can only attend to itself). The single head that has to do both splits
# its weight, because softmax weights add up to 1. That is why there are several heads. Trained models have such heads:
# in BERT, some put more than half of their weight on the previous position (Clark et al. 2019, section 3.1).
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
# **2. Without a mask, the same vectors come out, in the new order.** Attention by itself treats its input as a *set*.
# With the causal mask, the vectors change, because each position now attends to different ones. All information about
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
# Once you have trained your GPT (`headway train`, in the assignment `training`), you can see this part at work:
# `headway plot attention-heads`.

# %% [markdown]
# ## Going faster
#
# Skip this until your code is correct. In `x @ W`, with x of shape (B, T, D), NumPy multiplies B small matrices by W,
# one after the other. One product of all positions, (B · T, D) times (D, F), gives the same numbers and is usually
# faster for large batches:
#
# ```python
# >>> rng = np.random.default_rng(0)
# >>> x, W = rng.normal(size=(4, 5, 6)), rng.normal(size=(6, 3))
# >>> np.allclose((x.reshape(-1, 6) @ W).reshape(4, 5, 3), x @ W)
# True
#
# ```
