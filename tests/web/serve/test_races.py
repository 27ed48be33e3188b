"""Two tabs, an editor beside a page, and a workspace that changes while a request is answered."""

import os
import shutil
import threading
from types import SimpleNamespace

import pytest
from support.editing import unchanged

from autograder.models.page import runs as training_runs
from autograder.workspace.file_cells import FileCells

SOFT, LOG = "softmax.softmax", "softmax.log_softmax"
STATE = ".headway.json"


@pytest.fixture
def save(server):
    cells = server.reply("open", module="softmax")["cells"]

    def save(line, function=SOFT):
        cell = cells[function]
        return server.post("save", {"function": function, "text": cell["text"] + line, "digest": cell["digest"]})

    return save


def at_once(*actions):
    """Return what each action returns; all begin at the same time."""
    barrier, results = threading.Barrier(len(actions)), {}

    def run(number):
        barrier.wait()
        results[number] = actions[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[number] for number in range(len(actions))]


def before_each_write(monkeypatch, act):
    """Let `act` run after a cell's file was read and before it is written."""
    overwrite = FileCells.overwrite
    monkeypatch.setattr(FileCells, "overwrite", lambda self, *rest: (act(), overwrite(self, *rest))[1])


@pytest.mark.slow
def test_tabs_that_save_one_function_at_once_one_wins(server, save):
    replies = [response.json() for response in at_once(*(lambda n=n: save(f"\n# tab {n}") for n in range(8)))]
    assert sum("digest" in reply for reply in replies) == 1
    assert sum("conflict" in reply for reply in replies) == 7
    assert (server.folder / "softmax.py").read_text().count("# tab") == 1


def test_tabs_that_save_two_functions_at_once_both_win(server, save):
    replies = at_once(lambda: save("\n# one"), lambda: save("\n# two", LOG))
    assert all("digest" in response.json() for response in replies)
    text = (server.folder / "softmax.py").read_text()
    assert "# one" in text and "# two" in text


def test_save_of_an_editor_at_the_same_time_is_kept(server, save, monkeypatch):
    path, edits = server.folder / "softmax.py", iter(["\n# by the editor\n"])
    before_each_write(monkeypatch, lambda: path.write_text(path.read_text() + next(edits, "")))
    assert "digest" in save("\n# by the page").json()
    text = path.read_text()
    assert "# by the editor" in text and "# by the page" in text


@pytest.mark.slow
def test_file_that_changes_all_the_time_is_not_overwritten(server, save, monkeypatch):
    path = server.folder / "softmax.py"
    before_each_write(monkeypatch, lambda: path.write_text(path.read_text() + "\n# by the editor\n"))
    refused = save("\n# by the page")
    assert refused.status_code == 400 and "another program" in refused.json()["error"]
    assert "# by the page" not in path.read_text()


def test_file_replaced_by_a_link_meanwhile_is_not_followed(server, save, monkeypatch, tmp_path):
    path, outside = server.folder / "softmax.py", tmp_path / "outside.py"
    outside.write_text("x = 1\n")

    def replace():
        path.unlink()
        path.symlink_to(outside)

    before_each_write(monkeypatch, replace)
    assert save("\n# by the page").status_code == 400
    assert outside.read_text() == "x = 1\n" and path.is_symlink()


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "between", "during a check"])
def test_deleted_workspace_is_not_created_again(server, save, monkeypatch, moment):
    def delete(*_):
        shutil.rmtree(server.folder, ignore_errors=True)

    if moment == "before":
        delete()
        requests = {"hint": {"function": SOFT}, "reset": {"function": SOFT}, "export": {}, "check": {"function": SOFT}}
        for action, payload in requests.items():
            assert server.post(action, payload).status_code == 400
        assert server.reply("cancel") == {}
    elif moment == "between":
        before_each_write(monkeypatch, delete)
        assert save("\n# by the page").status_code == 400
    else:
        check = server.checks.check
        monkeypatch.setattr(server.backend, "_check_functions", lambda *arguments: (delete(), check(*arguments))[1])
        server.post("check", {"function": SOFT})
    assert not server.folder.exists()


@pytest.mark.slow
def test_workspace_replaced_by_a_link_is_neither_read_nor_written(server, save, new_workspace, tmp_path):
    other = new_workspace(tmp_path / "other")
    archive = server.reply("export")["base64"]
    with unchanged(other):
        server.folder.rename(tmp_path / "moved")
        server.folder.symlink_to(other)
        responses = [save("\n# by the page"), server.post("import", {"base64": archive}), server.post("export")]
        requests = {"open": {"module": "softmax"}, "reset": {"function": SOFT}, "hint": {"function": SOFT, "more": 1}}
        responses += [server.post(action, payload) for action, payload in requests.items()]
        assert [response.status_code for response in responses] == [400] * 6


@pytest.mark.parametrize("kind", ["pipe", "link", "loop", "device"])
def test_state_file_of_another_kind_is_replaced(server, tmp_path, kind):
    state, outside = server.folder / STATE, tmp_path / "outside.json"
    outside.write_text("{}")
    state.unlink()
    if kind == "pipe":
        os.mkfifo(state)
    else:
        state.symlink_to({"link": outside, "loop": state, "device": "/dev/zero"}[kind])
    for action, payload in {"open": {"module": "softmax"}, "hint": {"function": SOFT}}.items():
        assert server.post(action, payload).status_code == 200
    assert state.is_file() and not state.is_symlink()
    assert outside.read_text() == "{}"


def test_background_checks_go_on_after_an_error_of_the_disk(server, monkeypatch):
    calls = []

    def fail(checker):
        calls.append(checker)
        if len(calls) == 2:
            server.lessons.close()
            return False
        server.lessons._is_idle.set()
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(server.backend, "check_next_unknown", fail)
    server.lessons._is_idle.set()
    server.lessons.check_in_background()
    assert len(calls) == 2


@pytest.fixture
def runs(tmp_path):
    # A training process that neither begins nor ends.
    return training_runs.TrainingRuns(tmp_path, print, lambda job, on_record: SimpleNamespace(job=job))


def test_runs_that_start_at_once_are_one(runs):
    def start():
        try:
            return runs.train({"preset": "bigram", "solution": True})
        except training_runs.UsageError as error:
            return str(error)

    replies = at_once(*[start] * 8)
    assert [reply["run"] for reply in replies if isinstance(reply, dict)] == [1]
    assert all("a run is in progress" in reply for reply in replies if isinstance(reply, str))


def test_checkpoint_that_appears_while_a_run_starts_is_a_conflict(runs, tmp_path, monkeypatch):
    def write(dataset):
        (tmp_path / "model.safetensors").write_bytes(b"another run")
        return True

    monkeypatch.setattr(training_runs.datasets, "is_available", write)
    assert "conflict" in runs.train({"preset": "bigram", "solution": True})
