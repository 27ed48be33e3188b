"""Notebooks generated from the solutions, and checks in running notebooks."""

import functools
import json
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from support.commands import SOFTMAX, refusal, run_program, succeed
from support.editing import write_files
from support.nbgrader_class import environment
from support.paths import TESTS

from autograder.course.stubs import EXPERIMENT, bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import HeadwayError
from autograder.models.plot_data import PLOTS
from autograder.notebooks import cells, nbgrader_course, running_notebook, student_notebooks

pytestmark = pytest.mark.notebook

MODULES = list(TRANSFORMER.modules)
RUN = TESTS / "support" / "run_notebooks.py"


def run(*arguments):
    """Run notebooks; with "--validate", also nbgrader's validator."""
    return json.loads(run_program(sys.executable, RUN, *arguments, timeout=1200).stdout)


def texts(cell):
    """The outputs of a cell as plain text."""
    return [o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell["outputs"]]


def student_notebook(module):
    return nbformat.read(bundled("assignments") / "notebooks" / f"{module}.ipynb", as_version=4)


@pytest.fixture(scope="module", autouse=True)
def _solutions_checked_once():
    """Check the solutions for their points once, not for every course that is made here."""
    possible_points = functools.cache(lambda path, check=nbgrader_course.possible_points: check(path, TRANSFORMER))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nbgrader_course, "possible_points", lambda solutions, curriculum: possible_points(solutions))
        yield


@pytest.fixture(scope="module")
def made(solutions):
    """The files of a course with public inputs only, as text by name."""
    return nbgrader_course.course_files(solutions, TRANSFORMER, "official", 0)


@pytest.mark.drawn(1)
def test_student_notebooks_match_the_solutions(solutions):
    generated = student_notebooks.student_notebooks(solutions, TRANSFORMER)
    folder = bundled("assignments") / "notebooks"
    assert {path.name for path in folder.iterdir()} == set(generated)
    for name, text in generated.items():
        assert (folder / name).read_text("utf-8") == text, f"{name}: make stubs"


@pytest.mark.parametrize("module", MODULES)
def test_student_notebook_has_stubs_checks_and_no_output(module):
    notebook = student_notebook(module)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert code[0].source == "from autograder.notebooks.api import check, hint, progress, solution"
    sources = [cell.source for cell in code]
    for function in TRANSFORMER.modules[module].functions:
        (at,) = (i for i, text in enumerate(sources) if f'NotImplementedError("{function.qualified}")' in text)
        assert f"check({function.name})" in sources[at + 1 :]
    assert sum(cell.cell_type == "markdown" for cell in notebook.cells) >= 2


@pytest.mark.parametrize("module", MODULES)
def test_plot_stands_after_the_functions_it_draws(made, module):
    for notebook in (student_notebook(module), nbformat.reads(made[f"source/{module}/{module}.ipynb"], as_version=4)):
        sources = [cell.source for cell in notebook.cells]
        shows = [i for i, text in enumerate(sources) if re.search(r'(?m)^show\("', text)]
        assert all("import show" in sources[i] for i in shows[:1])
        for i in shows:
            needs = PLOTS[re.search(r'show\("([\w-]+)"', sources[i])[1]].needs
            names = [name.partition(".")[2] for name in needs if name.startswith(f"{module}.")]
            assert not any(re.search(rf"(?m)^def {name}\(", text) for name in names for text in sources[i:])


@pytest.mark.parametrize("module", MODULES)
def test_experiment_is_unlocked_and_its_results_are_folded(made, module):
    student = student_notebook(module)
    for notebook in (student, nbformat.reads(made[f"source/{module}/{module}.ipynb"], as_version=4)):
        (at,) = (i for i, cell in enumerate(notebook.cells) if cell.source.startswith("## Try it\n"))
        tried, out, answers = notebook.cells[at + 1 : at + 4]
        assert tried.cell_type == "code" and EXPERIMENT not in tried.source
        assert "nbgrader" not in tried.metadata, "neither locked nor graded"
        assert (notebook is not student) == (tried.metadata.get("tags") == ["skip-execution"])
        compile(tried.source, module, "exec")
        for cell, heading in ((out, "What came out"), (answers, "Answers")):
            assert cell.source.startswith(f"<details>\n<summary><b>{heading}</b></summary>\n\n")
            assert cell.source.endswith("\n\n</details>")


@pytest.mark.parametrize("module", MODULES)
def test_instructor_notebook_is_valid_for_nbgrader(made, module):
    from nbgrader.nbgraderformat.v3 import MetadataValidatorV3

    notebook = nbformat.reads(made[f"source/{module}/{module}.ipynb"], as_version=4)
    MetadataValidatorV3().validate_nb(notebook)
    graded = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")}
    assert set(graded) == {function.name for function in TRANSFORMER.modules[module].functions}
    for function in TRANSFORMER.modules[module].functions:
        assert (graded[function.name].metadata.nbgrader.points == 0) == function.bonus
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_picture_is_escaped_and_embedded_as_a_cell_of_its_own_or_in_its_block():
    text, figures = '![a "b"\n<c>](figures/x.svg)', {"figures/x.svg": "<svg/>"}
    image = '<img alt="a &quot;b&quot; &lt;c&gt;" src="data:image/svg+xml;base64,PHN2Zy8+">'
    assert [cell["source"] for cell in cells.lesson(f"one\n{text}\ntwo", figures)] == ["one", image, "two"]
    assert [cell["source"] for cell in cells.lesson(f"<details>{text}", figures)] == [f"<details>{image}"]
    with pytest.raises(HeadwayError, match=r"figures/x\.svg, which does not exist"):
        cells.lesson(text, {})


def test_generated_course_is_reproducible(solutions, made):
    assert nbgrader_course.course_files(solutions, TRANSFORMER, "official", 0) == made


@pytest.mark.drawn(1)
def test_instructor_notebooks_run_and_earn_all_points(made, tmp_path, drawing):
    write_files(tmp_path, made)
    paths = [tmp_path / "source" / module / f"{module}.ipynb" for module in drawing.some(MODULES, 2)]
    processes = min(4, os.cpu_count() or 1, len(paths))
    with ThreadPoolExecutor(processes) as pool:
        parts = pool.map(lambda part: run("--validate", *paths[part::processes]), range(processes))
        found = {name: executed for part in parts for name, executed in part.items()}
    assert len(found) == len(paths)
    for name, executed in found.items():
        assert executed["verdict"] == {}, name
        for cell in executed["cells"]:
            kinds = [(o["output_type"], o.get("name")) for o in cell["outputs"]]
            assert ("error", None) not in kinds, (name, cell)
            assert ("stream", "stderr") not in kinds, (name, cell)
            if cell["nbgrader"].get("grade"):
                value = float(cell["outputs"][-1]["data"]["text/plain"])
                assert value == cell["nbgrader"]["points"], (name, texts(cell))


def release(folder, *options):
    return succeed("release", folder, "--format", "nbgrader", *options).stdout


def test_file_that_is_the_new_version_already_is_not_kept_back(tmp_path):
    nbgrader_course.write_release(tmp_path, dict.fromkeys(("a.py", "b.py", "c.py"), "old"), 0)
    for name, text in (("a.py", "new"), ("b.py", "mine")):
        (tmp_path / name).write_text(text)
    done = nbgrader_course.write_release(tmp_path, dict.fromkeys(("a.py", "b.py", "c.py"), "new"), 0)
    assert (done.written, done.kept) == (["a.py", "c.py"], ["b.py"])
    assert [path.read_text() for path in sorted(tmp_path.glob("*.py"))] == ["new", "mine", "new"]


def test_release_again_keeps_changed_files(made, tmp_path):
    nbgrader_course.write_release(tmp_path, made, 0)
    record = (tmp_path / nbgrader_course.MANIFEST).read_text()
    for untouched in ("submitted", "gradebook.db"):
        (tmp_path / untouched).write_text("the instructor's")
    edited, saved = (tmp_path / "source" / name / f"{name}.ipynb" for name in ("softmax", "attention"))
    fresh = edited.read_text()
    notebook = json.loads(fresh)
    notebook["cells"][0]["source"] = ["# My own lesson"]
    edited.write_text(json.dumps(notebook))
    ran = json.loads(saved.read_text())
    ran["metadata"]["language_info"]["version"] = "3.12"  # what Jupyter changes when somebody only runs it
    next(cell for cell in ran["cells"] if cell["cell_type"] == "code")["execution_count"] = 1
    saved.write_text(json.dumps(ran))
    (tmp_path / "source" / "gpt" / "own.py").write_text("mine")

    said = release(tmp_path, "--prerequisites", "none")
    assert edited.read_text() == json.dumps(notebook)
    assert f"kept {edited}" in said
    assert json.loads(saved.read_text())["cells"][1].get("execution_count") is None
    assert {path.name for path in (tmp_path / "source" / "gpt").iterdir()} == {"gpt.ipynb", "own.py"}
    assert (tmp_path / "submitted").read_text() == (tmp_path / "gradebook.db").read_text() == "the instructor's"

    assert nbgrader_course.released_seed(tmp_path) == 0, "the hidden inputs are those of the first time"
    edited.unlink()
    nbgrader_course.write_release(tmp_path, made, 0)
    assert edited.read_text() == fresh
    assert (tmp_path / nbgrader_course.MANIFEST).read_text() == record

    edited.write_text(json.dumps(notebook))
    gone = {path.relative_to(tmp_path).as_posix() for path in (edited, saved)}
    nbgrader_course.write_release(tmp_path, {path: made[path] for path in made.keys() - gone}, 0)
    assert edited.exists() and not saved.exists(), "the course has neither any more"


OWN_STUB = "def own(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
OWN_SETTINGS = "c = get_config()\nc.CourseDirectory.course_id = 'autumn'\n"


def test_release_into_an_existing_course_leaves_its_own_assignments_alone(tmp_path, monkeypatch):
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    from autograder.notebooks.nbgrader_preprocessor import RepairCells

    monkeypatch.chdir(tmp_path)
    for name in ("PATH", "JUPYTER_PATH"):
        monkeypatch.setenv(name, environment(tmp_path)[name])
    settings, to_copy = tmp_path / "nbgrader_config.py", tmp_path / "nbgrader_config.headway.py"
    settings.write_text(OWN_SETTINGS)
    graded = cells.code("own(1)", grade=True, points=1, grade_id="graded")
    own = [cells.code(OWN_STUB, solution=True, grade_id="own"), graded]
    (tmp_path / "source" / "own").mkdir(parents=True)
    (tmp_path / "source" / "own" / "own.ipynb").write_text(cells.notebook_text("own", own))
    said = release(".", "--prerequisites", "none")
    assert settings.read_text() == OWN_SETTINGS and "you changed it" not in said and "cd ." not in said
    assert said.count(f"the settings in {to_copy.name}. Copy them into {settings.name}") == 1

    generated = []
    for text in (OWN_SETTINGS, OWN_SETTINGS + to_copy.read_text()):
        settings.write_text(text)
        config = PyFileConfigLoader(settings.name, path=str(tmp_path)).load_config()
        assert config.CourseDirectory.course_id == "autumn"
        config.CourseDirectory.root = str(tmp_path)
        done = NbGraderAPI(config=config).generate_assignment("own")
        assert done["success"], done
        generated.append((tmp_path / "release" / "own" / "own.ipynb").read_text())
    assert generated[0] == generated[1] and "raise NotImplementedError()" in generated[0]
    assert "the settings in" not in release(".", "--prerequisites", "none"), "they were copied"

    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with Gradebook(url) as book:
        assert len(book.find_notebook("own", "own").grade_cells) == 1
    deleted = nbformat.v4.new_notebook()
    RepairCells().preprocess(deleted, {"nbgrader": {"notebook": "own", "assignment": "own", "db_url": url}})
    assert deleted.cells == []


def test_release_beside_own_settings_draws_a_seed(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c.CourseDirectory.course_id = 'own'\n")
    assert f"cd {tmp_path} && nbgrader" in release(tmp_path, "--prerequisites", "none")
    assert [path.name for path in (tmp_path / "source" / "attention").iterdir()] == ["attention.ipynb"]
    texts = [path.read_text() for path in tmp_path.glob("source/*/*.ipynb")]
    seeds = {line for text in texts for line in text.split("\\n") if "seed" in line}
    assert seeds, "hidden inputs are drawn with a seed of the course's own"
    assert not any("grade.seed = 0" in line for line in seeds)


@pytest.mark.parametrize("form", ["stubs", "notebooks", "nbgrader"])
def test_release_into_a_workspace_is_refused(tmp_path, form):
    succeed("init", tmp_path)
    (tmp_path / "softmax.py").write_text("work")
    assert "is a workspace" in refusal("release", tmp_path, "--format", form)
    assert (tmp_path / "softmax.py").read_text() == "work"


@pytest.mark.parametrize(("form", "package"), [("notebooks", "jupytext"), ("nbgrader", "nbformat")])
def test_release_without_a_notebook_package_is_one_line(tmp_path, monkeypatch, form, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert f"notebooks need {package}" in refusal("release", tmp_path, "--format", form)


@pytest.mark.drawn(1)
def test_release_overwrites_stubs_but_no_answers(tmp_path, solutions):
    again = ("release", tmp_path, "--format", "stubs")
    succeed(*again)
    path = tmp_path / "softmax.py"
    stub = path.read_text()
    path.write_text(stub + "# of last year\n")
    next(tmp_path.glob("figures/*")).write_text("of last year")
    succeed(*again)
    assert path.read_text() == stub
    shutil.copy(solutions / "softmax.py", path)
    assert "is a workspace" in refusal(*again)
    assert path.read_text() == (solutions / "softmax.py").read_text()


def notebook(path, *cells):
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells]), path)
    return path


RIGHT = SOFTMAX.partition("import numpy as np\n")[2]


@pytest.mark.drawn(1)
def test_check_and_grade_in_a_running_notebook(tmp_path):
    stub = "def one_hot(ids, vocab_size):\n    raise NotImplementedError\n"
    mine = json.dumps({"cells": [{"cell_type": "code", "source": "def split_heads(x, n_heads):\n    return 'mine'"}]})
    write_files(tmp_path, {"embeddings.py": stub, "multihead.ipynb": mine})
    noisy = "    np.log(np.zeros(1))\n    print('[b, t]')\n    return"
    path = notebook(
        tmp_path / "work.ipynb",
        "from autograder.notebooks.api import *\nimport sys\nimport numpy as np\nget_ipython().set_next_input = print",
        RIGHT.replace("/ temperature", "* temperature").replace("    return", noisy), "check(softmax)\ndebug(softmax)",
        RIGHT, "check(softmax)", "grade('softmax.softmax', points=9)", "def log_softmax(x, axis=-1)\n    return x",
        "check('softmax.log_softmax')", "def cross_entropy(logits, targets):\n    import os\n    os._exit(0)",
        "grade('softmax.cross_entropy', points=4)", "softmax = softmax([1.0])\ncheck(softmax)",
        "check(print)\ncheck('softmaxx')\ncheck()\ncheck(np.ones(2))",
        "from multihead import split_heads\nfrom embeddings import one_hot",
        "split_heads(1, 2), one_hot([1], 2).tolist()",
        "from layernorm import layernorm\ndef block(x, params, n_heads, mask=None):\n    return layernorm(x), {}",
        "report(block).origins", "'torch' in sys.modules",
    )  # fmt: skip
    cells = run(path)[str(path)]["cells"]
    shown = [texts(cell) for cell in cells]
    wrong, program = shown[2]
    assert "\nresult = softmax(x" in program
    assert "multiplied by the temperature" in wrong
    assert "In [2], line 7" in wrong and "In [2], line 1" in wrong and "printed" in wrong and "[b, t]" in wrong
    html = cells[2]["outputs"][0]["data"]["text/html"]
    assert html.startswith("<pre") and "<script" not in html
    assert [o["output_type"] for o in cells[2]["outputs"]] == ["display_data", "stream"], "nothing on stderr"
    assert "9.5 / 9.5 points" in shown[4][0] and "1 of 5 functions" in shown[4][0] and shown[5][-1] == "9.0"
    assert "In [7], line 1 is not valid" in " ".join(shown[7][0].replace("│", " ").split())
    assert shown[9][-1] == "0.0" and "stopped by an error" in shown[9][0]
    assert "of type ndarray" in shown[10][0]
    assert "not in the course" in shown[11][0] and "Did you mean 'softmax'" in shown[11][0]
    assert "nothing to check" in shown[11][0] and "without calling it: check(softmax)" in shown[11][0]
    assert "('mine', [[0.0, 1.0]])" in shown[13][-1], "a stub in the notebook's folder is not used"
    assert shown[15][-1] == "{'layernorm': 'official solution'}", "softmax is this notebook's"
    assert shown[16] == ["False"], "checking needs no PyTorch"


def test_byte_order_mark_keeps_no_module_from_being_found(tmp_path, solutions):
    def found():
        return running_notebook.find_earlier_assignment("softmax", tmp_path, TRANSFORMER)

    solution, stub = (folder / "softmax.py" for folder in (solutions, bundled("assignments")))
    (tmp_path / "softmax.py").write_bytes(b"\xef\xbb\xbf" + solution.read_bytes())
    assert found() == running_notebook.EarlierAssignment(solution.read_text("utf-8"), "softmax.py")
    (tmp_path / "softmax.py").write_bytes(b"\xef\xbb\xbf" + stub.read_bytes())
    assert found().origin == running_notebook.OFFICIAL_ORIGIN, "a stub is not used"


def test_student_text_is_escaped_in_html(tmp_path):
    path = notebook(
        tmp_path / "work.ipynb",
        "from autograder.notebooks.api import check",
        "def softmax(x, axis=-1, temperature=1.0):\n    raise ValueError('<script>alert(1)</script>\\x1b[31m')",
        "check(softmax)",
    )
    (output,) = run(path)[str(path)]["cells"][2]["outputs"]
    assert "&lt;script&gt;" in output["data"]["text/html"] and "<script>" not in output["data"]["text/html"]
    assert "\x1b" not in output["data"]["text/plain"]
