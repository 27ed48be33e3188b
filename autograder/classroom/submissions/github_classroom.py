"""Read what `gh classroom clone student-repos` writes: `SLUG-submissions/SLUG-LOGIN/`, a clone for each student.

Sources: `cmd/gh-classroom/clone/student-repos/student-repos.go` in github.com/github/gh-classroom, which names the
folder after the assignment's slug, and "Create an individual assignment" (docs.github.com, GitHub Classroom), which
names each repository after the assignment and the student's login. The clones contain no reliable time of submission,
because commits carry the dates that their author gave them.
"""

from pathlib import Path

from autograder.classroom.submissions.model import Attempt, ClassMember, SubmissionPart, safe_name
from autograder.course import Curriculum

_SUFFIX = "-submissions"


def read_github(folder: Path, names: list[str], curriculum: Curriculum) -> list[ClassMember] | None:
    """Return the students whose clones are in a folder, or None if it is not one of GitHub Classroom."""
    name = folder.resolve().name
    prefix = f"{name.removesuffix(_SUFFIX)}-"
    clones = [entry for entry in names if entry.startswith(prefix) and (folder / entry).is_dir()]
    if not name.endswith(_SUFFIX) or not clones or len(clones) != len(names):
        return None
    logins = {entry: entry.removeprefix(prefix) for entry in clones}
    return [
        ClassMember(
            safe_name(login), id=login, attempts=(Attempt((SubmissionPart(folder / entry),)),), ids={"github": login}
        )
        for entry, login in logins.items()
    ]
