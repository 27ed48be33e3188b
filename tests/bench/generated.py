"""Generate a class from a seed: correct, wrong, unfinished and hostile submissions of the whole course.

Correct ones are the official solutions. Wrong ones have one to four known mistakes in different modules. Unfinished
ones have stubs from some assignment on. Hostile ones have an attack from `tests/submissions/hostile` above the
solution of softmax. A random comment makes all submissions different.
"""

import random
from pathlib import Path

from autograder.course.stubs import bundled, make_stubs
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import BrokenMistake, mistakes_of_module
from autograder.engine.diagnosis.variants import solution_source, source_with_mistakes

HOSTILE = Path(__file__).parents[1] / "submissions" / "hostile"
KINDS = {"right": 40, "wrong": 38, "unfinished": 18, "hostile": 4}  # percent
ATTACKS = ("exit_at_import", "system_exit", "import_pytest", "patch_builtins")


def generate(folder, count, seed):
    """Write the class; return the number of submissions of each kind."""
    rng = random.Random(seed)
    stubs = make_stubs(bundled("solutions"), TRANSFORMER)
    counts = dict.fromkeys(KINDS, 0)
    folder.mkdir(parents=True)
    for number in range(count):
        kind = rng.choices(list(KINDS), KINDS.values())[0]
        texts = {module: solution_source(module, package=TRANSFORMER.package) for module in TRANSFORMER.modules}
        if kind == "wrong":
            for module in rng.sample(list(TRANSFORMER.modules), rng.randint(1, 4)):
                texts[module] = _wrong(rng, module)
        elif kind == "unfinished":
            reached = rng.randint(1, len(texts) - 1)
            texts |= {module: stubs[f"{module}.py"] for module in list(texts)[reached:]}
        elif kind == "hostile":
            attack = (HOSTILE / f"{rng.choice(ATTACKS)}.py").read_text("utf-8")
            texts["softmax"] = f"{attack}\n\n{texts['softmax']}"
        counts[kind] += 1
        where = folder / f"{number:05}-{kind}"
        where.mkdir()
        for module, text in texts.items():
            (where / f"{module}.py").write_text(f"{text}\n# {rng.getrandbits(64):016x}\n", "utf-8")
    return counts


def _wrong(rng, module):
    mistakes = list(mistakes_of_module(module, package=TRANSFORMER.package))
    rng.shuffle(mistakes)
    for mistake in mistakes:
        try:
            return source_with_mistakes(mistake, package=TRANSFORMER.package)
        except BrokenMistake:
            continue
    return solution_source(module, package=TRANSFORMER.package)
