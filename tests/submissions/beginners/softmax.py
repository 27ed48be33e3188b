"""Wrong answers to `softmax` as beginners write them; each docstring lists the mistakes that the report should name."""

import numpy as np

from softmax import log_softmax, softmax

@variants(
    whole_array=("no-maximum sum-over-everything effect-error-not-raised", ", axis=axis, keepdims=True", ""),
    no_keepdims_no_maximum=("no-maximum keepdims-forgotten", ", keepdims=True", ""),
    builtin_sum=(
        "no-maximum first-axis-always effect-error-not-raised", "np.sum(e, axis=axis, keepdims=True)", "sum(e)",
    ),
    in_place=(
        "in-place effect-error-not-raised", "e = np.exp", "x -= np.max(x, axis=axis, keepdims=True)\n    e = np.exp",
    ),
)
def softmax__textbook(x, axis=-1, temperature=1.0):
    """no-maximum any-temperature-accepted effect-error-not-raised negative-temperature-accepted"""
    e = np.exp(x / temperature)
    return e / np.sum(e, axis=axis, keepdims=True)

@variants(
    whole_array_with_maximum=(
        "whole-array any-temperature-accepted effect-error-not-raised zero-temperature-accepted",
        "x.max(axis, keepdims=True)", "x.max()", "e.sum(axis, keepdims=True)", "e.sum()",
    ),
    maximum_of_all=("maximum-of-everything any-temperature-accepted", "x.max(axis, keepdims=True)", "x.max()"),
    no_keepdims_in_maximum=("keepdims-forgotten-in-maximum", "x.max(axis, keepdims=True)", "x.max(axis)"),
    forgot_return=("placeholder-none", "return ", ""),
    small_number_in_sum_1e8=(
        "number-in-sum any-temperature-accepted", "e.sum(axis, keepdims=True)", "(e.sum(axis, keepdims=True) + 1e-8)",
    ),
    minimum_subtracted=("minimum-subtracted any-temperature-accepted", "x.max", "x.min"),
    mean_subtracted=(
        "mean-subtracted any-temperature-accepted effect-error-not-raised negative-temperature-accepted",
        "x.max", "x.mean",
    ),
    small_number_in_sum_1e6=(
        "number-in-sum any-temperature-accepted effect-error-not-raised zero-temperature-accepted",
        "e.sum(axis, keepdims=True)", "(e.sum(axis, keepdims=True) + 1e-6)",
    ),
    small_number_added_1e9=(
        "number-added any-temperature-accepted effect-error-not-raised zero-temperature-accepted",
        "e.sum(axis, keepdims=True)", "e.sum(axis, keepdims=True) + 1e-9",
    ),
    no_keepdims=(
        "keepdims-forgotten", "x.max(axis, keepdims=True)", "x.max(axis)", "e.sum(axis, keepdims=True)", "e.sum(axis)",
    ),
    second_axis=("second-axis-always any-temperature-accepted", "x.max(axis", "x.max(1", "e.sum(axis", "e.sum(1"),
    maximum_not_divided=(
        "maximum-not-divided any-temperature-accepted effect-error-not-raised negative-temperature-accepted",
        "(x - x.max(axis, keepdims=True)) / temperature", "x / temperature - x.max(axis, keepdims=True)",
    ),
    temperature_multiplied=(
        "temperature-multiplied any-temperature-accepted effect-error-not-raised negative-temperature-accepted",
        "np.exp((x - x.max(axis, keepdims=True)) / temperature)", "np.exp(x - x.max(axis, keepdims=True)) ** temperature",
    ),
    not_divided=("not-normalised effect-error-not-raised", "e / e.sum(axis, keepdims=True)", "e"),
    only_zero_refused=(
        "negative-temperature-accepted", "e = np.exp", 'if temperature == 0: raise ValueError("zero")\n    e = np.exp',
    ),
)
def softmax__any_temperature(x, axis=-1, temperature=1.0):
    """base"""
    e = np.exp((x - x.max(axis, keepdims=True)) / temperature)
    return e / e.sum(axis, keepdims=True)

def softmax__rows_by_loop(x, axis=-1, temperature=1.0):
    """matrices-only always-float64 any-temperature-accepted"""
    out = np.zeros(x.shape)
    for i in range(len(x)):
        e = np.exp((x[i] - np.max(x[i])) / temperature)
        out[i] = e / np.sum(e)
    return out

def softmax__float64_and_temperature(x, axis=-1, temperature=1.0):
    """temperature-ignored always-float64 effect-error-not-raised"""
    x = np.array(x, dtype=float)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def softmax__no_exponential(x, axis=-1, temperature=1.0):
    """no-exponential effect-error-not-raised"""
    return x / np.sum(x, axis=axis, keepdims=True)

@variants(
    log_of_softmax=("log-of-softmax", "softmax(x)", "softmax(x, axis=axis)"),
    no_maximum_no_axis=("no-maximum sum-over-everything", "np.log(softmax(x))", "x - np.log(np.sum(np.exp(x)))"),
    no_maximum=("no-maximum", "np.log(softmax(x))", "x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))"),
    no_log=("softmax-instead", "np.log(softmax(x))", "softmax(x, axis)"),
    plus_small_1e9=("log-of-softmax-plus-number", "softmax(x)", "softmax(x, axis) + 1e-9"),
    plus_small_1e12=("log-of-softmax-plus-number", "softmax(x)", "softmax(x, axis) + 1e-12"),
    clipped12=("log-of-softmax-limited-to-number", "softmax(x)", "np.clip(softmax(x, axis), 1e-12, 1)"),
    clipped15=("log-of-softmax-plus-number", "softmax(x)", "np.clip(softmax(x, axis), 1e-15, 1 - 1e-15)"),
)
def log_softmax__log_of_softmax_last_axis(x, axis=-1):
    """log-of-softmax last-axis-always"""
    return np.log(softmax(x))

@variants(
    axis_ignored=(
        "last-axis-always", "x.max(axis=axis, ", "x.max(axis=-1, ",
        "np.exp(x - m), axis=axis", "np.exp(x - m), axis=-1",
    ),
    no_keepdims=(
        "keepdims-forgotten", "x.max(axis=axis, keepdims=True)", "x.max(axis)", "axis=axis, keepdims=True", "axis=axis",
    ),
    no_keepdims_in_sum=(
        "keepdims-forgotten-in-sum", "np.exp(x - m), axis=axis, keepdims=True", "np.exp(x - m), axis=axis",
    ),
    whole_array=("whole-array", "x.max(axis=axis, keepdims=True)", "x.max()", ", axis=axis, keepdims=True", ""),
    log_inside_sum=(
        "log-inside-sum", "np.log(np.sum(np.exp(x - m)", "np.sum(np.log(np.exp(x - m))",
        "keepdims=True))", "keepdims=True)",
    ),
    plus=("plus", "x - m - np.log", "x - m + np.log"),
    maximum_not_added=("maximum-not-added-back", "x - m - np.log", "x - np.log"),
    maximum_subtracted_twice=("maximum-subtracted-twice", "x - m - np.log", "x - m - m - np.log"),
    small_number_in_log_1e9=("number-in-sum", "keepdims=True))", "keepdims=True) + 1e-9)"),
)
def log_softmax__right(x, axis=-1):
    """base"""
    m = x.max(axis=axis, keepdims=True)
    return x - m - np.log(np.sum(np.exp(x - m), axis=axis, keepdims=True))

def cross_entropy__log_softmax_of_probs(logits, targets):
    """log-of-softmax matrices-only"""
    probs = softmax(logits)
    picked = probs[np.arange(len(probs)), targets]
    return float(-np.log(picked).mean())

@variants(
    matrix_only=("matrices-only", "logp[:, targets].mean()", "np.mean(logp[np.arange(len(targets)), targets])"),
    rows_of_targets=("targets-as-rows", ":, targets", "targets"),
    matrix_only_and_sum=(
        "sum-not-mean matrices-only", "float(-logp[:, targets].mean())", "-np.sum(logp[np.arange(len(logits)), targets])",
    ),
    not_averaged=(
        "not-averaged", "float(-logp[:, targets].mean())", "-np.take_along_axis(logp, targets[..., None], -1)[..., 0]",
    ),
    perplexity=(
        "perplexity",
        "-logp[:, targets].mean()", "np.exp(-np.take_along_axis(logp, targets[..., None], -1).mean())",
    ),
)
def cross_entropy__all_columns(logits, targets):
    """target-columns-of-all-rows"""
    logp = log_softmax(logits)
    return float(-logp[:, targets].mean())

@variants(
    sign_and_sum=("sign-and-sum-not-mean", "-(hot * log_softmax(logits)).mean", "(hot * log_softmax(logits)).sum"),
    first_axis=("mean-over-first-axis", "mean()", "sum() / len(logits)"),
)
def cross_entropy__one_hot_mean(logits, targets):
    """mean-over-classes"""
    hot = np.eye(logits.shape[-1])[targets]
    return float(-(hot * log_softmax(logits)).mean())

def softmax_backward__softmax_again(dout, probs, axis=-1):
    """softmax-of-probs"""
    p = softmax(probs, axis=axis)
    return p * (dout - np.sum(dout * p, axis=axis, keepdims=True))

def softmax_backward__jacobian(dout, probs, axis=-1):
    """one-row-only"""
    jacobian = np.diag(probs) - np.outer(probs, probs)
    return jacobian @ dout

@variants(
    axis_ignored=("last-axis-always", "1 - probs", "dout - np.sum(dout * probs, axis=-1, keepdims=True)"),
    axis_zero=("first-axis-always", "1 - probs", "dout - np.sum(dout * probs, axis=0)"),
    axis_one=("second-axis-always", "1 - probs", "dout - np.sum(dout * probs, axis=1, keepdims=True)"),
    no_keepdims=("keepdims-forgotten", "1 - probs", "dout - np.sum(dout * probs, axis=axis)"),
    sum_without_axis=("sum-over-everything", "1 - probs", "dout - np.sum(dout * probs)"),
    sigmoid=("diagonal-only", "return probs", "return dout * probs"),
    sum_outside=("sum-not-times-probs", "(1 - probs)", "dout - np.sum(probs * dout, axis=axis, keepdims=True)"),
)
def softmax_backward__without_dout(dout, probs, axis=-1):
    """dout-forgotten"""
    return probs * (1 - probs)

@variants(
    float64=("always-float64", "softmax(logits) - hot", "(softmax(logits) - hot) / targets.size"),
    sign=("sign", "softmax(logits) - hot", "((hot - softmax(logits)) / targets.size).astype(logits.dtype)"),
    classes=(
        "divided-by-classes",
        "softmax(logits) - hot", "((softmax(logits) - hot) / logits.shape[-1]).astype(logits.dtype)",
    ),
    divided_by_len=(
        "always-float64 divided-by-first-axis", "softmax(logits) - hot", "(softmax(logits) - hot) / len(targets)",
    ),
)
def cross_entropy_backward__float64_not_divided(logits, targets):
    """not-divided always-float64"""
    hot = np.eye(logits.shape[-1])[targets]
    return softmax(logits) - hot

@variants(
    matrix_only=("matrices-only", ":, targets", "np.arange(len(targets)), targets"),
    matrix_only_not_divided=(
        "not-divided matrices-only", ":, targets", "np.arange(len(targets)), targets", " / len(targets)", "",
    ),
)
def cross_entropy_backward__all_rows(logits, targets):
    """target-column-in-all-rows"""
    d = softmax(logits)
    d[:, targets] -= 1
    return d / len(targets)

@variants(
    clipped7=("log-of-softmax-limited-to-number", "12, 1.0", "7, 1.0 - 1e-7"),
    plus_small_1e6=("log-of-softmax-plus-number", "np.clip(softmax(logits), 1e-12, 1.0)", "softmax(logits) + 1e-6"),
)
def cross_entropy__clipped12(logits, targets):
    """log-of-softmax-plus-number"""
    p = np.clip(softmax(logits), 1e-12, 1.0)
    return float(-np.log(np.take_along_axis(p, targets[..., None], -1)).mean())

def cross_entropy_backward__central_differences(logits, targets):
    """difference-quotient"""
    h = 1e-5
    x = np.asarray(logits, dtype=float)
    d = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        p, m = x.copy(), x.copy(); p[i] += h; m[i] -= h
        d[i] = (cross_entropy(p, targets) - cross_entropy(m, targets)) / (2 * h)
    return d

def log_softmax__sum_over_last_axis(x, axis=-1):
    """last-axis-in-sum"""
    z = np.asarray(x, dtype=np.result_type(x, np.float32)) * 1.0
    z = z - z.max(axis=axis, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))
