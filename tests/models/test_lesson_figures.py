"""The pictures in the lessons are the ones that the official functions draw; each is used, described and legible."""

import base64
import html
import json
import re
import zipfile
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
from support.commands import invoke, succeed
from support.contrast import contrast

from autograder.course.stubs import PICTURE, bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.common.figures import diagram
from autograder.courses.transformer.common.figures.maps import MissingPart, marked_map
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.errors import HeadwayError
from autograder.models import lesson_figures
from autograder.models.plot_data import functions_in_folder
from autograder.notebooks import cells

FIGURES = lesson_figures.pictures()
FOLDER = bundled("solutions") / "figures"
NUMBER, TAG = re.compile(r"-?\d+(?:\.\d+)?"), re.compile("<[^>]*>")
LARGEST_FILE = 24_000


@pytest.fixture(scope="module")
def official():
    with functions_in_folder(bundled("solutions")) as functions:
        yield functions


def lesson(module, folder="solutions"):
    """The text of a module without comment signs."""
    source = (bundled(folder) / f"{module}.py").read_text("utf-8")
    return "\n".join(re.sub(r"^# ?", "", line) for line in source.splitlines())


def pictures(module):
    """Pairs of alternative text and file name."""
    return [(" ".join(alt.split()), path.removeprefix("figures/")) for alt, path in PICTURE.findall(lesson(module))]


def is_same(drawn, shipped):
    """Whether two SVG files agree, but for numbers in tags that differ by less than a pixel's fraction."""
    plain = [TAG.sub(lambda tag: NUMBER.sub("#", tag[0]), text) for text in (drawn, shipped)]
    numbers = [[float(n) for tag in TAG.findall(text) for n in NUMBER.findall(tag)] for text in (drawn, shipped)]
    return plain[0] == plain[1] and np.allclose(*numbers, rtol=0, atol=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_shipped_figure_is_up_to_date(official, name):
    assert is_same(FIGURES[name](official), (FOLDER / f"{name}.svg").read_text("utf-8")), "make figures"


def test_every_figure_is_used_and_described():
    shown = [(module, alt, file) for module in TRANSFORMER.modules for alt, file in pictures(module)]
    files = [file for _, _, file in shown]
    assert set(files) == {f"{name}.svg" for name in FIGURES}
    assert {path.name for path in FOLDER.iterdir()} == set(files)
    assert min(len(alt) for _, alt, _ in shown) >= 30
    assert len({alt for _, alt, _ in shown}) == len(shown)


@pytest.mark.parametrize("module", TRANSFORMER.modules)
def test_lesson_begins_with_the_map_of_the_model(module):
    assert f"(figures/map-{module.replace('_', '-')}.svg)" in lesson(module).partition("\n%%")[2].partition("\n%%")[0]
    assert len(pictures(module)) >= 2, "a lesson shows at least one picture besides the map"


def test_map_without_a_part_of_the_assignment_is_an_error():
    with pytest.raises(MissingPart, match="part of centering"):
        marked_map("centering")


def test_missing_part_of_a_new_assignment_leaves_the_other_pictures(tmp_path, monkeypatch, capsys):
    drawn = {"map-centering": partial(marked_map, "centering"), "square": lambda functions: "<svg/>"}
    monkeypatch.setattr(lesson_figures, "pictures", lambda: drawn)
    monkeypatch.setattr(lesson_figures, "bundled", lambda name: tmp_path)
    monkeypatch.setattr(lesson_figures.sys, "argv", ["lesson_figures"])
    lesson_figures.main()
    assert [path.name for path in tmp_path.glob("figures/*")] == ["square.svg"]
    assert "map-centering: the map marks no part" in capsys.readouterr().err


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_small_and_its_text_is_legible(name):
    text = (FOLDER / f"{name}.svg").read_text("utf-8")
    assert len(text) < LARGEST_FILE and "<image" not in text and "<text" in text
    root = ElementTree.fromstring(text)
    points = 1.0 if root.attrib["width"].endswith("pt") else 0.75  # of one unit of the drawing
    assert float(root.attrib["viewBox"].split()[2]) * points <= 720, "as wide as a notebook"
    sizes = re.findall(r'font-size="([\d.]+)"|font(?:-size)?: ?([\d.]+)px', text)
    assert min(float(a or b) for a, b in sizes) * points >= 9


def test_text_in_cells_has_enough_contrast():
    for step in range(-diagram.LEVELS, diagram.LEVELS + 1):
        drawing = diagram.Diagram(50, 50)
        drawing.table([[step / diagram.LEVELS]], 0, 0, 40, largest=1.0, form=".2f")
        root = ElementTree.fromstring(drawing.svg())
        text = next(element for element in root.iter() if element.tag.endswith("text"))
        cell = next(element for element in root.iter() if element.attrib.get("d", "").startswith("M0 0h"))
        assert contrast(text.attrib.get("fill", diagram.INK), cell.attrib["fill"]) >= 4.5, step
    for paper in (diagram.PAPER, diagram.PLAIN, diagram.MARKED, *diagram.TINTS):
        assert contrast(diagram.INK, paper) >= 4.5
    assert contrast(diagram.MUTED, diagram.PAPER) >= 4.5


def test_frames_show_the_last_one_unless_the_address_names_another():
    drawing = diagram.Diagram(50, 50)
    for label in ("1 & 2", "3"):
        drawing.frame(label)
        drawing.text(20, 20, f"frame {label}")
    root = ElementTree.fromstring(drawing.svg("step"))
    shown = [(each.get("id"), each.get("display"), each[0].text) for each in root if each.tag.endswith("}g")]
    assert shown == [("f0", "none", "frame 1 & 2"), ("f1", None, "frame 3")]
    assert root.get("data-frames") == "step|1 & 2|3"


def test_rope_distance_is_described_with_the_angles_it_shows():
    [alt] = [alt for alt, name in pictures("llama_layers") if name == "rope-distance.svg"]
    drawn = re.findall(r"(\d+)°", (FOLDER / "rope-distance.svg").read_text("utf-8"))
    assert re.findall(r"(\d+) degrees", alt) == drawn == ["53", "61", "61", "127"]


@pytest.mark.slow
def test_trained_model_is_reproducible():
    """Another processor rounds differently, and 2,000 steps amplify that."""
    again, shipped = lesson_figures.measure(), measured()
    assert set(again) == set(shipped) and again["chars"] == shipped["chars"]
    assert again["losses"][:10] == pytest.approx(shipped["losses"][:10], abs=0.02)
    assert again["losses"][-1] == pytest.approx(shipped["losses"][-1], abs=0.05)


def test_notebooks_contain_the_pictures():
    for module in TRANSFORMER.modules:
        notebook = json.loads((bundled("assignments") / "notebooks" / f"{module}.ipynb").read_text("utf-8"))
        sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
        images = [re.fullmatch(r'<img alt="(.*?)" src="data:image/svg\+xml;base64,(.*?)">', text) for text in sources]
        found = [(html.unescape(match[1]), base64.b64decode(match[2]).decode()) for match in images if match]
        assert found == [(alt, (FOLDER / file).read_text("utf-8")) for alt, file in pictures(module)]
        assert "figures/" not in "".join(sources)


def test_folded_lesson_keeps_its_picture_inside():
    figures = {"figures/a.svg": "<svg/>"}
    (cell,) = cells.lesson("<details>\n\n![A & B](figures/a.svg)\n\nText.\n\n</details>", figures)
    assert '<img alt="A &amp; B" src="data:' in cell["source"]
    sources = [cell["source"][:4] for cell in cells.lesson("One.\n\n![A](figures/a.svg)\n\nTwo.", figures)]
    assert sources == ["One.", "<img", "Two."]
    with pytest.raises(HeadwayError, match="make figures"):
        cells.lesson("![B](figures/b.svg)", figures)


def test_stubs_have_the_pictures_beside_them(tmp_path):
    assert invoke("release", tmp_path, "--format", "stubs").returncode == 0
    shipped = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    for folder in (tmp_path, bundled("assignments")):
        assert {path.name: path.read_bytes() for path in (folder / "figures").iterdir()} == shipped, "make stubs"


@pytest.mark.slow
def test_workspace_has_pictures_which_update_restores_and_submit_leaves_out(folder, tmp_path):
    picture = folder / "figures" / "masks.svg"
    assert picture.read_bytes() == (FOLDER / "masks.svg").read_bytes()
    picture.write_text("an older version")
    assert "1 picture updated" in invoke("update", cwd=folder).stdout
    assert picture.read_bytes() == (FOLDER / "masks.svg").read_bytes()
    assert "Already up to date" in invoke("update", cwd=folder).stdout
    succeed("submit", "--out", tmp_path / "sent.zip", cwd=folder)
    names = zipfile.ZipFile(tmp_path / "sent.zip").namelist()
    assert "softmax.py" in names and not [name for name in names if "figures" in name or name.endswith(".svg")]
