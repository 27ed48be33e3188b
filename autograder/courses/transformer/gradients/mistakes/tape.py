"""Mistakes in `gradients`: the forward pass over a tape."""

from autograder.engine.diagnosis.mistake import Mistakes

MISTAKES = Mistakes()

_CALL, _VALUES = "OPERATIONS[op](", "(*(values[i] for i in arguments))"
_CHECK = 'if op not in OPERATIONS:\n            raise ValueError(f"unknown operation {op!r}")'
# The name of an operation, what was computed, in code and in words, and what is right.
_OPERATIONS = (
    ("sum", "lambda x: np.sum(x, axis=-1)", "sum added along the last axis only", "all entries are added"),
    ("sum", "lambda x: np.sum(x, axis=0)", "sum added along the first axis only", "all entries are added"),
    ("sum", "lambda x: np.sum(x, keepdims=True)", "sum kept axes of length 1", "the result is a single number"),
    ("sum", "np.mean", "sum took the mean", "all entries are added"),
    ("sum", "np.prod", "sum multiplied all entries", "all entries are added"),
    ("log", "np.log10", "log took the logarithm to base 10", "log is the natural logarithm, np.log"),
    ("log", "np.log2", "log took the logarithm to base 2", "log is the natural logarithm, np.log"),
    ("log", "np.log1p", "log took the logarithm of x + 1", "log is the natural logarithm, np.log"),
    ("exp", "np.exp2", "exp took powers of 2", "exp is e to the power of x, np.exp"),
    ("exp", "np.expm1", "exp gave eˣ - 1", "exp is e to the power of x, np.exp"),
    ("tanh", "np.tan", "tanh took the tangent", "tanh is the hyperbolic tangent, np.tanh"),
    ("tanh", "np.sinh", "tanh took the hyperbolic sine", "tanh is the hyperbolic tangent, np.tanh"),
    ("tanh", "np.arctanh", "tanh took its inverse", "tanh is the hyperbolic tangent, np.tanh"),
    ("tanh", "lambda x: 1 / (1 + np.exp(-x))", "tanh took the sigmoid", "tanh is the hyperbolic tangent, np.tanh"),
    ("add", "np.multiply", "add multiplied its arguments", "add is the sum of two arrays, entry by entry"),
    ("add", "np.subtract", "add subtracted its second argument", "add is the sum of two arrays, entry by entry"),
    ("add", "lambda *x: x[0] + x[0]", "add added the first argument to itself", "both arguments are used"),
    ("mul", "np.add", "mul added its arguments", "mul is the product of two arrays, entry by entry"),
    ("mul", "np.matmul", "mul multiplied matrices", "mul is the product of two arrays, entry by entry"),
    ("mul", "lambda *x: x[0] * x[0]", "mul multiplied the first argument by itself", "both arguments are used"),
    ("matmul", "np.multiply", "matmul multiplied entry by entry", "matmul is the matrix product, @"),
    ("matmul", "np.dot", "matmul paired all matrices of two batches", "matmul is the matrix product, @, not np.dot"),
    ("matmul", "lambda a, b: a @ b.T", "matmul transposed its second argument", "matmul is a @ b"),
)

mistake = MISTAKES.for_functions("gradients.tape_values")
mistake("inputs-left-out", "return values", "return values[len(inputs) :]", common=True).explain("""
    the inputs are missing from the result
    why: They come first: the numbers of the tape count them, too.
    ask: Which array has the number 0?""")
mistake("only-last-value", "return values", "return values[-1]").explain("""
    only the last result was returned
    why: The backward pass needs all arrays, because the derivatives contain them.
    ask: How many arrays are there with 3 inputs and a tape of 4 entries?""")
mistake("computed-values-first", "(*(values[i]", "(*((values[len(inputs) :] + values[: len(inputs)])[i]").explain("""
    the results were numbered before the inputs
    why: The inputs come first, numbered from 0; the results follow.
    ask: With two inputs, which value has the number 0?""")
mistake("numbered-from-one", "(*(values[i]", "(*(values[i - 1]").explain("""
    the arrays were numbered from 1
    why: The first input has the number 0, like the first entry of a list. Index -1 is the last one.
    ask: With two inputs, what is the number of the result of the first entry of the tape?""")
mistake("arguments-reversed", "for i in arguments)", "for i in reversed(arguments))").explain("""
    the arguments were taken in reverse order
    why: For add and mul the order does not matter, but a @ b is not b @ a.
    ask: Which argument is the left factor of matmul?""")
mistake("first-argument-twice", "(*(values[i]", "(*(values[arguments[0]]").explain("""
    the first argument was used for the second one, too
    why: `arguments` has one number for each argument.
    ask: Where does your code use the second number of `arguments`?""")
for number, (op, code, title, right) in enumerate(_OPERATIONS, start=1):
    mistake(f"operation-{number}-{op}", _CALL, f'{{**OPERATIONS, "{op}": {code}}}[op](').explain(f"""
        {title}
        why: In a tape, {right}.
        ask: Which function of NumPy belongs to the name {op!r}? OPERATIONS lists them all.""")
mistake("tuple-returned", "return values", "return tuple(values)").explain("""
    a tuple was returned, not a list
    why: A tuple has no append: code that continues the computation, value by value, then fails.
    ask: What is the type of your result?""")
mistake("inputs-appended-to", "list(inputs)", "inputs", common=True).explain("""
    the results were appended to the caller's list of inputs
    why: `values = inputs` does not copy the list: it is a second name for it. A second call would start with too many
         inputs.
    ask: How many entries does the list of inputs have after the call?""")
mistake("unknown-operation-copies", _CALL, "OPERATIONS.get(op, lambda *x: x[0])(", _CHECK, "pass").explain("""
    an unknown operation returned its argument
    why: A typo in a tape would go unnoticed, and all results after it would be wrong.
    ask: What should happen with the operation 'sin'?""")
mistake("key-error", _CHECK, "pass", common=True).explain("""
    an unknown operation raised a KeyError, not a ValueError
    why: A KeyError with a bare 'sin' does not say that the tape is wrong. A ValueError that names the operation does.
    ask: What does Python raise when a dictionary does not have a key? Where can you check that earlier?""")
mistake("operation-not-named", 'f"unknown operation {op!r}"', '"unknown operation"').explain("""
    the message of the error does not contain the operation
    why: Without the name, you would have to search the tape.
    ask: What does your message say about the tape ('exp', 'sin')?""")
mistake("tape-reversed", "in tape:", "in reversed(tape):").explain("""
    the tape was followed from its end
    why: The forward pass goes in the order of the tape: an entry uses results that were computed before it.
    ask: Which entry of the tape can be computed first?""")
