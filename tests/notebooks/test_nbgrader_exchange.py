"""A class in nbgrader's exchange: released, submitted, collected, graded by Headway, shown by formgrader, returned.

Every step is nbgrader's own code; formgrader is its extension in a Jupyter server.
"""

import datetime
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.commands import run_program
from support.nbgrader_class import environment
from support.paths import TESTS
from support.reading import students_of
from support.waiting import wait_until

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.drawn(20),
    # It is imported when a test needs it: that takes seconds.
    pytest.mark.skipif(find_spec("nbgrader") is None, reason="nbgrader is not installed"),
]

TOKEN = "exchange"
POLICY = """
bonus = "cap"
[late]
penalty_per_day = 0.1
[assignments.softmax]
due = {yesterday}
points = 40
[assignments.softmax.functions]
log_softmax = 8
[assignments.layernorm]
[[exceptions]]
student = "ada"
assignment = "softmax"
due = {tomorrow}
reason = "ill"
"""


class Term:
    """The course after grading, and formgrader.

    ada submitted both assignments, softmax late, but with an extension; bo submitted only softmax, late and with a
    mistake.
    """

    def __init__(self, folder):
        self.course, self.exchange = folder / "course", folder / "exchange"
        self._environment = environment(folder / "cache") | {"JUPYTER_NO_CONFIG": "1"}
        self._environment["PYTHONPATH"] += f"{os.pathsep}{TESTS}"
        self.exchange.mkdir()
        names = ("--assignment", "softmax", "--assignment", "layernorm")
        self._run("-m", "autograder.cli", "release", self.course, "--format", "nbgrader", "--seed", "7", *names)
        with open(self.course / "nbgrader_config.py", "a") as settings:
            settings.write(f"c.Exchange.root = {str(self.exchange)!r}\n")
        now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
        day = datetime.timedelta(days=1)
        policy = POLICY.format(yesterday=(now - day / 2).isoformat(), tomorrow=(now + day).isoformat())
        (self.course / "course.toml").write_text(policy)
        # A socket, because another process may take a port before the server has it.
        self._sockets = tempfile.TemporaryDirectory(prefix="formgrader-")
        self._socket = f"{self._sockets.name}/socket"
        self._log = open(folder / "server.log", "w")  # noqa: SIM115 (closed in `stop`)
        extension = "{'nbgrader.server_extensions.formgrader': True}"
        command = [
            sys.executable, "-m", "jupyter_server", f"--sock={self._socket}", "--no-browser", "--allow-root",
            f"--ServerApp.root_dir={self.course}", f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.jpserver_extensions={extension}",
        ]  # fmt: skip
        streams = {"stdout": self._log, "stderr": self._log}
        self._server = subprocess.Popen(command, cwd=self.course, env=self._environment, **streams)
        try:
            students = ("ada=softmax,layernorm", "bo=softmax:wrong")
            self._run("-m", "support.nbgrader_exchange", self.exchange, folder / "students", *students)
            grade = ("grade", "submitted", "--out", "results", "--nbgrader", ".")
            self._run("-m", "autograder.cli", *grade, *names)
            wait_until(lambda: self._answers("api/status"), seconds=120)
        except BaseException:
            self.stop()
            raise
        self.grades = {student["name"]: student["assignments"] for student in students_of(self.course / "results")}

    def _run(self, *command):
        where = self.course if self.course.is_dir() else None
        return run_program(sys.executable, *command, cwd=where, env=self._environment, timeout=300).stdout

    def stop(self):
        self._server.terminate()
        self._server.wait(30)
        self._log.close()
        self._sockets.cleanup()

    def formgrader(self, path, method="GET"):
        """The body of one of formgrader's pages."""
        connection = http.client.HTTPConnection("localhost")
        with socket.socket(socket.AF_UNIX) as connection.sock:
            connection.sock.settimeout(120)
            connection.sock.connect(self._socket)
            connection.request(method, f"/formgrader/{path}", headers={"Authorization": f"token {TOKEN}"})
            answer = connection.getresponse()
            text = answer.read().decode("utf-8")
        assert answer.status == 200, (answer.status, text)
        return text

    def _answers(self, path):
        assert self._server.poll() is None, Path(self._log.name).read_text()
        try:
            return bool(self.formgrader(path))
        except OSError:
            return False


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    made = Term(tmp_path_factory.mktemp("exchange"))
    yield made
    made.stop()


def test_formgrader_shows_the_points_of_the_policy(term):
    rows = {row["student"]: row for row in json.loads(term.formgrader("api/submissions/softmax"))}
    assert set(rows) == {"ada", "bo"}
    for student, row in rows.items():
        grade = term.grades[student]["softmax"]
        assert row["max_score"] == grade["possible"] == 40
        assert row["score"] == pytest.approx(grade["earned"], abs=1e-4)
        assert row["autograded"] and not row["needs_manual_grade"]
    assert rows["ada"]["score"] == 40 > rows["bo"]["score"] > 0
    (layernorm,) = json.loads(term.formgrader("api/submissions/layernorm"))
    grade = term.grades["ada"]["layernorm"]
    assert grade["earned"] > grade["possible"] == layernorm["score"] == layernorm["max_score"], "bonus is capped"


def test_formgrader_has_no_row_for_work_that_was_not_submitted(term):
    assert [row["student"] for row in json.loads(term.formgrader("api/submissions/layernorm"))] == ["ada"]
    row = json.loads(term.formgrader("api/submission/layernorm/bo"))
    assert row["id"] is None and not row["submitted"] and not row["autograded"]
    assert not (term.course / "autograded" / "bo" / "layernorm").exists()
    for page in ("manage_students/bo", "manage_submissions/layernorm", "gradebook/layernorm"):
        assert "Error" not in term.formgrader(page), page


def test_formgrader_page_shows_the_report(term):
    rows = json.loads(term.formgrader("api/submitted_notebooks/softmax/softmax"))
    (bo,) = (row["id"] for row in rows if row["student"] == "bo")
    assert "multiplied by the temperature" in re.sub(r"<[^>]*>", "", term.formgrader(f"submissions/{bo}/?index=0"))


def test_feedback_returns_with_the_late_penalty(term):
    grade = term.grades["bo"]["softmax"]
    assert grade["late_days"] == 1 and grade["penalty"] > 0 == term.grades["ada"]["softmax"]["penalty"]
    for step in ("generate_feedback", "release_feedback"):
        done = json.loads(term.formgrader(f"api/assignment/softmax/{step}", "POST"))
        assert done["success"], done
    released = list((term.exchange / "headway" / "feedback").glob("*.html"))
    assert len(released) == 2
    texts = [re.sub(r"<[^>]*>", "", path.read_text("utf-8")) for path in released]
    (text,) = (text for text in texts if "multiplied by the temperature" in text)
    shown = re.search(r"\(Score: ([\d.]+) / 40", text)
    assert shown and float(shown[1]) == pytest.approx(grade["score"], abs=0.06)
