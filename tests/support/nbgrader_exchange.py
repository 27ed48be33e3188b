"""What instructor and students do in nbgrader's exchange, with nbgrader's own classes, in one process.

    python -m support.nbgrader_exchange EXCHANGE STUDENTS ada=softmax,layernorm bo=softmax:wrong

Run in the folder of a course made by `headway release --format nbgrader`. Generates and releases the assignments; each
student fetches them, writes all answers (after `:wrong`, one of them wrong) and submits; at last, the instructor
collects. Importing nbgrader takes seconds, so all this is one process.
"""

import os
import sys
from pathlib import Path

import nbformat
from nbgrader.apps import NbGraderAPI
from nbgrader.apps.nbgraderapp import NbGrader
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeSubmit
from traitlets.config import Config

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.nbgrader_class import solutions_of, write_answers

MISTAKE = ("/ float(temperature)", "* float(temperature)")


def answer(course, assignment, path, *, wrong):
    """Write the solutions of the source notebook into a fetched notebook."""
    notebook = nbformat.read(path, as_version=4)
    write_answers(notebook, solutions_of(course, assignment), {"softmax": MISTAKE} if wrong else {})
    nbformat.write(notebook, path)


def main(exchange, students, work):
    course = Path.cwd()
    app = NbGrader()
    app.load_config_file()
    app.config.Exchange.root = str(exchange)
    api = NbGraderAPI(config=app.config)
    plan = dict(item.split("=") for item in work)
    submitted = {student: [entry.partition(":") for entry in text.split(",")] for student, text in plan.items()}
    assignments = sorted({name for entries in submitted.values() for name, _, _ in entries})
    for name in assignments:
        for step in (api.generate_assignment, api.release_assignment):
            done = step(name)
            assert done["success"], done
    for student, entries in submitted.items():
        home = students / student
        home.mkdir(parents=True)
        os.chdir(home)
        for name, _, kind in entries:
            config = Config(app.config)
            config.CourseDirectory.update(root=str(home), student_id=student, assignment_id=name)
            config.Exchange.update(assignment_dir=str(home), cache=str(home / "cache"))
            for step in (ExchangeFetchAssignment, ExchangeSubmit):
                where, who = CourseDirectory(config=config), Authenticator(config=config)
                step(coursedir=where, authenticator=who, config=config).start()
                if step is ExchangeFetchAssignment:
                    answer(course, name, home / name / f"{name}.ipynb", wrong=kind == "wrong")
    os.chdir(course)
    for name in assignments:
        done = api.collect(name)
        assert done["success"], done


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
