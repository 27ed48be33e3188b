"""What the screen of `headway watch` shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import RenderableType

from autograder.course import Curriculum, registry
from autograder.documents.reading import Document
from autograder.report.assignment_finished import FinishedAssignment

# Each key with a short name, and what it does. A narrow terminal leaves out the last ones, but never help and quit.
KEYS = {
    "n": ("next", "go to the next function, once this one passes"),
    "h": ("hint", "show or hide the hints seen so far for this function"),
    "m": ("more hints", "show one more hint"),
    "b": ("broken", "go to a function that used to pass and now fails"),
    "s": ("solution", "show the solution, once your code passes or after the last hint"),
    "d": ("diff", "compare your code with the solution"),
    "l": ("list", "list all functions, to go to any of them"),
    "e": ("edit", "open your code in your editor, at the line in question"),
    "p": ("map", "show only the map of the wrong values"),
    "g": ("debug", "open the failed call in Python; Ctrl-D comes back"),
    "r": ("reset", "restore the stub of this function; a backup is kept"),
    "a": ("all", "check everything again"),
}
LAST_KEYS = {"?": ("help", "show this help"), "q": ("quit", "quit; Ctrl-C does the same")}
SCROLL_KEYS = "↑ ↓ PgUp PgDn Home End"


@dataclass
class WatchScreen:
    """The content of the screen."""

    name: str  # of the workspace
    statuses: Mapping[str, str]  # latest known status by function
    points: tuple[float, float]  # earned and possible
    focus: str  # the current function, by its qualified name
    passing: bool = False  # whether its code passes as it is now
    printed: str = ""  # what it printed although it passes
    tally: str = ""  # how many of its checks pass, unless all do: " 3/5"
    checking: Sequence[str] = ()  # functions that are being checked now
    diagnosing: bool = False  # whether the mistake behind the result is still being looked for
    seconds: float | None = None  # time that the latest check took
    check: Document | None = None  # the failed check whose panel is shown
    # File and line of the current function while it is not written, and what to do if it is not defined (line 0).
    stub: tuple[str, int, str] | None = None
    finished: FinishedAssignment | None = None  # the assignment of the current function, if all of it passes
    documentation: str = ""  # first line and docstring of the function that is shown
    next_function: str | None = None  # the function that the key n goes to; None at the end of the course
    hint: tuple[Sequence[tuple[str, str]], int] | None = None  # kind and text of the hints shown, and number of all
    offers_solution: bool = False  # whether the key s shows the solution, or asks whether to
    cursor: str | None = None  # the selected function of the list; None while the list is not shown
    view: RenderableType | None = None  # shown in place of everything else, such as the solution
    keys: str = "".join(KEYS)  # those that do something now
    scroll: int = 0  # lines of the body above the screen
    message: str = ""  # one line above the keys
    notes: Sequence[str] = ()  # lines above the panel, such as badges
    link: Callable[[str, int], str] | None = None  # address of a line of a file, for terminals that can open it
    details: Mapping[str, str] = field(default_factory=dict)  # text beside each function of the list
    curriculum: Curriculum = field(default_factory=registry.default)
