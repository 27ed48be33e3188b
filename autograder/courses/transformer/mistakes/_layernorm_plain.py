"""The functions of assignment 6 as a learner writes them, line by line as the formulas stand."""

LAYERNORM = """
    x = as_float(x)
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta
"""
RMSNORM = """
    x = as_float(x)
    square = (x * x).mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt(square + eps)
"""
LAYERNORM_BACKWARD = """
    x, dout = as_float(x), as_float(dout)
    d = x.shape[-1]
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    normalized = centred / std
    dgamma = (dout * normalized).reshape(-1, d).sum(axis=0)
    dbeta = dout.reshape(-1, d).sum(axis=0)
    g = dout * gamma
    mean_path = g.mean(axis=-1, keepdims=True)
    variance_path = normalized * (g * normalized).mean(axis=-1, keepdims=True)
    return (g - mean_path - variance_path) / std, dgamma, dbeta
"""
