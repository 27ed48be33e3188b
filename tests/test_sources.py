"""Everything that docs/sources.md names exists: functions, arguments, options, headings, figures, plots, presets."""

import ast
import re

from support.paths import ROOT

from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.training.settings import PRESETS
from autograder.models.lesson_figures import pictures
from autograder.models.plot_data import PLOTS
from autograder.models.training.datasets import find_dataset

FIGURES = pictures()
LESSONS = {name: (ROOT / "solutions" / f"{name}.py").read_text("utf-8") for name in TRANSFORMER.modules}
TEXT = (ROOT / "docs" / "sources.md").read_text("utf-8")
HEADS = (" in Headway |", " built by |", " because |")
ROWS = [row for row in TEXT.splitlines() if row.startswith("| ") and not row.endswith(HEADS)]


def names_of(lesson):
    """Return what a lesson defines at the top level: functions with their arguments, classes with their fields."""
    names = {}
    for node in ast.parse(lesson).body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = {arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)}
        elif isinstance(node, ast.ClassDef):
            names[node.name] = {field.target.id for field in node.body if isinstance(field, ast.AnnAssign)}
    return names


NAMES = {module: names_of(lesson) for module, lesson in LESSONS.items()}
FIELDS = {name: fields for names in NAMES.values() for name, fields in names.items() if name.endswith("Config")}


def headings(module):
    return re.findall(r"^# #+ (.+)$", LESSONS[module], re.M)


def exists(code):
    """Return whether the thing exists that a piece of inline code stands for."""
    if code in LESSONS or re.fullmatch(r"tests/[\w/]+\.py", code):
        return code in LESSONS or (ROOT / code).exists()
    if found := re.fullmatch(r"headway plot (\S+)", code):
        return found[1] in PLOTS
    if found := re.fullmatch(r"headway train --preset (\S+)(?: --data (\S+))?", code):
        return found[1] in PRESETS and (found[2] is None or bool(find_dataset(found[2])))
    if found := re.fullmatch(r"headway (?:train --data|data fetch) (\S+)", code):
        return bool(find_dataset(found[1]))
    if found := re.fullmatch(r"headway experiment (\w+) (\w+)", code):
        return f'"{found[2]}" in sys.argv' in LESSONS.get(found[1], "")
    if found := re.fullmatch(r"(\w+Config)\.(\w+)", code):
        return found[2] in FIELDS.get(found[1], ())
    if found := re.fullmatch(r"(\w+)\.(\w+)(?:\((\w+)\))?", code):
        arguments = NAMES.get(found[1], {}).get(found[2])
        return arguments is not None and (found[3] is None or found[3] in arguments)
    return code in ("headway generate", "headway import-model", "bigram")


def test_sources_named_things_exist():
    codes = set(re.findall(r"`([^`]+)`", re.sub(r"`module\.function`", "", TEXT)))
    assert len(codes) > 100
    assert [code for code in sorted(codes) if not exists(code)] == []
    assert not any(map(exists, ("softmax.softmin", "blocks.block(droppout)", "headway plot position")))


def test_sources_quoted_headings_exist():
    named = []
    for row in ROWS:
        quotes = re.findall(r'"([^"]+)"', row.replace(' with "output"', ""))
        found = re.findall(r'((?:"[^"]+"(?:, questions? [\d and]+,)?(?: and )?)+) in `(\w+)`', row)
        named += [(heading, module) for part, module in found for heading in re.findall(r'"([^"]+)"', part)]
        assert len(quotes) == sum(part.count('"') // 2 for part, _ in found), row
    assert len(named) > 30
    assert [(heading, module) for heading, module in named if heading not in headings(module)] == []


def test_sources_questions_exist():
    asked = re.findall(r'"([^"]+)", questions? ([\d and]+), in `(\w+)`', TEXT)
    assert len(asked) > 5
    for heading, numbers, module in asked:
        section = LESSONS[module].partition(f"# ## {heading}\n")[2].partition("\n# ## ")[0]
        for number in re.findall(r"\d", numbers):
            assert re.search(rf"^# (\*\*)?{number}\. ", section, re.M), (heading, number, module)


def test_sources_figures_are_in_the_lessons():
    links = re.findall(r"\[([\w-]+)\]\(\.\./solutions/figures/([\w-]+)\.svg\)", TEXT)
    assert len(links) > 30
    for label, name in links:
        assert label == name
        assert name in FIGURES
        assert any(f"(figures/{name}.svg)" in re.sub(r"\n# ", " ", lesson) for lesson in LESSONS.values()), name


def test_sources_every_row_names_a_place():
    assert len(ROWS) > 80
    for row in ROWS:
        part, place, *reason = row.strip("| ").split(" | ")
        assert part
        assert len(reason) <= 1, row
        assert re.search(r"`[^`]+`|\]\(", place), row


def test_sources_every_figure_plot_and_preset_is_named():
    """A new figure or plot belongs in a row of the page; of the maps, one stands for all."""
    figures = {name for name in FIGURES if not name.startswith("map-")}
    assert sorted(name for name in figures if f"[{name}]" not in TEXT) == []
    assert sorted(name for name in PLOTS if f"`headway plot {name}`" not in TEXT) == []
    sizes = {"names", "shakespeare", "small", "synthetic"}  # other sizes and texts, and no other form
    assert sorted(name for name in set(PRESETS) - sizes if f"`headway train --preset {name}`" not in TEXT) == []


def test_sources_every_function_is_named():
    """Each function of part I is in a form or in the list of what none has, each of part II in a published model."""
    missing = [name for name in TRANSFORMER.functions if f"`{name}" not in TEXT]
    assert missing == [], "name them in a row of docs/sources.md"
