"""The time that the watch screen shows."""

from types import SimpleNamespace

from autograder.workspace.background_checker import CheckReply
from autograder.workspace.file_watcher import SAVED
from autograder.workspace.watch import PATIENCE, QUIET, WatchLoop


def test_watch_shows_how_long_the_check_took_not_how_old_the_save_is():
    session = SimpleNamespace(workspace=None, receive=lambda reply: True, badge_lines=[], internal_errors=[])
    loop = WatchLoop(session, None, no_color=True)
    loop._receive(CheckReply(None, SimpleNamespace(seconds=0.7)))
    assert loop._seconds == 0.7


def test_watch_shows_only_a_check_that_takes_a_while():
    workspace = SimpleNamespace(snapshot=None)
    session = SimpleNamespace(
        workspace=workspace, check_changes=lambda is_save: True, checking=("softmax.softmax",),
        receive=lambda reply: True, badge_lines=[], internal_errors=[],
    )  # fmt: skip
    loop, drawn = WatchLoop(session, None, no_color=True), []
    loop.draw = lambda: drawn.append(loop.is_slow)
    loop.handle(SAVED)
    assert (drawn, loop.patience) == ([], QUIET)
    loop.handle(CheckReply(None, SimpleNamespace(seconds=0.05)))
    assert drawn == [False]
    loop.handle(SAVED)
    loop.run_out_of_patience()
    assert (drawn, loop.patience) == ([False, False], PATIENCE)
    loop.run_out_of_patience()
    assert drawn == [False, False, True]
