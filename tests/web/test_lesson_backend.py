"""A lesson page's backend: what each action replies and changes, without a server."""

import base64
import io
import json
import zipfile

import pytest
from support.commands import SOFTMAX
from support.editing import edit, unchanged, zip_bytes
from support.student_notebook import write_functions, write_functions_in_file

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.engine import session as engine
from autograder.errors import UsageError
from autograder.web.serve.check_queue import ServedBackend
from autograder.workspace import create, hints, progress, solutions
from autograder.workspace.experiments import ExperimentRun
from autograder.workspace.workspace import Workspace

SOFT, LOG = "softmax.softmax", "softmax.log_softmax"
STUB = f'raise NotImplementedError("{SOFT}")'


class FakeChecker:
    """Gives every function the same status, and calls `meanwhile` while it checks."""

    def __init__(self):
        self.requests, self.ran, self.status, self.meanwhile = [], [], "passed", lambda: None

    def check(self, functions, known, diagnose):
        self.requests.append((functions, dict(known), diagnose))
        self.meanwhile()
        earned = 2.0 if self.status == "passed" else 0.0
        checks = [CheckResult(f"{name}::a", name, "A", self.status, 2.0, earned) for name in functions]
        return SubmissionResult("w", "0" * 64, 0, checks)

    def run(self, module, name):
        self.ran.append(module)
        return ExperimentRun("", 0.0, "")


@pytest.fixture
def checker():
    return FakeChecker()


@pytest.fixture
def backend(folder, checker):
    return ServedBackend(Workspace.open(folder), checker.check)


def cell_of(backend, function):
    return backend.handle("open", {"module": function.partition(".")[0]})["cells"][function]


def write(backend, function, body):
    """Save a body in place of the stub's last line, and return the reply."""
    cell = cell_of(backend, function)
    text = cell["text"].replace(f'raise NotImplementedError("{function}")', body)
    return backend.handle("save", {"function": function, "text": text, "digest": cell["digest"]})


def test_open_returns_the_cells_and_the_progress(backend):
    reply = backend.handle("open", {"module": "softmax"})
    assert json.loads(json.dumps(reply)) == reply
    assert list(reply["cells"]) == [function.qualified for function in TRANSFORMER.modules["softmax"].functions]
    cell = reply["cells"][SOFT]
    assert cell["text"].startswith("def softmax(") and STUB in cell["text"] and cell["shared_with"] == []
    assert list(reply["statuses"]) == list(TRANSFORMER.functions)
    assert set(reply["statuses"].values()) == {"not_started"}
    assert reply["points"] == {"earned": 0, "possible": 0} and set(reply["hints"].values()) == {0}
    assert (reply["workspace"], reply["module"], reply["notes"]) == ("my-gpt", "softmax", [])


def test_save_writes_the_cell_and_takes_its_status_and_points_away(backend, folder):
    saved = write(backend, SOFT, "return x")
    assert "return x" in (folder / "softmax.py").read_text()
    opened = backend.handle("open", {"module": "softmax"})
    cell = opened["cells"][SOFT]
    assert (cell["digest"], cell["line"], opened["statuses"][SOFT]) == (saved["digest"], saved["line"], None)
    assert backend.handle("check", {"function": SOFT})["points"] == {"earned": 2.0, "possible": 2.0}
    text = cell["text"].replace("return x", "while True: pass")
    reply = backend.handle("save", {"function": SOFT, "text": text, "digest": saved["digest"]})
    assert reply["statuses"][SOFT] is None and reply["points"] == {"earned": 0, "possible": 0}


def test_save_over_another_text_is_a_conflict(backend, folder):
    digest = cell_of(backend, SOFT)["digest"]
    write(backend, SOFT, "return 1")
    with unchanged(folder / "softmax.py"):
        reply = backend.handle("save", {"function": SOFT, "text": "mine", "digest": digest})
    assert "return 1" in reply["conflict"]["text"]
    again = {"function": SOFT, "text": "mine", "digest": reply["conflict"]["digest"]}
    assert "digest" in backend.handle("save", again)


def test_check_records_the_result_and_names_the_next_function(backend, checker):
    write(backend, SOFT, "return x")
    reply = backend.handle("check", {"function": SOFT})
    assert reply["report"]["passed"] and reply["statuses"][SOFT] == "passed"
    following = {"function": LOG, "module": "softmax", "title": TRANSFORMER.modules["softmax"].title}
    assert reply["points"] == {"earned": 2, "possible": 2} and reply["next"] == following
    ((functions, known, diagnose),) = checker.requests
    assert functions == (SOFT,) and known[LOG] == "not_started" and SOFT not in known and diagnose
    assert Workspace.open(backend.workspace.folder).statuses[SOFT] == "passed"


def test_check_of_code_that_changes_meanwhile_is_not_recorded(backend, checker, folder):
    write(backend, SOFT, "return x")
    checker.meanwhile = lambda: edit(folder / "softmax.py", "return x", "return 2 * x")
    reply = backend.handle("check", {"function": SOFT})
    assert reply["statuses"][SOFT] is None
    assert any("during this check" in note for note in reply["report"]["notes"])
    checker.meanwhile = lambda: edit(folder / "softmax.py", "return 2 * x", "return 2 * x  # twice")
    assert backend.handle("check", {"function": SOFT})["statuses"][SOFT] == "passed"


@pytest.mark.slow
def test_engine_names_the_mistake_and_without_diagnosis_the_reply_says_whether_there_is_one(folder):
    backend = ServedBackend(
        Workspace.open(folder),
        lambda functions, _, diagnose: engine.check("w", folder, engine.Options(functions, diagnose=diagnose)),
    )
    request = {"function": SOFT, "diagnose": False}
    stub = (folder / "softmax.py").read_text()
    (folder / "softmax.py").write_text(SOFTMAX.replace("z.sum(axis, keepdims=True)", "z.sum()"))
    reply = backend.handle("check", request)
    assert reply["undiagnosed"] and reply["statuses"][SOFT] == "failed"
    assert not any(card["mistake"] for card in reply["report"]["cards"])
    assert Workspace.open(folder).state.content[progress.CURRENT_FUNCTION] == SOFT
    diagnosed = backend.handle("check", {"function": SOFT})
    assert json.loads(json.dumps(diagnosed)) == diagnosed and not diagnosed["undiagnosed"] and diagnosed["next"] is None
    assert any(card["mistake"] for card in diagnosed["report"]["cards"])
    for text in (SOFTMAX, SOFTMAX + "\nimport missing\n", stub):
        (folder / "softmax.py").write_text(text)
        assert not backend.handle("check", request)["undiagnosed"]


def test_hints_appear_step_by_step_and_are_remembered(backend, folder):
    counts = [len(backend.handle("hint", {"function": SOFT, "more": more})["steps"]) for more in (0, 0, 1, 1, 1)]
    assert counts == [1, 1, 2, 3, 3]
    assert backend.handle("hint", {"function": SOFT, "more": False})["total"] == 3
    assert backend.handle("open", {"module": "softmax"})["hints"][SOFT] == 3
    assert hints.shown_count(Workspace.open(folder).state, SOFT) == 3


def test_reset_restores_the_stub_and_keeps_the_rest(backend, folder):
    stub = (folder / "softmax.py").read_bytes()
    write(backend, LOG, "return 7")
    with_log = (folder / "softmax.py").read_bytes()
    write(backend, SOFT, "return helper(x)\n\n\ndef helper(x):\n    return x")
    both = (folder / "softmax.py").read_bytes()
    reply = backend.handle("reset", {"function": SOFT})
    assert (folder / reply["backup"]).read_bytes() == both
    assert STUB in reply["text"] and "def helper" in reply["text"]
    for broken in ("return (", "'''"):
        (folder / "softmax.py").write_bytes(with_log.replace(STUB.encode(), broken.encode()))
        reply = backend.handle("reset", {"function": SOFT})
        assert (folder / "softmax.py").read_bytes() == with_log
        assert reply["digest"] == cell_of(backend, SOFT)["digest"]
    (folder / "softmax.py").unlink()
    assert backend.handle("reset", {"function": SOFT})["backup"] == ""
    assert (folder / "softmax.py").read_bytes() == stub
    (folder / "softmax.py").write_text('"""Doc."""\n\n# %% [markdown]\n# The end.\n')
    assert backend.handle("reset", {"function": SOFT})["text"].startswith("def softmax(")


def test_solution_follows_the_rules(backend, checker, folder):
    question = backend.handle("solution", {"function": SOFT, "give_up": False})["question"]
    assert "does not pass yet" in question and "recorded" in question
    (folder / solutions.COURSE).write_text('solutions = "after-pass"')
    with pytest.raises(UsageError, match="only after they pass"):
        backend.handle("solution", {"function": SOFT, "give_up": True})
    write(backend, SOFT, "return x")
    assert "np.exp" in backend.handle("solution", {"function": SOFT})["text"]
    assert checker.requests, "an unknown status is checked first"
    (folder / solutions.COURSE).write_text('solutions = "never"')
    with pytest.raises(UsageError, match="disabled"):
        backend.handle("solution", {"function": SOFT})
    (folder / solutions.COURSE).unlink()
    assert backend.handle("solution", {"function": LOG, "give_up": True})["text"]
    assert LOG in Workspace.open(folder).state.section(solutions.GAVE_UP)


@pytest.mark.slow
def test_export_can_be_imported_elsewhere(backend, tmp_path, checker):
    write(backend, SOFT, "return x")
    (backend.workspace.folder / "helper.py").write_text("a = 1\n")
    backend.handle("solution", {"function": LOG, "give_up": True})
    reply = backend.handle("export", {})
    assert reply["name"] == "my-gpt.zip"
    create.create(tmp_path / "other", TRANSFORMER)
    other = ServedBackend(Workspace.open(tmp_path / "other"), checker.check)
    write(other, LOG, "return 'their work'")
    (notes,) = other.handle("import", {"base64": reply["base64"]})["notes"]
    assert "2 files imported; 1" in notes
    for name in ("softmax.py", "helper.py"):
        assert (tmp_path / "other" / name).read_bytes() == (backend.workspace.folder / name).read_bytes()
    assert len(list((tmp_path / "other" / "backups").iterdir())) == 1
    assert LOG in Workspace.open(tmp_path / "other").state.section(solutions.GAVE_UP)


def repack(archive, **changes):
    """Return an archive with some files replaced, and their digests in the manifest."""
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(archive))) as old:
        contents = {name: old.read(name) for name in old.namelist()}
    contents |= {name.replace("__", "."): content for name, content in changes.items()}
    kept = {name: content for name, content in contents.items() if content is not None}
    return base64.b64encode(zip_bytes(kept)).decode()


def test_import_refuses_what_export_did_not_make(backend, folder, tmp_path):
    archive = backend.handle("export", {})["base64"]
    with unchanged(folder):
        for wrong, message in (
            ("?", "did not arrive whole"),
            (base64.b64encode(b"PK").decode(), "not an archive of Headway"),
            (base64.b64encode(base64.b64decode(archive)[:-400]).decode(), "not an archive of Headway"),
            (repack(archive, softmax__py=b"changed"), "softmax.py in the archive was changed"),
            (repack(archive, manifest__json=b'{"schema": "headway.result/1", "files": {}}'), "manifest"),
            (repack(archive, manifest__json=b'{"schema": "headway.submission/1", "files": []}'), "manifest"),
            (repack(archive, manifest__json=None), "not an archive of Headway"),
        ):
            with pytest.raises(UsageError, match=message):
                backend.handle("import", {"base64": wrong})
    more = repack(archive, **{"../../evil__py": b"x", "not a name__py": b"x"})
    notes = backend.handle("import", {"base64": more})["notes"]
    assert len(notes) == 3 and "0 files imported" in notes[0]
    assert not list(tmp_path.rglob("evil.py")) and not list(folder.glob("not a*"))


@pytest.mark.slow
def test_links_are_neither_read_nor_written(backend, folder, tmp_path):
    archive = backend.handle("export", {})["base64"]
    outside = tmp_path / "outside.py"
    outside.write_text((folder / "softmax.py").read_text())
    digest = cell_of(backend, SOFT)["digest"]
    (folder / "softmax.py").unlink()
    (folder / "softmax.py").symlink_to(outside)
    before = outside.read_bytes()
    for action, payload in (
        ("open", {"module": "softmax"}),
        ("save", {"function": SOFT, "text": "x", "digest": digest}),
        ("check", {"function": SOFT}),
        ("reset", {"function": SOFT}),
        ("export", {}),
        ("import", {"base64": archive}),
    ):
        with pytest.raises(UsageError, match="link"):
            backend.handle(action, payload)
    assert outside.read_bytes() == before
    (folder / "softmax.py").unlink()
    (folder / "softmax.py").write_bytes(before)
    (tmp_path / "elsewhere").mkdir()
    (folder / "backups").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="backups/ is a link"):
        backend.handle("reset", {"function": SOFT})
    assert not list((tmp_path / "elsewhere").iterdir())


def test_export_refuses_two_versions_and_a_notebook_that_is_a_link(backend, folder, tmp_path):
    notebook, outside = folder / "notebooks" / "softmax.ipynb", tmp_path / "outside.ipynb"
    write_functions(notebook, "softmax")
    write_functions_in_file(folder / "softmax.py", "log_softmax")
    with pytest.raises(UsageError, match="nothing was packed"):
        backend.handle("export", {})
    notebook.rename(outside)
    notebook.symlink_to(outside)
    with pytest.raises(UsageError, match="is a link"):
        backend.handle("export", {})


RUN = {"module": "softmax", "name": ""}


@pytest.mark.parametrize(("linked", "action", "payload"), [
    ("softmax.py", "run", RUN), ("softmax.py", "run", RUN | {"module": "attention"}), ("helper.py", "run", RUN),
    ("softmax.py", "check", {"function": LOG}), ("softmax.py", "check", {"function": "layernorm.layernorm"}),
    ("softmax.py", "draw", {"name": "temperature"}),
])  # fmt: skip
def test_backend_with_a_linked_module_or_helper_runs_nothing(folder, checker, tmp_path, linked, action, payload):
    (tmp_path / "outside.py").write_bytes((folder / "softmax.py").read_bytes())
    (folder / linked).unlink(missing_ok=True)
    (folder / linked).symlink_to(tmp_path / "outside.py")
    backend = ServedBackend(Workspace.open(folder, follow_links=False), checker.check, run=checker.run)
    with pytest.raises(UsageError, match=rf"{linked} is a link"):
        backend.handle(action, payload)
    assert not backend.check_next_unknown(checker.check)
    assert (checker.ran, checker.requests) == ([], [])
    if linked == "helper.py":
        (folder / linked).unlink()
        backend.handle(action, payload)
        assert checker.ran == ["softmax"]


@pytest.mark.parametrize("linked", ["helper.py", "notebooks/softmax.ipynb", "notebooks", ".headway.json"])
def test_backend_reads_no_linked_file(folder, checker, tmp_path, linked):
    outside, path = tmp_path / "outside", folder / linked
    write_functions(folder / "notebooks" / "softmax.ipynb", "softmax")
    if linked == ".headway.json":
        outside.write_text(json.dumps({"hints": {SOFT: 3}}))
        path.unlink()
    elif linked == "helper.py":
        outside.write_text("x = 1\n")
    else:
        path.rename(outside)
    path.symlink_to(outside)
    backend = ServedBackend(Workspace.open(folder, follow_links=False), checker.check)
    opened = backend.handle("open", {"module": "softmax"})
    assert "helper" not in backend.workspace.snapshot.modules
    assert ("softmax" in backend.workspace.notebook_modules) == ("notebooks" not in linked)
    assert opened["hints"][SOFT] == 0


def test_changes_reports_files_changed_outside(backend, folder):
    assert backend.changes() == []
    edit(folder / "softmax.py", STUB, "return 3")
    changed, statuses = backend.changes()
    assert (changed["event"], changed["module"], statuses["event"]) == ("changed", "softmax", "statuses")
    assert "return 3" in changed["cells"][SOFT]["text"] and changed["statuses"][SOFT] is None
    assert backend.changes() == []
    (folder / "softmax.py").unlink()
    changed = backend.changes()[0]
    assert changed["cells"] == {} and "no such file" in changed["notes"][0]


def test_check_next_unknown_checks_each_version_once(backend, checker, folder):
    assert not backend.check_next_unknown(checker.check)
    for function, module in ((SOFT, "softmax"), (LOG, "softmax"), ("tokenizer.build_vocab", "tokenizer")):
        edit(folder / f"{module}.py", f'raise NotImplementedError("{function}")', "return x")
    assert backend.check_next_unknown(checker.check) and backend.check_next_unknown(checker.check)
    assert [functions for functions, _, _ in checker.requests] == [("tokenizer.build_vocab",), (SOFT, LOG)]
    assert not any(diagnose for _, _, diagnose in checker.requests)
    assert not backend.check_next_unknown(checker.check)
    checker.meanwhile = lambda: edit(folder / "softmax.py", "return x - 1", "return x - 2")
    edit(folder / "softmax.py", "return x", "return x - 1")
    assert backend.check_next_unknown(checker.check)
    (folder / "ffn.py").write_text("def (")
    assert not backend.check_next_unknown(checker.check)


def test_check_next_unknown_waits_for_what_is_being_written(backend, checker):
    write(backend, SOFT, "return x")
    write(backend, "softmax.softmax_backward", "return dout")
    assert not backend.check_next_unknown(checker.check)
    for function in (SOFT, "softmax.softmax_backward"):
        backend.handle("check", {"function": function})
        assert not backend.check_next_unknown(checker.check)


@pytest.mark.parametrize(("action", "payload"), [
    ("open", {"module": "../softmax"}), ("open", {"module": ["softmax"]}), ("open", []),
    ("__init__", {}), ("save", {"function": SOFT}), ("save", {"function": "os.system", "text": "", "digest": ""}),
    ("check", {"function": "softmax"}), ("hint", {"function": "../../etc/passwd"}), ("import", {"base64": 7}),
])  # fmt: skip
def test_wrong_requests_are_refused_in_one_line(backend, action, payload):
    with pytest.raises(UsageError, match=r"^[^\n]*Reload") as refusal:
        backend.handle(action, payload)
    assert "passwd" not in str(refusal.value)


def test_plots_are_drawn_by_the_functions_in_the_files(backend):
    [first, _] = backend.handle("plots", {"module": "softmax"})["plots"]
    with pytest.raises(UsageError, match=r"softmax\.softmax, which is"):
        backend.handle("draw", {"name": first["name"]})
    write(backend, SOFT, "return x * 0 + 0.125")
    plot = backend.handle("draw", {"name": first["name"]})["plot"]
    assert {height for panel in plot["panels"] for height in panel["series"][0]["y"]} == {0.125}
    assert backend.handle("plots", {"module": "gpt2"}) == {"plots": []}


def test_notebook_that_counts_is_only_shown_until_it_is_copied_into_the_file(folder, backend):
    write_functions(folder / "notebooks" / "softmax.ipynb", "softmax")
    with unchanged(folder / "softmax.py"):
        opened = backend.open({"module": "softmax"})
        assert opened["notebook"] is True and "notebooks/softmax.ipynb" in opened["notes"][0]
        cell = opened["cells"][SOFT]
        assert cell["text"].startswith("# notebooks/softmax.ipynb counts") and "NotImplementedError" not in cell["text"]
        for request in (backend.save, backend.reset):
            with pytest.raises(UsageError, match="headway copy softmax --to file"):
                request({"function": SOFT, "text": "x = 1", "digest": cell["digest"]})
    assert "NotImplementedError" in (folder / backend.handle("copy", {"module": "softmax"})["backup"]).read_text()
    opened = backend.open({"module": "softmax"})
    cell = opened["cells"][SOFT]
    assert opened["notebook"] is False and "NotImplementedError" not in cell["text"]
    assert backend.save({"function": SOFT, "text": cell["text"] + "  # mine", "digest": cell["digest"]})
    with pytest.raises(UsageError, match="nothing is written in the notebook of attention"):
        backend.handle("copy", {"module": "attention"})
