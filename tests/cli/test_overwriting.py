"""No command overwrites somebody's work unasked: what each of them writes, and what it refuses to replace."""

import shutil
from types import SimpleNamespace

import pytest
from support.commands import invoke, refusal, succeed
from support.student_notebook import write_functions

from autograder.core.output_files import RECORD
from autograder.errors import UsageError
from autograder.models.pretrained import importing

pytestmark = pytest.mark.slow

WORK = "somebody's work"


def refused(done, path, content=WORK):
    """Whether a command refused to replace a file with this content, and offered --force or another name."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert path.read_text() == content
    return "Name another" in done.stderr


def train(folder, *arguments):
    return invoke("train", "--solution", "--preset", "bigram", "--data", "synthetic", *arguments, cwd=folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("trained")
    assert train(folder, "--steps", 2).returncode == 0
    return folder


def test_train_refuses_an_existing_checkpoint(trained, tmp_path):
    folder = shutil.copytree(trained, tmp_path / "runs")
    path = folder / "model.safetensors"
    before = path.read_bytes()
    done = train(folder, "--steps", 1)
    assert done.returncode == 2 and "2 steps. --resume" in done.stderr
    assert "--force replaces it" in done.stderr
    assert path.read_bytes() == before
    succeed("train", "--solution", "--resume", "--steps", 3, cwd=folder)
    assert train(folder, "--steps", 1, "--force").returncode == 0
    assert path.read_bytes() != before


def test_train_refuses_other_files_and_pictures(trained, tmp_path):
    folder = shutil.copytree(trained, tmp_path / "runs")
    (folder / "notes.txt").write_text(WORK)
    assert refused(train(folder, "--steps", 1, "--out", "notes.txt"), folder / "notes.txt")
    (folder / "new.png").write_text(WORK)
    assert refused(train(folder, "--steps", 1, "--out", "new.safetensors"), folder / "new.png")
    assert not (folder / "new.safetensors").exists()


@pytest.mark.parametrize(("command", "file"), [
    *((f"plot softmax-temperatures --solution --out p.{kind}", f"p.{kind}") for kind in ("png", "svg", "pdf")),
    ("submit tokenizer --out ada.zip", "ada.zip"), ("release out --format stubs", "out/numpy_warmup.py"),
])  # fmt: skip
def test_command_replaces_only_what_it_wrote(folder, command, file):
    if command.startswith("plot"):
        pytest.importorskip("matplotlib")
    for _ in range(2):
        assert invoke(*command.split(), cwd=folder).returncode == 0
    path = folder / file
    begins = path.read_bytes()[:4]
    path.write_text(WORK)
    assert refused(invoke(*command.split(), cwd=folder), path)
    assert invoke(*command.split(), "--force", cwd=folder).returncode == 0
    assert path.read_bytes()[:4] == begins != WORK.encode()[:4]


def test_submit_refuses_to_replace_the_archive_of_another_name(folder):
    submit = ("submit", "tokenizer", "--out", "work.zip")
    assert invoke(*submit, cwd=folder).returncode == 0
    assert "--force" in refusal(*submit, "--name", "ben", cwd=folder)
    assert "--out work.zip" in refusal("submit", "--out", "work.tar", cwd=folder)
    succeed("submit", "tokenizer", "--name", "Ben/Ö", cwd=folder)
    assert (folder / "Ben-Ö.zip").is_file()


@pytest.mark.parametrize("option", ["--json", "--markdown", "--junit"])
def test_check_replaces_only_its_own_results(folder, option):
    path = folder / "softmax.py"
    before = path.read_text()
    assert refused(invoke("check", "tokenizer", option, path, cwd=folder), path, before)
    results = folder / "results.json"
    for _ in range(2):
        assert invoke("check", "tokenizer", option, results, cwd=folder).returncode == 1
    results.write_text('{"name": "a-package"}')
    assert refused(invoke("check", "tokenizer", option, results, cwd=folder), results, '{"name": "a-package"}')
    assert refused(invoke("runs", "--json", results, cwd=folder), results, '{"name": "a-package"}')


def test_import_model_refuses_an_existing_file(trained, tmp_path):
    model = SimpleNamespace(tensors={"wte": SimpleNamespace(path=tmp_path / "gpt2" / "model.safetensors")})
    with pytest.raises(UsageError, match=r"on synthetic, 2 steps.*--force"):
        importing.require_new_file(trained / "model.safetensors", model, False)
    importing.require_new_file(trained / "model.safetensors", model, True)
    importing.require_new_file(tmp_path / "new.safetensors", model, False)
    with pytest.raises(UsageError, match="files to import"):
        importing.require_new_file(tmp_path / "gpt2" / "model.safetensors", model, True)


def test_release_keeps_notebooks_with_work(tmp_path):
    pytest.importorskip("jupytext")
    release = ("release", tmp_path, "--format", "notebooks", "--assignment", "softmax")
    assert invoke(*release).returncode == 0
    assert invoke(*release).returncode == 0
    write_functions(tmp_path / "softmax.ipynb", "softmax")
    worked = (tmp_path / "softmax.ipynb").read_text()
    for extra in ((), ("--force",)):
        assert refused(invoke(*release, *extra), tmp_path / "softmax.ipynb", worked)


def test_site_replaces_only_its_own_pages(tmp_path):
    site = ("site", "--out", tmp_path, "--no-checks", "--repository", "https://example.org/headway")
    page = tmp_path / "index.html"
    page.write_text(WORK)
    assert refused(invoke(*site), page)
    assert not (tmp_path / RECORD).exists()
    page.unlink()
    for _ in range(2):
        assert invoke(*site).returncode == 0
    assert 'href="https://example.org/headway/' in (tmp_path / "security.html").read_text()
    page.write_text(WORK)
    assert "was changed after" in invoke(*site).stderr
    assert invoke(*site, "--force").returncode == 0
