"""A server of lesson pages in this process, with pages of a few lines, and a browser that talks to it."""

import threading
from contextlib import closing

import pytest
from starlette.testclient import TestClient
from support.training_page import Page

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.web.serve.access import Access
from autograder.web.serve.app import EventHub, LessonServer
from autograder.web.serve.check_queue import CheckQueue, ServedBackend
from autograder.web.serve.experiments import Experiments
from autograder.workspace.workspace import Workspace

PAGES = {
    "index.html": b"<!doctype html>\n<html>\n<head>\n<title>Course</title>\n</head>\n</html>",
    "assets/lesson.js": b"export {};", "assets/site.css": b"", "assets/icon.svg": b"<svg/>",
}  # fmt: skip


class FakeChecks:
    """Passes every function at once, in the place of the engine."""

    def __init__(self):
        self.cancelled = 0

    def check(self, functions, known, diagnose, in_background=False):
        checks = [CheckResult(f"{name}::a", name, "A", "passed", 2.0, 2.0) for name in functions]
        return SubmissionResult("w", "0" * 64, 0, checks)

    def seconds_left(self, function):
        return 1.0

    def cancel(self):
        self.cancelled += 1


class Server:
    """A server, and what a page of it knows."""

    def __init__(self, folder, checks=None, pages=PAGES, experiments=None):
        self.folder, self.access, self.events = folder, Access(8791), EventHub()
        self.checks = checks or FakeChecks()
        run = experiments and experiments.run
        self.backend = ServedBackend(Workspace.open(folder), self.checks.check, lock=threading.RLock(), run=run)
        parts = (self.backend, self.checks, self.events, self.access, pages)
        self.lessons = LessonServer(*parts, experiments=experiments)
        self.client = self.browser()
        self.client.get(f"/?token={self.access.url_token}")

    def browser(self, host="127.0.0.1"):
        """Return a browser that has not opened the printed address."""
        return TestClient(self.lessons.app, base_url=f"http://{host}:8791", raise_server_exceptions=False)

    @property
    def page_headers(self):
        """The headers that a browser sends with the requests of a page."""
        origin = {"Origin": "http://127.0.0.1:8791", "Sec-Fetch-Site": "same-origin"}
        return {"X-Headway-Token": self.access.api_token, "X-Headway-Page": "page-1", **origin}

    def url(self, path):
        return f"/{self.access.path}/{path}"

    def post(self, action, payload=None, client=None, content=None, **headers):
        """Send a request of a page; `headers` replace its own, None removes one."""
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {**self.page_headers, "Content-Type": "application/json", **changed}
        sent = {name: value for name, value in sent.items() if value is not None}
        options = {"json": payload or {}} if content is None else {"content": content}
        return (client or self.client).post(self.url(f"api/{action}"), headers=sent, **options)

    def reply(self, action, **payload):
        """Return the reply to a request that is answered."""
        response = self.post(action, payload)
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture
def server(folder):
    return Server(folder)


@pytest.fixture
def page(folder):
    """A page that can train."""
    page = Page(folder)
    with closing(page.runs):
        yield page


@pytest.fixture
def experiments(folder):
    runner = Experiments(folder, TRANSFORMER)
    yield runner
    runner.close()


@pytest.fixture
def experiment_server(folder, experiments):
    return Server(folder, experiments=experiments)


@pytest.fixture(scope="module")
def engine_server(shared_folder):
    """A server whose checks are real."""
    failures = []
    queue = CheckQueue(Workspace.open(shared_folder), failures.append)
    yield Server(shared_folder, queue)
    queue.close()
    assert not failures
