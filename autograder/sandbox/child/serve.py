"""Answer requests about one submission, one frame each, until the socket closes. Runs in the student's process.

It imports NumPy, the standard library and the wire format (loaded by path under a private name), and nothing else of
Headway. The grader takes values from it, never verdicts.
"""

import ast
import contextlib
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import sys
import traceback
import types
import warnings

import _headway_frames as frames
import _headway_parsing.requests as parsing
import _headway_pretrained as pretrained
import _headway_training as training
import numpy as np

MAX_TRACE = 12
MAX_TEXT = 4000
MAX_WARNINGS = 5


class Missing(Exception):
    """The submission has no such module, or the module no such function."""


class Absent:
    """Stands for a package that is not here, or for a name from it: it can be imported, and any use of it raises."""

    def __init__(self, package):
        self.__dict__["package"] = package

    def __getattr__(self, name):
        raise ModuleNotFoundError(f"No module named {self.package!r}", name=self.package)

    def __call__(self, *args, **kwargs):
        self.__getattr__("")

    __bool__ = __getitem__ = __instancecheck__ = __iter__ = __call__


class StudentFile(importlib.machinery.SourceFileLoader):
    """Imports a file of the submission; a package that is not here costs the functions that use it, not the file."""

    def exec_module(self, module):
        try:
            super().exec_module(module)
        except ModuleNotFoundError:
            tree = ast.parse(self.get_data(self.path))
            absent = without_absent_packages(tree)
            if not absent:
                raise
            module.__dict__.update(absent)
            exec(compile(tree, self.path, "exec"), module.__dict__)


def without_absent_packages(tree):
    """Remove the imports of packages that are not here from the top of a module; return what stands for their names."""
    absent = {}
    for number, node in enumerate(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0):
            is_from, kept = isinstance(node, ast.ImportFrom), []
            for alias in node.names:
                package = (node.module if is_from else alias.name).partition(".")[0]
                if alias.name == "*" or importlib.util.find_spec(package):
                    kept.append(alias)
                else:
                    absent[alias.asname or (alias.name if is_from else package)] = Absent(package)
            node.names = kept
            tree.body[number] = node if kept else ast.copy_location(ast.Pass(), node)
    return absent


class Submission:
    """The modules in some folders, of which the first counts that has one, and the values behind handles."""

    def __init__(self, folders):
        self.folders = folders
        self.failures = {}
        self.handles = {}
        sys.dont_write_bytecode = True
        sys.path += folders  # At the end, so that a student's numpy.py or random.py shadows nothing.
        sys.path_hooks.insert(0, self._finder)

    def _finder(self, path):
        if path not in self.folders:
            raise ImportError
        return importlib.machinery.FileFinder(path, (StudentFile, [".py"]))

    def module(self, name):
        """Import `name.py`. An import that failed raises the same exception every time, without running again."""
        if name in self.failures:
            raise self.failures[name]
        if name in sys.modules:
            return sys.modules[name]
        paths = (os.path.join(folder, name + ".py") for folder in self.folders)
        path = next(filter(os.path.isfile, paths), None)
        if not name.isidentifier() or path is None:
            raise Missing(f"there is no file {name}.py")
        spec = importlib.util.spec_from_file_location(name, path, loader=StudentFile(name, path))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            sys.modules.pop(name, None)
            self.failures[name] = error
            if isinstance(error, SyntaxError) and not error.filename:  # Such as a null byte in the file.
                with open(path, "rb") as file:
                    before = file.read().partition(b"\0")[0]
                error.filename, error.lineno = path, error.lineno or before.count(b"\n") + 1
            raise
        return module

    def function(self, module, name):
        function = getattr(self.module(module), name, None)
        if not callable(function):
            raise Missing(f"{module}.py defines no function {name}")
        return function

    def resolve(self, value):
        """Return what a marker stands for: a generator, function, configuration, stored value or arrays in a file.

        Other values are returned unchanged.
        """
        if isinstance(value, frames.Handle):
            return self.handles[value.number]
        if isinstance(value, frames.Rng):
            return np.random.default_rng(value.seed)
        if isinstance(value, (frames.GeneratorOf, frames.FunctionOf)):
            return value.start()
        if isinstance(value, frames.MappedArray):
            return value.open()
        if is_model(value):
            return {name: array.open() for name, array in value.items()}
        if isinstance(value, frames.Config):
            return self.function(value.module, value.name)(**value.fields)
        return value

    def store(self, value, number):
        """Keep a value in this process and return a handle to it, with the number that the grader chose."""
        self.handles[number] = value
        return frames.Handle(number)


def is_model(value):
    """Return whether these are the parameters of a model that stay in its file."""
    return isinstance(value, dict) and bool(value) and isinstance(next(iter(value.values())), frames.MappedArray)


def is_left_out(sent):
    """Return whether an argument is not compared before and after the call.

    A function may change its own cache, and nothing can change a file that is mapped to be read.
    """
    return isinstance(sent, (frames.Handle, frames.MappedArray)) or is_model(sent)


def call(submission, request):
    """Call one function of the submission and describe what came back."""
    if request.get("fresh"):
        submission.handles.clear()
    function = submission.function(request["module"], request["function"])
    args = [submission.resolve(value) for value in request["args"]]
    kwargs = {key: submission.resolve(value) for key, value in request["kwargs"].items()}
    inputs = (
        [None if is_left_out(sent) else arg for sent, arg in zip(request["args"], args, strict=True)],
        {key: arg for key, arg in kwargs.items() if not is_left_out(request["kwargs"][key])},
    )
    before = {path: array.copy() for path, array in arrays(inputs, ())}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **kwargs)
    reply = {
        "status": "returned",
        "modified": changed(before, inputs, function, len(args)),
        "warnings": [describe_warning(w) for w in caught[:MAX_WARNINGS]],
        "line": line_of(function),
    }
    handles = request["handles"]  # numbers, by the index of the output that stays here
    if list(handles) == [0] and not isinstance(result, tuple):
        result = submission.store(result, handles[0])
    elif handles and isinstance(result, tuple):
        result = tuple(submission.store(v, handles[i]) if i in handles else v for i, v in enumerate(result))
    return {**reply, "value": result}


def entry(submission, request):
    """Return one entry of a stored value, such as `cache["weights"]`."""
    cache = submission.handles[request["handle"].number]
    if not isinstance(cache, dict):
        raise Missing(f"the cache is a {type(cache).__name__}, not a dict")
    if request["key"] not in cache:
        raise Missing(f"the cache has no entry {request['key']!r}")
    return {"status": "returned", "value": cache[request["key"]]}


def is_stub(submission, request):
    """Answer whether the function only raises NotImplementedError, which separates "not started" from "blocked"."""
    code = getattr(submission.function(request["module"], request["function"]), "__code__", None)
    return {"status": "returned", "value": getattr(code, "co_names", None) == ("NotImplementedError",)}


def parse(submission, request):
    """Parse source code. Nothing of it is run, and a process that is asked this is asked nothing else."""
    return parsing.answer(request["operation"], request["arguments"])


def warm_up():
    """Parse something, so that the first parsing of each forked process does not pay for Python's own preparations."""
    notebook = b'{"cells": [{"cell_type": "code", "source": "import numpy as np\\ndef f(x=np.pi):\\n    return [x]"}]}'
    arguments = frames.unpack(frames.pack({"content": notebook, "course": {"m": ["f"]}}))
    frames.pack(parsing.answer("read_modules", arguments))


def model(submission, request):
    """Begin what the action names, such as a training run or a chat, and describe it; or let it do what is asked."""
    action = request["action"]
    if action in MODELS:
        submission.model = MODELS[action](submission, request)
        return {"status": "returned", "value": submission.model.describe()}
    return {"status": "returned", "value": getattr(submission.model, action)(request)}


MODELS = {**training.RUNS, **pretrained.MODELS}
OPERATIONS = {"call": call, "is_stub": is_stub, "entry": entry, "model": model, "parse": parse}


def arrays(value, path):
    """Yield every array in nested containers, with its path: the keys and indices that lead to it.

    A number in a dictionary counts as an array.
    """
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, np.generic):  # The sum of an array, appended to a list of arrays.
        yield path, np.asarray(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays(np.asarray(item) if type(item) in (int, float) else item, (*path, key))
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from arrays(item, (*path, index))


def changed(before, arguments, function, count):
    """Return the names of the arguments whose arrays have changed in any bit; `count` arguments are positional."""
    after = dict(arrays(arguments, ()))
    changed_names = []
    for path in before | after:
        old, new = before.get(path), after.get(path)
        if old is None or new is None or identity(new) != identity(old):
            parameters = parameter_names(function, count)
            name = parameters[path[1]] if path[0] == 0 and path[1] < len(parameters) else str(path[1])
            changed_names.append(name + "".join(f"[{key!r}]" for key in path[2:]))
    return changed_names


def identity(array):
    return array.dtype, array.shape, array.tobytes()


def parameter_names(function, count):
    try:
        return list(inspect.signature(function).parameters)[:count]
    except (TypeError, ValueError):
        return [f"argument {i + 1}" for i in range(count)]


def line_of(function):
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_firstlineno if isinstance(code, types.CodeType) else None


def describe_warning(warning):
    file = os.path.basename(str(warning.filename))
    return f"{file}:{warning.lineno}: {warning.category.__name__}: {warning.message}"[:300]


def own_lines(folders, error):
    """Yield file, line, function and text of each line of the submission that an exception has passed through."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file, line = frame.f_code.co_filename, line or 0
        if os.path.dirname(file) in folders:
            yield os.path.basename(file), line, frame.f_code.co_name, linecache.getline(file, line).strip()[:200]
    if isinstance(error, SyntaxError) and error.filename and os.path.dirname(error.filename) in folders:
        yield os.path.basename(error.filename), error.lineno or 0, "<unread>", (error.text or "").strip()[:200]


def describe_error(submission, error):
    return {
        "status": "missing" if isinstance(error, Missing) else "raised",
        "type": type(error).__name__[:100],
        "message": (str(error.msg) if isinstance(error, SyntaxError) else str(error))[:MAX_TEXT],
        "trace": list(own_lines(submission.folders, error))[-MAX_TRACE:],
    }


def answer(submission, request):
    try:
        reply = OPERATIONS[request["op"]](submission, request)
        return frames.pack({**reply, "id": request["id"]})
    except frames.FrameError as error:
        return frames.pack({"id": request["id"], "status": "unsendable", "message": str(error)})
    except BaseException as error:  # Also SystemExit and KeyboardInterrupt: the next call must still be answered.
        try:
            return frames.pack({**describe_error(submission, error), "id": request["id"]})
        except BaseException:  # The __str__ of the exception raises.
            reply = {"status": "raised", "type": type(error).__name__[:100], "message": "", "trace": []}
            return frames.pack({**reply, "id": request["id"]})


def receive(channel, count):
    """Return exactly `count` bytes; end the process if the other side has closed the socket."""
    data = bytearray()
    while len(data) < count:
        chunk = channel.recv(min(count - len(data), 1 << 20))
        if not chunk:
            os._exit(0)
        data += chunk
    return bytes(data)


def receive_frame(channel):
    return frames.read_frame(lambda count: receive(channel, count))


def serve(channel, folders, result_bytes):
    """Answer requests until the other side closes the socket `channel`."""
    frames.MAX_BODY = result_bytes  # A larger answer is reported instead of sent: the grader would not read it.
    submission = Submission(folders)
    stdout, stderr = sys.stdout, sys.stderr
    while True:
        reply = answer(submission, receive_frame(channel))
        for stream in (stdout, stderr):
            # The stream may be full, or closed by the student: the output is lost, but not the answer.
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        channel.sendall(reply)
