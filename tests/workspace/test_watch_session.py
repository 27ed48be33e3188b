"""What is checked after a save, and in which order."""

import pytest
from support.commands import SOFTMAX

from autograder.engine.session import Options, check
from autograder.workspace.background_checker import CheckReply
from autograder.workspace.session import WatchSession
from autograder.workspace.workspace import Workspace

pytestmark = pytest.mark.slow

WRONG = SOFTMAX.replace("/ temperature", "* temperature")


class RecordingChecker:
    """Keeps each request, and answers the latest one when it is asked to."""

    def __init__(self, folder):
        self.requests, self._folder = [], folder

    def submit(self, request):
        self.requests.append(request)

    def cancel_before(self, number): ...

    def reply(self, request):
        options = Options(functions=request.functions, diagnose=request.diagnose)
        return CheckReply(request, check("w", self._folder, options))


@pytest.fixture
def session(folder):
    (folder / "softmax.py").write_text(WRONG, "utf-8")
    return WatchSession(Workspace.open(folder), RecordingChecker(folder))


def last_request(session):
    return session._checker.requests[-1]


def answer(session):
    return session.receive(session._checker.reply(last_request(session)))


def cause(session):
    return session.most_telling_check("softmax.softmax")["mistake"]


def test_verdict_comes_before_the_mistake(session):
    session.begin()
    assert session.checking == ("softmax.softmax",)
    assert not last_request(session).diagnose
    assert answer(session) is True
    assert session.workspace.statuses["softmax.softmax"] == "failed"
    statuses = [check["status"] for check in session.records["softmax.softmax"]]
    assert session.passed_checks_text() == f" {statuses.count('passed')}/{len(statuses)}"
    assert session.points()[0] > 0 == session.points()[1], "what is possible is known when everything was checked"
    assert (session.checking, session.diagnosing, cause(session)) == ((), "softmax.softmax", None)
    assert (last_request(session).functions, last_request(session).diagnose) == (("softmax.softmax",), True)
    assert answer(session) is False
    assert session.diagnosing is None
    assert cause(session)["title"]
    assert not last_request(session).diagnose  # the other functions follow in the background


def test_save_during_the_search_for_a_mistake_is_checked_first(session):
    session.begin()
    answer(session)
    outdated = last_request(session)
    (session.workspace.folder / "softmax.py").write_text(SOFTMAX.replace("x.max", "x.min"), "utf-8")
    session.check_changes()
    assert (session.checking, session.diagnosing) == (("softmax.softmax",), None)
    session.receive(session._checker.reply(outdated))
    assert session.checking == ("softmax.softmax",)
    answer(session)
    assert session.diagnosing == "softmax.softmax"


def test_rereading_unchanged_files_does_not_interrupt_the_search(session):
    session.begin()
    answer(session)
    searching = last_request(session)
    session.check_changes(is_save=False)
    assert (session.diagnosing, last_request(session)) == ("softmax.softmax", searching)
    path = session.workspace.folder / "softmax.py"
    path.write_text(path.read_text("utf-8") + "\n# A comment.\n", "utf-8")
    session.check_changes()
    assert (session.diagnosing, session.checking) == ("softmax.softmax", ())
    assert last_request(session).number > searching.number
    answer(session)
    assert cause(session)["title"]


def test_going_to_a_known_failure_looks_only_for_its_mistake(session):
    session.focus = "tokenizer.build_vocab"
    session.begin()
    answer(session)
    while "softmax.softmax" not in session.records:
        answer(session)
    assert cause(session) is None
    session.go_to("softmax.softmax")
    assert session.checking == ()
    assert last_request(session).diagnose
    answer(session)
    assert cause(session)["title"]


def test_nothing_is_checked_in_the_background_while_a_file_is_broken(folder):
    for name, text in (("softmax", WRONG), ("gpt", "def gpt(")):
        (folder / f"{name}.py").write_text(text, "utf-8")
    session = WatchSession(Workspace.open(folder), RecordingChecker(folder))
    session.focus = "softmax.softmax"
    session.begin()
    answer(session)
    answer(session)
    assert (session.checking, session.diagnosing, session._background) == ((), None, ())
    (folder / "gpt.py").write_text("def gpt(): pass\n", "utf-8")
    session.check_changes()
    answer(session)
    assert session._background
