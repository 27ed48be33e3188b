"""Assignment 10: training, with AdamW, gradient clipping and a learning rate that warms up and cools down."""

# %% [markdown]
# # Training: many small steps downhill
#
# `gpt_loss` says how bad the model is, and for every parameter in which direction it gets worse. In the last experiment
# it was enough to go the other way, two hundred times, for a model to learn two names. What is missing for a million
# characters is everything that makes such steps fast and safe:
#
# ```text
#     batch (x, y) ──> loss, gradients ──> clip ──> AdamW step ──> new parameters ──> next batch
#                                                       ^
#                                               learning rate of this step
# ```
#
# The details of the middle part are small enough to be got wrong without anything looking wrong: the loss goes down all
# the same. So your training loop is compared with PyTorch's loss by loss, from the same parameters and the same
# batches. In float64 a right loop agrees with PyTorch to eleven digits after a hundred steps; the subtlest mistakes
# show in the seventh digit after twenty.
#
# All functions here are *pure*: they return new dictionaries and leave their arguments as they were. That costs a
# little memory, and it saves the hours that go into the question of who changed that array.

# %%
import itertools
import math

import numpy as np
from gpt import gpt, gpt_loss
from softmax import cross_entropy

# %% [markdown]
# ## `adamw_step`
#
# Subtracting `lr * gradient`, as in the last experiment, is plain **gradient descent**. Two things are wrong with it:
# gradients of single batches are noisy, and one learning rate must serve parameters whose gradients differ by factors
# of a thousand. **Adam** (Kingma and Ba 2015, algorithm 1) answers both with two running averages for every single
# parameter:
#
# - `m`, the average *gradient*: the noise of single batches cancels, what they have in common stays;
# - `v`, the average *squared gradient*: how large gradients usually are here.
#
# The step is the first divided by the root of the second. A parameter with small gradients is moved as far as one with
# large ones: about `lr` when all gradients point the same way, less when they contradict each other.
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\, g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\, g^2$$
#
# The first of two corrections is the **bias correction**. Both averages start at 0, and after t steps they have only
# seen the weight $1 - \beta^t$ of gradients, the rest is still that zero. Dividing by it makes up for that:
#
# $$\hat m = \frac{m}{1-\beta_1^t} \qquad \hat v = \frac{v}{1-\beta_2^t}$$
#
# Here t counts from 1, it is shared by all parameters, and it goes up once per step. Without the correction the first
# steps are several times too long: with $\beta_1 = 0.9$ and $\beta_2 = 0.999$, $m$ is 10 times too small in the first
# step, but $\sqrt v$ is 32 times too small.
#
# The second is **weight decay**: every parameter is pulled back towards 0 a little at every step, so that none grows
# large without need. The old way to do it adds $\lambda p$ to the gradient; but then it goes through the averages and
# is divided by $\sqrt{\hat v}$, and parameters with large gradients are hardly pulled at all. Loshchilov and Hutter
# (2019, algorithm 2) take it out of the gradient: the parameter is simply multiplied by a number just below 1. That is
# the W in **AdamW**.
#
# $$p \leftarrow p\,(1 - lr \cdot \lambda) - lr \cdot \frac{\hat m}{\sqrt{\hat v} + \epsilon}$$
#
# Mind three things. The decay acts on the *old* parameter. It is multiplied by the learning rate (in PyTorch and here;
# in the paper it follows the schedule, but not the size of the rate). And $\epsilon$ stands *outside* the root, unlike
# that of layer norm. In this course the decay acts on every parameter, as it does in PyTorch if nothing else is said;
# many recipes leave out biases and norms.
#
# In the very first step $\hat m = g$ and $\sqrt{\hat v} = |g|$: every parameter moves by `lr`, however small its
# gradient is. (The third number below has no gradient, and only decays.)
#
# ```python
# >>> params = {"W": np.array([1.0, 1.0, 1.0])}
# >>> grads = {"W": np.array([5.0, -0.001, 0.0])}
# >>> params, state = adamw_step(params, grads, {}, lr=0.1, weight_decay=0.01)
# >>> params["W"].round(4)
# array([0.899, 1.099, 0.999])
# >>> state["step"], state["m"]["W"][:1].round(4)
# (1, array([0.5]))
#
# ```


# %%
def adamw_step(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """One step of AdamW (Loshchilov and Hutter 2019, algorithm 2; the same numbers as `torch.optim.AdamW`).

        t = t + 1
        m = β₁ m + (1 - β₁) g                        v = β₂ v + (1 - β₂) g²
        p = p (1 - lr λ) - lr m̂ / (√v̂ + ε)          with m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

    Args:
        params: dictionary of parameters p, arrays of any shapes.
        grads: dictionary of gradients g, same keys and shapes.
        state: `{}` before the first step, later the state that the step before has returned: `step`, the number t of
            steps already taken (int), and `m` and `v`, dictionaries with the keys and shapes of `params`.
        lr: the learning rate.
        betas: β₁ and β₂.
        eps: ε, added outside the root.
        weight_decay: λ. It acts on every parameter.

    Returns:
        params: the new parameters, a new dictionary in the same order; dtypes stay as they are.
        state: the new state, with `step`, `m` and `v`.
        No argument is modified, nor any array in it.
    """
    lr, eps, weight_decay = float(lr), float(eps), float(weight_decay)  # Python floats do not change dtypes
    beta1, beta2 = map(float, betas)
    step = state.get("step", 0) + 1
    # m̂ / (√v̂ + ε) is (m / (√v + ε √c₂)) √c₂ / c₁ with c = 1 - βᵗ: the corrections are single numbers, not arrays.
    root2 = math.sqrt(1 - beta2**step)
    step_size = lr * root2 / (1 - beta1**step)
    new_params, new_m, new_v = {}, {}, {}
    for name, p in params.items():
        g = grads[name]
        m = (1 - beta1) * g
        v = g * g
        v *= 1 - beta2
        if state:
            m += beta1 * state["m"][name]
            v += beta2 * state["v"][name]
        denominator = np.sqrt(v)
        denominator += eps * root2
        update = m / denominator
        update *= step_size
        new_params[name] = p * (1 - lr * weight_decay)
        new_params[name] -= update
        new_m[name], new_v[name] = m, v
    return new_params, {"step": step, "m": new_m, "v": new_v}


# %% [markdown]
# ## `clip_grad_norm`
#
# Once in a while a batch has a huge gradient, and one step along it can undo the work of a hundred. **Gradient
# clipping** (Pascanu, Mikolov and Bengio 2013, algorithm 1) limits the length of the gradient, its *norm*, taken as
# *one* long vector of all parameters. Its direction does not change: every array is multiplied by the same number.
# Clipping each array by itself would bend the direction, and is a common mistake.
#
# $$\|g\| = \sqrt{\textstyle\sum_{\text{all arrays}} \sum_i g_i^2} \qquad
#   g \leftarrow g \cdot \min\Big(1,\ \frac{max\_norm}{\|g\| + 10^{-6}}\Big)$$
#
# ```python
# >>> clipped, norm = clip_grad_norm({"a": np.array([3.0, 0.0]), "b": np.array([[4.0]])}, max_norm=1.0)
# >>> norm
# 5.0
# >>> clipped["a"].round(4), clipped["b"].round(4)
# (array([0.6, 0. ]), array([[0.8]]))
#
# ```
#
# The root of 3² + 4² is 5, and everything is divided by 5. The $10^{-6}$ is PyTorch's, against division by zero. A
# gradient that is short enough stays as it is: clipping never makes anything longer.


# %%
def clip_grad_norm(grads, max_norm):
    """Scale all gradients together so that their common norm is at most `max_norm` (Pascanu et al. 2013, algorithm 1).

        norm = √(Σ over all arrays of Σ g²)          g = g · min(1, max_norm / (norm + 1e-6))

    The same numbers as `torch.nn.utils.clip_grad_norm_`, but nothing is changed in place.

    Args:
        grads: dictionary of gradients.
        max_norm: the largest norm allowed.

    Returns:
        grads: a new dictionary, same keys, shapes and dtypes. If nothing had to be clipped, the arrays in it are the
            ones that came in.
        norm: the norm before clipping, a Python float.
    """
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in grads.values()))
    scale = float(max_norm) / (norm + 1e-6)
    if scale >= 1:
        return dict(grads), norm
    return {name: g * scale for name, g in grads.items()}, norm


# %% [markdown]
# ## `learning_rate`
#
# How long should the steps be? Short at first, long, then short again.
#
# - In the **warm-up** the average `v` has seen a few batches only, and is unreliable. So the learning rate grows from
#   almost nothing to its full size, in a straight line (Vaswani et al. 2017, section 5.3).
# - In the **cosine decay** it then sinks along half a wave to a small final value: at first slowly, when there is far
#   to go, and at the end slowly again, to settle (Loshchilov and Hutter 2017, section 3, equation 5, without restarts).
#
# With 4 steps of warm-up and 12 steps in all:
#
# ```python
# >>> rates = [learning_rate(step, max_lr=1.0, min_lr=0.1, warmup_steps=4, total_steps=12) for step in range(14)]
# >>> np.array(rates).round(3)
# array([0.25 , 0.5  , 0.75 , 1.   , 1.   , 0.966, 0.868, 0.722, 0.55 ,
#        0.378, 0.232, 0.134, 0.1  , 0.1  ])
#
# ```
#
# Steps are counted from 0. The schedule of many codes starts with a learning rate of 0, so that the first batch is
# computed for nothing; ours starts at `max_lr / warmup_steps`. The last step of the warm-up has the full rate, and so
# has the first step of the cosine.
#
# See it: `headway plot learning-rate` (before your function is written, with `--solution`).

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("learning-rate", globals())


# %%
def learning_rate(step, max_lr, min_lr, warmup_steps, total_steps):
    """Linear warm-up, then half a cosine (Loshchilov and Hutter 2017, section 3, equation 5), then constant.

        step < warmup_steps:                   max_lr (step + 1) / warmup_steps
        warmup_steps ≤ step < total_steps:     min_lr + (max_lr - min_lr) (1 + cos(π progress)) / 2
                                               with progress = (step - warmup_steps) / (total_steps - warmup_steps)
        step ≥ total_steps:                    min_lr

    Args:
        step: the number of the step, counted from 0.
        max_lr: the rate at the end of the warm-up.
        min_lr: the rate at `total_steps` and afterwards.
        warmup_steps: how many steps the warm-up takes; 0 means none.
        total_steps: when `min_lr` is reached, counted from step 0, with the warm-up.

    Returns:
        The learning rate, a Python float.

    Raises:
        ValueError: if `step` or `warmup_steps` is negative, or `warmup_steps` is larger than `total_steps`.
    """
    if step < 0:
        raise ValueError(f"step must not be negative, got {step}")
    if not 0 <= warmup_steps <= total_steps:
        raise ValueError(f"warmup_steps must be between 0 and total_steps ({total_steps}), got {warmup_steps}")
    if step < warmup_steps:
        return float(max_lr * (step + 1) / warmup_steps)
    if step >= total_steps:
        return float(min_lr)
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return float(min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * progress)) / 2)


# %% [markdown]
# ## `train_step`
#
# The parts in a row: loss and gradients, clipping (if a `max_norm` is given), AdamW. The loss is the one *before* the
# step.
#
# ```python
# >>> from gpt import GPTConfig, init_gpt
# >>> config = GPTConfig(vocab_size=5, block_size=4, n_layers=1, n_heads=2, d_model=8)
# >>> params, state = init_gpt(config, np.random.default_rng(0)), {}
# >>> x, y = np.array([[0, 1, 2, 3], [3, 2, 1, 0]]), np.array([[1, 2, 3, 4], [2, 1, 0, 4]])
# >>> for step in range(3):
# ...     loss, params, state = train_step(params, state, x, y, config, lr=0.01)
# ...     print(state["step"], round(loss, 2))
# 1 1.61
# 2 1.56
# 3 1.51
#
# ```
#
# The first loss is log 5 = 1.61, as it should be.


# %%
def train_step(params, state, x, y, config, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None):
    """One step of training on one batch: `gpt_loss`, `clip_grad_norm`, `adamw_step`.

    Args:
        params: dictionary of the GPT's parameters.
        state: the state of AdamW; `{}` before the first step.
        x: token ids, (B, T).
        y: the tokens that come next, (B, T).
        config: a `GPTConfig`.
        lr: the learning rate of this step.
        betas: β₁ and β₂ of AdamW.
        eps: ε of AdamW.
        weight_decay: λ of AdamW.
        max_norm: the largest norm of the gradient; None: no clipping.

    Returns:
        loss: on this batch, before the step, a Python float.
        params: the new parameters, a new dictionary.
        state: the new state.
        No argument is modified.
    """
    loss, grads = gpt_loss(x, y, params, config)
    if max_norm is not None:
        grads, _ = clip_grad_norm(grads, max_norm)
    params, state = adamw_step(params, grads, state, lr, betas, eps, weight_decay)
    return loss, params, state


# %% [markdown]
# ## `estimate_loss`
#
# Is the model any good? The loss of a training batch is noisy, and the model has just been trained on such texts. What
# counts is the validation loss of assignment 1: the mean over many batches of text that it has never seen. No gradients
# are needed, so the forward pass is enough.
#
# If the training loss goes on sinking and this one rises, the model has begun to learn the training text by heart: it
# is **overfitting**.
#
# ```python
# >>> round(estimate_loss(params, config, [(x, y), (y, x)]), 2)
# 1.56
#
# ```


# %%
def estimate_loss(params, config, batches):
    """Mean loss over several batches, without gradients.

    Args:
        params: dictionary of the GPT's parameters.
        config: a `GPTConfig`.
        batches: an iterable of pairs (x, y), token ids and the tokens that come next, each (B, T).

    Returns:
        The mean cross-entropy over all tokens of all batches, a Python float. Every token counts the same, even if the
        batches have different sizes.

    Raises:
        ValueError: if there is no batch.
    """
    total, n_tokens = 0.0, 0
    for x, y in batches:
        logits, _ = gpt(x, params, config)
        total += cross_entropy(logits, y) * np.size(y)
        n_tokens += np.size(y)
    if n_tokens == 0:
        raise ValueError("there must be at least one batch")
    return total / n_tokens


# %% [markdown]
# ## `train`
#
# The loop: `train_step` for each batch, and a list of the losses. Where the batches come from, and which learning rate
# belongs to which step, is the caller's business; so nothing in here is random, and a run can be stopped and taken up
# again: give the parameters and the state that came back to the next call, with the batches and rates that come next,
# and the numbers are the same as without a break.
#
# ```python
# >>> params = init_gpt(config, np.random.default_rng(0))
# >>> params, state, losses = train(params, config, [(x, y)] * 60, lr=0.01)
# >>> params, state, more = train(params, config, [(x, y)] * 40, lr=[0.001] * 40, state=state)
# >>> state["step"], len(losses), len(more)
# (100, 60, 40)
# >>> losses[0] > 1.5 and more[-1] < 0.1
# True
#
# ```
#
# Keep the losses, which are small numbers, and no caches, gradients or old parameters: memory should not grow with the
# number of steps. `batches` may be a generator that makes each batch when it is its turn.
#
# ### The simple way and the fast way
#
# Calling `train_step` in a loop is right, and good enough to pass. For small models it wastes time: AdamW makes a dozen
# NumPy calls for each of some fifty arrays, and with arrays as small as 16 × 16 the time goes into the calls and not
# into the numbers. But AdamW does not care about shapes. So lay all parameters end to end in *one* long array, and
# the gradients in another, in the same order; one `adamw_step` of a dictionary with a single entry then does the same
# arithmetic on every number. The model still sees its named matrices, as views into the long array.
#
# That makes a training step 1.4 times as fast for a model with 16 features and 4 layers, 1.06 times with 64 features;
# the larger the matrices, the smaller the gain. Two helpers are given.
#
# ```python
# >>> arrays = {"a": np.array([[1.0, 2.0]]), "b": np.array([3.0])}
# >>> flat = pack(arrays, like=arrays)
# >>> flat
# array([1., 2., 3.])
# >>> unpack(10 * flat, like=arrays)
# {'a': array([[10., 20.]]), 'b': array([30.])}
#
# ```
#
# One thing that no code can do: on Linux the C library gives freed memory back to the system and fetches it again, at
# every step. With `MALLOC_TRIM_THRESHOLD_=2147483648 MALLOC_MMAP_THRESHOLD_=1073741824` in the environment *before*
# Python starts it keeps the memory, and a step with 64 features takes two thirds of the time. PyTorch gains, too.


# %%
def pack(arrays, like):
    """Given: all arrays of a dictionary end to end in one new array, in the order of the names in `like`."""
    return np.concatenate([arrays[name] for name in like], axis=None)


def unpack(flat, like):
    """Given: the opposite of `pack`. The names and shapes come from `like`, and the arrays are views into `flat`."""
    arrays, start = {}, 0
    for name, array in like.items():
        arrays[name] = flat[start : start + array.size].reshape(array.shape)
        start += array.size
    return arrays


def train(params, config, batches, lr, state=None, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, max_norm=None):
    """Train a GPT: one AdamW step for each batch.

    The same as calling `train_step` for each batch in turn. It stops when there are no more batches, or no more
    learning rates.

    Args:
        params: dictionary of the GPT's parameters.
        config: a `GPTConfig`.
        batches: an iterable of pairs (x, y), token ids and the tokens that come next, each (B, T).
        lr: the learning rate: a number for all steps, or an iterable with one number for each batch.
        state: the state of AdamW that an earlier call has returned, to go on from there; None or `{}` to start.
        betas: β₁ and β₂ of AdamW.
        eps: ε of AdamW.
        weight_decay: λ of AdamW.
        max_norm: the largest norm of the gradient; None: no clipping.

    Returns:
        params: the trained parameters, a new dictionary with the keys, shapes and dtypes of `params`.
        state: the state of AdamW after the last step: `step`, `m`, `v` (what came in, if there was no batch).
        losses: list of Python floats, the loss of each batch before its step.
        No argument is modified, and the memory needed does not depend on the number of batches, losses apart.
    """
    rates = lr if np.iterable(lr) else itertools.repeat(lr)
    flat = pack(params, like=params)
    named = unpack(flat, like=params)  # views: whatever is written into `flat` is seen here
    flat_state = {}
    if state:
        flat_state = {average: {"all": pack(state[average], like=params)} for average in ("m", "v")}
        flat_state["step"] = state["step"]
    losses = []
    for rate, (x, y) in zip(rates, batches, strict=False):
        loss, grads = gpt_loss(x, y, named, config)
        grads = {"all": pack(grads, like=params)}
        if max_norm is not None:
            grads, _ = clip_grad_norm(grads, max_norm)
        new, flat_state = adamw_step({"all": flat}, grads, flat_state, rate, betas, eps, weight_decay)
        flat[:] = new["all"]
        losses.append(loss)
    if flat_state:
        state = {average: unpack(flat_state[average]["all"], like=params) for average in ("m", "v")}
        state["step"] = flat_state["step"]
    return named, state or {}, losses


# %% [markdown]
# ## What could go wrong
#
# Mistakes that are easily made here. Read them once before you write, and again when something is wrong: where the
# report recognises one, it uses these words.
#
# - `adamw_step`: **the bias correction is missing.** Both averages start at 0; without the correction the first steps
#   are about three times too long.
# - `adamw_step`: **ε stands inside the root.** √(v + 1e-8) is at least 1e-4: parameters with small gradients hardly
#   move.
# - `adamw_step`: **the weight decay was added to the gradient.** That is Adam with L2: the decay goes through the
#   averages and is divided by √v. AdamW keeps it out of both.
# - `clip_grad_norm`: **every array was clipped by itself.** The gradient is one long vector: each array by itself bends
#   its direction, and the whole may stay too long.
# - `learning_rate`: **the cosine counts from step 0, as if there had been no warm-up.** After the warm-up the rate
#   jumps down: part of the wave is gone already.
# - `train_step`: **every step starts with an empty state.** Then there are no running averages: each step is a first
#   step.
# - `estimate_loss`: **the mean of the batches' losses was taken, however large they are.** Every token counts the same:
#   a batch of two tokens must not weigh as much as one of two hundred.

# %% [markdown]
# ## Try it
#
# What can two blocks do that one cannot? Here is a task. Six different tokens in random order; then the same six again,
# in the same order, but starting anywhere: 3 0 5 1 4 2, and then 1 4 2 3 0 5 1. When the second part begins, the first
# token can be any, but all the others follow: after 1 came 4, so after 1 comes 4. Train one block and two blocks on it,
# 150 steps each (some seconds).
#
# **Guess first.** How often is each of them right, at the places of the second part? For one block, begin with this: a
# head sees that 1 stood there before. Does it also see what came after it?
#
# Run it: `python training.py`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    from gpt import GPTConfig, init_gpt

    def batch(rng, size):
        first = rng.permuted(np.tile(np.arange(6), (size, 1)), axis=1)  # (B, 6)
        places = (rng.integers(6, size=(size, 1)) + np.arange(7)) % 6  # the same circle, from another place on
        texts = np.concatenate([first, np.take_along_axis(first, places, axis=1)], axis=1)  # (B, 13)
        return texts[:, :-1], texts[:, 1:]

    def learn(n_layers):
        rng = np.random.default_rng(0)
        config = GPTConfig(vocab_size=6, block_size=12, n_layers=n_layers, n_heads=1, d_model=24, init_std=0.1)
        params = {name: value.astype(np.float64) for name, value in init_gpt(config, rng).items()}
        params, _, _ = train(params, config, (batch(rng, 32) for _ in range(150)), lr=0.01)
        return params, config

    x, y = batch(np.random.default_rng(1), 500)
    for n_layers in (1, 2):
        params, config = learn(n_layers)
        logits, cache = gpt(x, params, config)
        right = (logits.argmax(axis=-1) == y)[:, 6:].mean(axis=0)  # the six places of the second part
        print("blocks:", n_layers, [f"{share:.0%}" for share in right])

# %% [markdown]
# ## What came out
#
# ```text
# blocks: 1 ['20%', '25%', '33%', '49%', '100%', '100%']
# blocks: 2 ['80%', '92%', '96%', '97%', '100%', '99%']
# ```
#
# Two blocks have learned to copy, one has not. (At the last place the circle is closed, and the answer is the token
# that the second part began with: both know that.) A head that finds the earlier 1 finds a 1. To get at what came
# *after* it, somebody else must have moved information first: what one block writes into the stream, a head of the next
# block can look for. That is what depth is good for.
#
# In large models pairs of heads do it like this: the first notes down, at each position, which token stood before it;
# the second looks for the position whose note says "1" (**induction heads**, Olsson et al. 2022). But does this model?
#
# 1. One block does not guess wildly: its numbers rise from place to place. What has it learned?
# 2. If there is an induction head, the later 1 looks at the place right after the earlier one. Look it up in `cache`:
#    how much weight goes to the earlier 1 itself, to the place after it, to the next, and so on round the circle?

# %% [markdown]
# ## Answers
#
# **1. To rule out.** No token comes twice among the six. Five are left at the first place, then four, three, two, one;
# and who guesses among these is right this often:
#
# ```python
# >>> print([f"{1 / left:.0%}" for left in (5, 4, 3, 2, 1)])
# ['20%', '25%', '33%', '50%', '100%']
#
# ```
#
# **2. There is a hole where the peak should be.** The second block looks at nearly everything *but* the answer, and
# what it sees it can rule out: what the single block does, only better. No token comes twice here, so that one can copy
# without an induction head, and training has found that way. What a network does has to be looked up; that a story fits
# the result does not make it true.
#
# ```python
# >>> earlier = (x[:, None, :6] == x[:, 6:, None]).argmax(axis=-1)  # for the six later tokens, (B, 6)
# >>> weights = cache["blocks.1.weights"][:, 0, 6:]  # (B, 6, 12)
# >>> for after in range(6):
# ...     places = (earlier + after) % 6
# ...     print(after, np.take_along_axis(weights, places[..., None], axis=-1).mean().round(2))
# 0 0.0
# 1 0.04
# 2 0.22
# 3 0.27
# 4 0.18
# 5 0.09
#
# ```

# %% [markdown]
# ## In your own GPT
#
# Everything that a GPT needs to learn is yours now. `headway train` runs it on a whole text, with your functions, and
# `headway plot loss` shows how it went.

# %% tags=["active-ipynb"]
# from autograder.workspace.plots import show
#
# show("loss", globals())
