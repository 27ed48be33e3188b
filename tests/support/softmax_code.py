"""The code of `softmax` as a student writes it over the stub: correct, and as the base of wrong versions."""

STUB = 'raise NotImplementedError("softmax.softmax")'
BODY = """if not temperature > 0:
        raise ValueError("temperature must be positive")
    x = as_float(x) / temperature
    z = np.exp(x - x.max(axis, keepdims=True))
    return z / z.sum(axis, keepdims=True)"""
FUNCTION = f"def softmax(x, axis=-1, temperature=1.0):\n    {BODY}"
WRONG_SUM = FUNCTION.replace("z.sum(axis, keepdims=True)", "z.sum()")
ENDLESS_LOOP = FUNCTION.replace("z = np", "while True:\n        pass\n    z = np")
