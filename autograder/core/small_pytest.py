"""What the engine and the checks use of pytest: in the archive for browsers, this module is `pytest`.

It collects graded checks and has the runner call them. It knows no other marks.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

T = TypeVar("T")
ExitCode, exit = SimpleNamespace(OK=0, TESTS_FAILED=1), SimpleNamespace(Exception=SystemExit)


class StashKey(Generic[T]):
    """A key of what a session keeps."""


class Mark(SimpleNamespace):
    """The mark of a check, and the decorator that sets it."""

    def __call__(self, check: Any) -> Any:
        """Return the check with this mark."""
        check.pytestmark = [self]
        return check


mark = SimpleNamespace(graded=lambda *args, **kwargs: Mark(name="graded", args=args, kwargs=kwargs))


def hookimpl(**options: Any) -> Callable[[T], T]:
    """Return a decorator that changes nothing: hooks and fixtures are found by their names."""
    return lambda function: function


fixture = hookimpl


def _from_call(call: Callable[[], Any], when: str, ends: tuple[type[BaseException], ...]) -> Any:
    """Call, and return what it raises, unless that ends the session."""
    error = None
    try:
        call()
    except ends:
        raise
    except BaseException as raised:
        error = raised
    return SimpleNamespace(when=when, excinfo=SimpleNamespace(value=error))


CallInfo = SimpleNamespace(from_call=_from_call)


class CollectedCheck:
    """A check; `obj` calls it with its fixtures."""

    cls, ihook = None, SimpleNamespace(pytest_runtest_teardown=lambda **item: None)
    _fixtureinfo: Any = SimpleNamespace(name2fixturedefs={}, argnames=())  # what is left to fill in
    from_parent = classmethod(lambda cls, *args, **options: cls(*args, **options))

    def __init__(self, session: "Session", name: str, callobj: Any, originalname: str = "") -> None:
        self.session, self.config, self.name, self._marks = session, session.config, name, callobj.pytestmark
        self.nodeid, self.fixturenames = f"{callobj.__module__}::{name}", [*inspect.signature(callobj).parameters]
        self.obj = wraps(callobj)(lambda: session.call(callobj))

    def add_marker(self, mark: Mark, append: bool) -> None:
        """Set another mark."""
        self._marks = [mark]

    def iter_markers(self, name: str = "") -> Any:
        """Return the mark in a list."""
        return self._marks

    def get_closest_marker(self, name: str) -> Any:
        """Return the mark."""
        return self._marks[0]


Item = Function = CollectedCheck


class Session:
    """The checks that were collected last."""

    testsfailed, shouldstop, Interrupted = 0, "", InterruptedError

    def __init__(self, plugin: Any) -> None:
        self._plugin, self.items, nothing = plugin, list[CollectedCheck](), lambda *arguments: None
        self.config = SimpleNamespace(stash={}, getoption=nothing, addinivalue_line=nothing)
        self.config.option = SimpleNamespace(collectonly=False)
        self.config.pluginmanager = SimpleNamespace(has_plugin=nothing)

    def perform_collect(self, modules: list[str]) -> None:
        """Collect the checks of modules."""
        self.items = []
        for module in map(import_module, modules):
            for name, check in vars(module).items():
                if name.startswith("test") and hasattr(check, "pytestmark"):
                    several = self._plugin.pytest_pycollect_makeitem(self, name, check)
                    self.items += several or [CollectedCheck(self, name, check)]
        self._plugin.pytest_collection_modifyitems(self.config, self.items)

    def call(self, function: Any) -> Any:
        """Call a check, or a fixture, with the values of the fixtures that it needs."""
        fixtures: dict[str, Any] = dict.fromkeys(inspect.signature(function).parameters, self)
        for name in fixtures.keys() - {"request"}:
            fixtures[name] = self.call(function.__globals__.get(name) or getattr(self._plugin, name))
        return function(**fixtures)


def main(args: list[str], plugins: list[Any]) -> Any:
    """Collect the checks of the modules after `--pyargs`, and have the first plugin run them."""
    session = Session(plugins[0])
    for plugin in plugins:
        plugin.pytest_configure(session.config)
    with suppress(InterruptedError):  # The runner keeps the reason.
        session.perform_collect(args[args.index("--pyargs") + 1 :])
        plugins[0].pytest_runtestloop(session)
    return ExitCode.OK
