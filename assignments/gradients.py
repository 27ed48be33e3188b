"""Gradients: by difference quotients, by the chain rule, and by reverse mode over a tape."""

# %% [markdown]
# # Gradients: what changes the result, and how fast
#
# *Assignment 3 of 21 · 5 functions · about 3 h 15 min to write them*
#
# A small network with 12 parameters is given two numbers, each 0 or 1, and should answer 1 if exactly one of them is 1.
# For the four possible inputs, the right answers are 0, 1, 1, 0. With random parameters it answers 0, −0.57, −0.36,
# −0.79. After 200 small changes to its parameters it answers 0, 0.99, 0.99, 0.01.
#
# How did it find the changes? There is one question for each parameter: if this number rises a little, does the loss
# rise or fall, and how fast? You could try all 12. But the smallest GPT-2 has 124 million, and moving each of them up
# and down takes a quarter of a billion runs of the model for a single step of training.
#
# You will find the answers by trial first, and then exactly, for all parameters at once, by rules that you can follow
# on paper.
#
# ```text
#     w ──┐
#         mul ── p ──┐                       first the numbers, from left to right ──>
#     x ──┘          add ── s ── tanh ── L
#     b ─────────────┘                       <── then how fast L changes with each, from right to left
# ```
#
# ![A map of the whole model. Marked: the step after the loss, on the right.](figures/map-gradients.svg)

# %%
import numpy as np

# %% [markdown]
# ## How much does the result change?
#
# Take f(x) = x² at x = 3, where it is 9. Raise x by 0.1, and f becomes 9.61: it has risen 6.1 times as much as x. Now
# take smaller steps:
#
# ```python
# >>> def square(x):
# ...     return x * x
# >>> for h in (0.1, 0.01, 0.001):
# ...     print(h, round((square(3 + h) - square(3)) / h, 6))
# 0.1 6.1
# 0.01 6.01
# 0.001 6.001
#
# ```
#
# The ratio approaches 6. This limit is the **derivative** of f at 3: how much the result changes per unit of a small
# change in the input. On paper,
#
# $$\frac{(x + h)^2 - x^2}{h} = \frac{2xh + h^2}{h} = 2x + h$$
#
# and as h goes to 0, only 2x is left. At 3, the derivative is 6: raising x raises f. At −3, it is −6: raising x lowers
# f. So to lower f, step *against* the derivative: subtract a small multiple of it from x. All training rests on this.
#
# You will meet these derivatives in the course:
#
# | function of x | derivative |
# |---|---|
# | x + c | 1 |
# | c · x | c |
# | x² | 2x |
# | 1 / x | −1 / x² |
# | exp(x) | exp(x), the function itself |
# | log(x) | 1 / x |
# | tanh(x) | 1 − tanh²(x) |
#
# (tanh(x) is (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ), a smooth step from −1 to 1, steepest at 0, where its derivative is 1.)

# %% [markdown]
# ## How to read the formulas
#
# Come back here whenever a sign is new to you:
#
# | written | meaning |
# |---|---|
# | exp(x), $e^x$ | e = 2.71828… to the power x, above 0. exp(x + y) = exp(x) · exp(y), exp(0) = 1 |
# | log(x) | the natural logarithm ("ln" at school), `np.log`. It undoes exp: log(exp(x)) = x |
# | its rules | log(x · y) = log(x) + log(y), log(x / y) = log(x) − log(y), log(1) = 0 |
# | dL/dx, ∂L/∂x | "dL by dx": the derivative of L *with respect to* x, with all else held fixed; ∂ stresses this |
# | $x_i$, $a_{ij}$ | entry i of a vector; the entry of a matrix (a table) in row i and column j. Both count from 0 |
# | $\sum_i x_i$, Σ_i x_i | the sum of $x_i$ over all i. $\sum_j a_{ij}$ is the sum of row i |
# | (..., M, N) | a shape: any number of axes, possibly none, then axes of length M and N |
# | [0, n) | the numbers from 0 up to n, without n. Its integers are 0, 1, ..., n − 1 |
# | $a^\top$ | a *transposed*: its rows become columns, so that $(a^\top)_{ij} = a_{ji}$ |

# %% [markdown]
# ## `numerical_gradient`
#
# *35 min, straightforward*
#
# The ratio above is a **difference quotient**. It needs no theory, only a function that you can compute. The *forward*
# difference compares f at x + h with f at x; the *central* difference compares f at x + h with f at x − h, which are 2h
# apart. For f(x) = x³, whose derivative is 3x²:
#
# $$\frac{(x + h)^3 - x^3}{h} = 3x^2 + 3xh + h^2 \qquad\quad \frac{(x + h)^3 - (x - h)^3}{2h} = 3x^2 + h^2$$
#
# With a tenth of the step, the forward difference has about a tenth of the error, and the central difference only a
# hundredth. The term 3xh comes from the bend of the curve, which lifts f(x + h) and f(x − h) by the same amount. So it
# cancels in their difference, for every smooth curve.
#
# A difference quotient is the slope of a line through two points of the curve. The derivative is the slope of the
# tangent:
#
# ![Left: x² with lines through its points at 1 and at 1 + h; the smaller h, the closer to the tangent. Right: x³; the
# line of the central difference is nearly parallel to the tangent, the forward one is steeper.](figures/slopes.svg)
#
# So the smaller the step, the better? Not quite: a `float64` has only about 16 digits. If h is tiny, f(x + h) and f(x −
# h) agree in most of them, and their difference keeps only the last few. This rounding error, roughly $10^{-16}$ times
# the size of f divided by h, *grows* as h shrinks. For x³ at 2, where the derivative is 12, this is the total error:
#
# ```python
# >>> def cube(x):
# ...     return x * x * x
# >>> for h in (1e-1, 1e-3, 1e-5, 1e-6, 1e-8, 1e-12):
# ...     forward = abs((cube(2 + h) - cube(2)) / h - 12)
# ...     central = abs((cube(2 + h) - cube(2 - h)) / (2 * h) - 12)
# ...     print(f"h = {h:.0e}   forward {forward:.0e}   central {central:.0e}")
# h = 1e-01   forward 6e-01   central 1e-02
# h = 1e-03   forward 6e-03   central 1e-06
# h = 1e-05   forward 6e-05   central 2e-10
# h = 1e-06   forward 6e-06   central 3e-10
# h = 1e-08   forward 7e-08   central 7e-08
# h = 1e-12   forward 1e-03   central 1e-03
#
# ```
#
# The best central difference has ten correct digits, the best forward difference seven or eight (Press and others 2007,
# section 5.7).
#
# A function of an array has one derivative for each entry: move this entry and keep the others. The array of these
# derivatives, in the shape of x, is the **gradient**. For x₀² + x₁² + x₂², it is 2x. (`lambda x: ...` is a function
# that returns what comes after the colon.)
#
# ```python
# >>> numerical_gradient(lambda x: (x * x).sum(), np.array([1.0, 2.0, -3.0])).round(6)
# array([ 2.,  4., -6.])
#
# ```
#
# `np.ndindex(x.shape)` yields the indices of all entries, whatever the shape. A single number can be an array, too:
# `np.array(3.0)` has the shape () and one index, ():
#
# ```python
# >>> x = np.zeros((2, 2))  # np.zeros_like(x) makes such an array in the shape and dtype of x
# >>> for index in np.ndindex(x.shape):
# ...     x[index] = 10 * index[0] + index[1]
# >>> x
# array([[ 0.,  1.],
#        [10., 11.]])
# >>> list(np.ndindex(()))
# [()]
#
# ```
#
# Two calls of f for each entry are too slow for training. But difference quotients can *test* gradients that were
# computed in another way (Goodfellow, Bengio and Courville 2016, section 11.5), and in this course, they will.

# %%
def numerical_gradient(f, x, eps=1e-6):
    """Return the gradient of a function at `x` by central differences, one entry at a time.

    Args:
        f: a function that takes an array of the shape of `x`, float64, and returns a number.
        x: where to take the gradient: an array of any shape, including (). It is not changed. Integers and float32 are
            converted to float64.
        eps: the step, above 0. It is added to an entry and subtracted from it, while the others stay as they are.

    Returns:
        The central differences, shape of `x`, float64. `f` is called at most twice for each entry.
    """
    raise NotImplementedError("gradients.numerical_gradient")


# %% [markdown]
# ## The chain rule, with numbers
#
# Now for the exact rules. Take the computation drawn at the beginning, L = tanh(w · x + b), with w = 2, x = 0.5 and b =
# −0.8. The **forward pass** computes everything, from the inputs to the result L:
#
# ```text
#     p = w · x    =  2 · 0.5      =  1.0
#     s = p + b    =  1.0 − 0.8    =  0.2
#     L = tanh(s)  =  tanh(0.2)    =  0.1974
# ```
#
# How fast does L change with w? Go back from the end, one step at a time:
#
# ```text
#     L = tanh(s):   if s rises by h, L rises by (1 − tanh²(s)) · h     dL/ds = 1 − 0.1974²  = 0.9610
#     s = p + b:     if p rises by h, s rises by h                      dL/dp = 0.9610 · 1   = 0.9610
#                    if b rises by h, s rises by h                      dL/db = 0.9610 · 1   = 0.9610
#     p = w · x:     if w rises by h, p rises by x · h                  dL/dw = 0.9610 · x   = 0.4805
#                    if x rises by h, p rises by w · h                  dL/dx = 0.9610 · w   = 1.9221
# ```
#
# This is the **backward pass** (its numbers are rounded only for the page). Every line follows the **chain rule**: the
# derivative of L with respect to an *input* of a step is its derivative with respect to the step's *output*, times the
# derivative of this output with respect to this input.
#
# $$\frac{dL}{dw} = \frac{dL}{dp} \cdot \frac{dp}{dw}$$
#
# ![The computation as a graph: w and x are multiplied to p, b is added to get s, and L is tanh of s. Each box has its
# number and the derivative of L.](figures/gradient-graph.svg)
#
# Is it correct? Ask the difference quotient, with w, x and b in one array:
#
# ```python
# >>> numerical_gradient(lambda v: np.tanh(v[0] * v[1] + v[2]), np.array([2.0, 0.5, -0.8])).round(4)
# array([0.4805, 1.9221, 0.961 ])
#
# ```
#
# The factor dL/dp of the formula is all that a step needs to know about the steps after it. This is the **upstream
# gradient**, called `dout` in this course, for $dL/d\mathit{out}$; likewise, `dw` is $dL/dw$. A backward function, such
# as `matmul_backward`, takes the upstream gradient of one step and returns the gradients with respect to its inputs.
#
# **Numbers that are used twice.** In L = x · x, both factors are x. If x rises by h, each factor makes L rise by x · h,
# and L rises by the *sum*, 2x · h. Whenever a number is used more than once, every use contributes to its gradient, and
# the contributions are added (Goodfellow and others 2016, section 6.5.2).

# %% [markdown]
# ## From numbers to arrays
#
# Arrays need no new rule: their entries are numbers. Pick *one* entry of the input and ask: which entries of the output
# contain it, and with what factor? Multiply each factor by the upstream gradient of that output entry, and add:
#
# ```text
#     out = exp(x)     x_i is only in out_i, with the derivative exp(x_i)     dx_i = dout_i · exp(x_i)
#     out = x + y      x_i is only in out_i, with the factor 1                dx_i = dout_i
#     out = Σ_i x_i    x_i is in the only output, with the factor 1           dx_i = dout, for every i
# ```
#
# A gradient always has the shape of the array that it belongs to: `dx` that of `x`, `dout` that of `out`. If the shape
# is wrong, so is the gradient.

# %% [markdown]
# ## `sum_to_shape`
#
# *30 min, needs some thought*
#
# When NumPy adds arrays of different shapes, it repeats axes of length 1 as often as the other array requires, and adds
# missing axes in front. This is **broadcasting**. Here a vector (3,) is added to each row of a table (2, 3):
#
# ```python
# >>> table, b = np.zeros((2, 3)), np.array([1.0, 2.0, 3.0])
# >>> table + b
# array([[1., 2., 3.],
#        [1., 2., 3.]])
#
# ```
#
# Call the sum `out`, and let later steps turn it into a single number L. What is `db`? Pick one entry:
# $out_{ij} = table_{ij} + b_j$, so $b_j$ is in column j of *every* row, with the factor 1. The contributions are added:
#
# $$db_j = \sum_i dout_{ij}$$
#
# What was repeated in the forward pass is summed in the backward pass. `sum_to_shape` does this for all shapes. Axes
# that were added in front are summed and disappear; axes of length 1 that were repeated are summed and stay, with
# length 1.
#
# ```python
# >>> dout = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
# >>> sum_to_shape(dout, (3,))
# array([11., 22., 33.])
# >>> sum_to_shape(dout, (2, 1))
# array([[ 6.],
#        [60.]])
#
# ```
#
# To see which axes were repeated, write one shape below the other, aligned on the right:
#
# ```text
#     after    (5, 4, 2, 3)
#     before      (4, 1, 3)        the 5 was added in front, the 1 was repeated
# ```
#
# `x.ndim` is the number of axes. `x.sum(axis=1)` sums along axis 1, which disappears. Several axes are passed as a
# tuple, such as `(0, 2)` or `tuple(range(2))`; the empty tuple sums along none. With `keepdims=True`, the axes stay,
# with length 1:
#
# ```python
# >>> dout.sum(axis=1).shape, dout.sum(axis=1, keepdims=True).shape
# ((2,), (2, 1))
#
# ```

# %%
def sum_to_shape(grad, shape):
    """Return the gradient of an array that was broadcast, from the gradient after broadcasting.

    Each entry is the sum over all places to which broadcasting copied it.

    Args:
        grad: gradient after broadcasting, float.
        shape: the shape before, a tuple. It can be broadcast to the shape of `grad`, and may be equal to it.

    Returns:
        Gradient of the given shape, in the dtype of `grad`.
    """
    raise NotImplementedError("gradients.sum_to_shape")


# %% [markdown]
# ## `matmul_backward`
#
# *45 min, needs pen and paper*
#
# In a matrix product `a @ b`, the entry in row i and column j is row i of a times column j of b: multiply the numbers
# in pairs, and add. So a row of a must be as long as a column of b: (M, K) @ (K, N) gives (M, N).
#
# ```text
#     [1  2]     [5  6]     [1 · 5 + 2 · 7    1 · 6 + 2 · 8]     [19  22]
#     [3  4]  @  [7  8]  =  [3 · 5 + 4 · 7    3 · 6 + 4 · 8]  =  [43  50]
# ```
#
# Nearly all the work in a transformer is matrix products, so this gradient is the most important one of the course.
# There is no need to memorize it, because it follows from one entry:
#
# ```text
#     out_ij = Σ_k a_ik b_kj          the definition: row i of a, times column j of b
#     where is a_ik?                  in row i of out, once in each of its entries out_i0, out_i1, ...
#     with what factor?               b_kj in out_ij
#     da_ik = Σ_j dout_ij b_kj        each factor times its upstream gradient, and added
# ```
#
# Now write the last line as a matrix product, on paper. In a product like the first line, the index that is summed is
# the *second* of the left matrix and the *first* of the right one. Here j is summed: it is the second index of dout,
# but also the second of b. What has to be done to b? Then do the same for `b_kj`, and check the shapes: da must be (M,
# K), from dout (M, N) and b (K, N).
#
# In this example, L is the first entry of the product above, 1 · 5 + 2 · 7, so dout is 1 there and 0 elsewhere. The
# derivative with respect to each number is the other number of its pair:
#
# ```python
# >>> a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
# >>> da, db = matmul_backward(np.array([[1.0, 0.0], [0.0, 0.0]]), a, b)
# >>> da
# array([[5., 7.],
#        [0., 0.]])
# >>> db
# array([[1., 0.],
#        [2., 0.]])
#
# ```
#
# With more than two axes, `a @ b` multiplies the matrices in the last two axes and broadcasts the axes in front of
# them. In (B, M, K) @ (K, N) the same b multiplies each of the B matrices in a, so its gradient is summed over them.
# The same can happen to a. Compute each product with all its axes first, then bring it to the shape of a or b: you have
# a function for that. (`np.swapaxes(x, -1, -2)` swaps the last two axes; `x.T` would reverse them all.)

# %%
def matmul_backward(dout, a, b):
    """Return the gradients of the matrix product `a @ b`.

        out_ij = Σ_k a_ik b_kj

    Args:
        dout: upstream gradient, with respect to `out`, (..., M, N).
        a: left factor, (..., M, K).
        b: right factor, (..., K, N). The leading axes of `a` and `b` may be broadcast: one of the two may have fewer
            of them, or some of length 1. All arrays are floats of one dtype.

    Returns:
        da: gradient with respect to `a`, shape and dtype of `a`.
        db: gradient with respect to `b`, shape and dtype of `b`.
    """
    raise NotImplementedError("gradients.matmul_backward")


# %% [markdown]
# ## `tape_values`
#
# *25 min, straightforward*
#
# Going back through the steps and multiplying at each is a job for a program, if it knows the steps. They form a
# **computation graph**, as in the figure with the boxes: lines lead from each result to the steps that use it. Written
# as a list, in the order of the computation, it is called a **tape**.
#
# All arrays are numbered from 0: first the inputs, then the results. An entry of the tape is a pair: the name of an
# operation, and the numbers of its arrays. With w, x and b as numbers 0, 1 and 2, L = tanh(w · x + b) is this tape:
#
# ```python
# >>> tape = [
# ...     ("mul", (0, 1)),  # number 3: p = w · x
# ...     ("add", (3, 2)),  # number 4: s = p + b
# ...     ("tanh", (4,)),  # number 5: L
# ... ]
# >>> inputs = [np.array(2.0), np.array(0.5), np.array(-0.8)]
# >>> [round(float(array), 4) for array in tape_values(tape, inputs)]
# [2.0, 0.5, -0.8, 1.0, 0.2, 0.1974]
#
# ```
#
# The forward pass keeps *all* arrays for the backward pass: the gradient of mul contains the other factor.
#
# Some operations take one array, others two. A star passes the items of a list as separate arguments:
#
# ```python
# >>> arrays = [np.array(2.0), np.array(0.5)]
# >>> float(np.multiply(*arrays))  # the same as np.multiply(arrays[0], arrays[1])
# 1.0
#
# ```

# %%
# Given: the operations of a tape. `add` and `mul` broadcast; `sum` adds all entries and returns a single number.
OPERATIONS = {
    "add": np.add,
    "mul": np.multiply,
    "matmul": np.matmul,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sum": np.sum,
}


def tape_values(tape, inputs):
    """Return all arrays of a computation that is written as a tape: the forward pass.

    Args:
        tape: a list of pairs `(op, arguments)`. `op` is a name in `OPERATIONS`; `arguments` is a tuple with the number
            of each array that it is applied to. The inputs come first, numbered from 0; the results of the entries
            follow, in the order of the tape.
        inputs: a list of arrays of floats.

    Returns:
        A list: the inputs, then the result of each entry of the tape.

    Raises:
        ValueError: if an operation is not in `OPERATIONS`. The message contains its name: "unknown operation 'sin'".
    """
    raise NotImplementedError("gradients.tape_values")


# %% [markdown]
# ## `tape_gradients`
#
# *1 h, needs pen and paper*
#
# Now run the tape backwards, in the **reverse mode** of automatic differentiation. Keep one gradient for each array, in
# its shape: at first 0, except for the last result, L, whose derivative with respect to itself is 1. Then go from the
# last entry of the tape to the first. The gradient of the entry's result is `dout`; compute from it the gradients of
# its arguments, and *add* them to what is already there. For the tape above:
#
# | entry of the tape | its result | dout | is added to |
# |---|---|---|---|
# | 2: `("tanh", (4,))` | 5, L | 1 | gradient 4: 1 · (1 − 0.1974²) = 0.9610 |
# | 1: `("add", (3, 2))` | 4, s | 0.9610 | gradients 3 and 2: 0.9610 each |
# | 0: `("mul", (0, 1))` | 3, p | 0.9610 | gradient 0: 0.9610 · x = 0.4805, gradient 1: 0.9610 · w = 1.9221 |
#
# You have met the rules of all seven operations:
#
# - `add`, `exp`, `sum`: in "From numbers to arrays". For `sum`, `np.full_like(x, dout)` has `dout` in every entry.
# - `mul`: entry by entry, `dout` times the other factor.
# - `tanh`, `log`: the table of derivatives, times `dout`. For `tanh` and `exp`, use the result that you kept.
# - `matmul`: `matmul_backward`. Both arguments have at least two axes.
#
# Why does the order matter? At each entry, `dout` must be complete, and all uses of the entry's result are further down
# the tape. And you add because an array may have several uses:
#
# ```python
# >>> [round(float(gradient), 4) for gradient in tape_gradients(tape, inputs)]
# [0.4805, 1.9221, 0.961]
# >>> float(tape_gradients([("mul", (0, 0))], [np.array(3.0)])[0])  # x · x at 3: two uses of one value
# 6.0
#
# ```
#
# The arguments of `mul` and `add` may have been broadcast; you have a function for that, too.

# %%
def tape_gradients(tape, inputs):
    """Return the gradients of the last result of a tape with respect to the inputs, by reverse mode.

    Args:
        tape: as in `tape_values`. Its last result is a single number, of shape ().
        inputs: a list of arrays of floats.

    Returns:
        A list with the gradient of each input, in the input's shape and dtype. An input that is used several times
        gets the sum over all its uses; one that is not used gets zeros.

    Raises:
        ValueError: if an operation is not in `OPERATIONS`, or if the last result has axes.
    """
    raise NotImplementedError("gradients.tape_gradients")


# %% [markdown]
# ## Why reverse mode
#
# The opposite, the **forward mode**, starts at *one* input and carries along how fast each result changes with it: a
# million inputs need a million passes. Reverse mode gives the derivatives of one result with respect to *all* inputs in
# a single pass, which costs only a few times as much as the forward pass. A loss is one number and a model has many
# parameters: that is why every network is trained in reverse mode. The price is space, for all the arrays of the
# forward pass (Baydin and others 2018, sections 3.1 and 3.2).
#
# Seppo Linnainmaa described reverse mode in 1970, in a thesis on how rounding errors add up (Griewank 2012). It became
# famous when Rumelhart, Hinton and Williams trained networks with it (1986).
#
# PyTorch writes the tape while it computes, and `loss.backward()` runs it backwards. In the assignments to come, you
# write the backward pass of each layer by hand.

# %% [markdown]
# ## On paper
#
# Take a pencil. (In a file, the answers begin right below.)
#
# 1. L = log(exp(x) + exp(y)). What are dL/dx and dL/dy, for any x and y? What is their sum?
# 2. A mean of n numbers is subtracted: $out_i = x_i - \frac{1}{n} \sum_j x_j$. Which outputs contain $x_0$, and with
#    what factors? What is dx, given dout?
# 3. L is the sum of all entries of a @ b. What is $da_{ik}$? Why are all rows of da equal?

# %% [markdown]
# ## Answers on paper
#
# **1. exp(x) / (exp(x) + exp(y)), and the same with y; their sum is 1.** The derivative of log(u) is 1/u, and that of
# u = exp(x) + exp(y) with respect to x is exp(x). For x = 0 and y = log 3, they are 1/4 and 3/4:
#
# ```python
# >>> tape_for_1 = [("exp", (0,)), ("exp", (1,)), ("add", (2, 3)), ("log", (4,))]
# >>> [round(float(gradient), 4) for gradient in tape_gradients(tape_for_1, [np.array(0.0), np.log(np.array(3.0))])]
# [0.25, 0.75]
#
# ```
#
# **2. All of them.** $out_0$ contains $x_0$ with the factor 1 − 1/n, every other output with −1/n. So
# $dx_0 = dout_0 - \frac{1}{n} \sum_j dout_j$, and the same for every entry: the mean is subtracted from the upstream
# gradient, too.
#
# ```python
# >>> dout = np.array([1.0, 2.0, 6.0])
# >>> numerical_gradient(lambda x: (dout * (x - x.mean())).sum(), np.array([0.3, -0.1, 0.7])).round(6)
# array([-2., -1.,  3.])
#
# ```
#
# **3. The sum of row k of b.** All upstream gradients are 1, so $da_{ik} = \sum_j b_{kj}$, in which i does not occur.
# In the example above, the rows of b sum to 11 and 15:
#
# ```python
# >>> a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
# >>> tape_gradients([("matmul", (0, 1)), ("sum", (2,))], [a, b])[0]
# array([[11., 15.],
#        [11., 15.]])
#
# ```

# %% [markdown]
# ## What could go wrong
#
# A wrong gradient rarely raises an error: the loss just falls more slowly, or not at all. The report uses these words.
#
# - `numerical_gradient`: **the entry was not set back before the next one was changed.** The following differences are
#   then taken at another point: every entry before them is off by a step. The mistake stays hidden if f treats all
#   entries separately.
# - `sum_to_shape`: **the mean over the copies was taken, not the sum.** Every copy contributes in full: if the entry
#   rises by h, all copies rise by h.
# - `matmul_backward`: **in both gradients, the other factor was not transposed.** The index that is summed must be the
#   second of the left matrix and the first of the right one.
# - `tape_values`: **the results were appended to the caller's list of inputs.** `values = inputs` does not copy the
#   list: it is a second name for it. A second call would start with too many inputs.
# - `tape_gradients`: **gradients were overwritten, not added.** What is used several times gets a contribution from
#   each use. Only the last one is left.

# %% [markdown]
# ## Try it
#
# Here is the network from the beginning. It computes h = tanh(x W + b) and answers h V; its loss is the sum of the
# squared errors. You get the gradient of b in four ways: by hand, by difference quotients, by the tape, and by PyTorch
# (copied, because you may not have it). Then the tape trains the network: each of 200 steps subtracts a twentieth of
# the gradient from every parameter.
#
# By hand, start with the error h V − y, whose gradient is 2 · error. `matmul_backward` turns it into
# `dh = 2 error @ V.T`, tanh multiplies it by 1 − h², and b was added to each of the four rows, so sum over them.
#
# **Guess first.** To how many digits will the four gradients agree: to 8, or even to 13? And can the tape train a
# network about which it knows nothing but the list of steps?
#
# Run it: `headway experiment gradients`, or the next cell of the notebook.

# %%
if __name__ == "__main__":
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([[0.0], [1.0], [1.0], [0.0]])  # 1 where exactly one of the two inputs is 1
    rng = np.random.default_rng(0)
    W, b, V = rng.normal(size=(2, 3)), np.zeros(3), rng.normal(size=(3, 1))
    # 0 W, 1 b, 2 V, 3 x, 4 -y, then the results: 5 x W, 6 x W + b, 7 h, 8 h V, 9 error, 10 its square, 11 loss
    tape = [("matmul", (3, 0)), ("add", (5, 1)), ("tanh", (6,)), ("matmul", (7, 2))]
    tape += [("add", (8, 4)), ("mul", (9, 9)), ("sum", (10,))]

    def loss_for_bias(bias):
        return tape_values(tape, [W, bias, V, x, -y])[-1]

    values = tape_values(tape, [W, b, V, x, -y])
    by_hand = (2 * values[9] @ V.T * (1 - values[7] ** 2)).sum(axis=0)
    ways = {"hand": by_hand, "quotients": numerical_gradient(loss_for_bias, b)}
    ways["tape"] = tape_gradients(tape, [W, b, V, x, -y])[1]
    ways["PyTorch"] = np.array([-9.506023174804563, -5.7840388220158, 3.7154942352835225])  # PyTorch 2.13, float64
    for way, gradient in ways.items():
        agree = [np.allclose(gradient, by_hand, rtol=10.0**-digits, atol=0) for digits in (8, 13)]
        print(f"by {way:9}", gradient.round(7), "  agrees to 8 digits: {}, to 13: {}".format(*agree))
    for step in range(201):
        if step % 50 == 0:
            print(f"step {step:3}   loss {tape_values(tape, [W, b, V, x, -y])[-1]:.4f}")
        gradients = tape_gradients(tape, [W, b, V, x, -y])
        W, b, V = (p - 0.05 * gradient for p, gradient in zip((W, b, V), gradients, strict=False))
    print("predictions  ", tape_values(tape, [W, b, V, x, -y])[8].ravel().round(2))


# %% [markdown]
# ## What came out
#
# ```text
# by hand      [-9.5060232 -5.7840388  3.7154942]   agrees to 8 digits: True, to 13: True
# by quotients [-9.5060232 -5.7840388  3.7154942]   agrees to 8 digits: True, to 13: False
# by tape      [-9.5060232 -5.7840388  3.7154942]   agrees to 8 digits: True, to 13: True
# by PyTorch   [-9.5060232 -5.7840388  3.7154942]   agrees to 8 digits: True, to 13: True
# step   0   loss 4.9463
# step  50   loss 0.3955
# step 100   loss 0.0715
# step 150   loss 0.0055
# step 200   loss 0.0003
# predictions   [0.   0.99 0.99 0.01]
# ```
#
# By hand, by the tape and by PyTorch's `loss.backward()`, the gradients agree in nearly all digits of a `float64`,
# because all three follow the same rules. The difference quotients have their rounding error, but they are good enough
# to find most mistakes in a formula: a missing factor shows in the first digit.
#
# The tape knows nothing about networks, and yet it found parameters with which this one answers correctly.
#
# 1. For the gradient of b, how many times did the difference quotients compute the loss? How many times would all
#    parameters take?
# 2. Start with W, b and V all 0. What are their gradients, and what does training change?

# %% [markdown]
# ## Answers
#
# **1. Six times, and 24 times for all parameters.** Each entry needs two. The tape computes the loss once and goes back
# once, for any number of parameters.
#
# ```python
# >>> 2 * b.size, sum(2 * parameter.size for parameter in (W, b, V))
# (6, 24)
#
# ```
#
# **2. All gradients are 0, and training changes nothing.** If W and b are 0, h is 0, and with it hᵀ dout, the gradient
# of V. If V is 0, nothing comes back through it to W and b. Other equal numbers are no better: if every parameter were
# 0.5, all columns of W would get the same gradient in every step and stay equal forever. Random numbers break this
# symmetry.
#
# ```python
# >>> zeros = [np.zeros((2, 3)), np.zeros(3), np.zeros((3, 1))]
# >>> [bool(gradient.any()) for gradient in tape_gradients(tape, [*zeros, x, -y])[:3]]
# [False, False, False]
#
# ```
