"""The time that the watch screen shows."""

from types import SimpleNamespace

from autograder.workspace.background_checker import CheckReply
from autograder.workspace.watch import WatchLoop


def test_watch_shows_how_long_the_check_took_not_how_old_the_save_is():
    session = SimpleNamespace(workspace=None, receive=lambda reply: True, badge_lines=[], internal_errors=[])
    loop = WatchLoop(session, None, no_color=True)
    loop._receive(CheckReply(None, SimpleNamespace(seconds=0.7)))
    assert loop._seconds == 0.7
