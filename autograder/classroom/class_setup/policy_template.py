"""Generate a `course.toml` to start from: every key with its default or an example, commented out."""

from autograder.course import Curriculum

_HEAD = """\
# The grading policy of a class, for headway grade. Put it in the folder of submissions, or name it: --course FILE.
# Lines that begin with # have no effect; they show a default or an example. After a change, run the same headway grade
# command again. It takes seconds unless you change what is checked: the assignments, own_prerequisites, hidden checks,
# feedback, limits or seed.

title = "Transformers"

# roster = "class.csv"         # relative to this file; columns name, id, email, or an export of Canvas or Moodle
# layout = "auto"              # plain, nbgrader, canvas, moodle, gradescope, github
# attempts = "last"            # which attempt counts: last, first or best
# drop_lowest = 0              # how many assignments do not count: those whose removal helps a student most
# bonus = "cap"                # cap: bonus points fill up an assignment, but never exceed its possible points;
#                              # extra: they may exceed them; off: bonus functions do not count
# feedback = "summary"         # full: with expected values (do not give it to students); none: points only
# own_prerequisites = false    # true: build each assignment on the student's own earlier ones
# seed = 7                     # seed of the inputs; without it, one is drawn and stored with the results

[late]
# penalty_per_day = 0.1        # share of the points lost for each day begun; without it, being late costs nothing
# grace_hours = 0              # hours after the due date that do not count as late; days are counted from their end
# cap = 1.0                    # the largest share that can be lost: 0.5 leaves half of the points
# of = "earned"                # what the share is taken of: the points "earned", or those "possible"
# marked_days = 1              # days late of a submission that Canvas only marks as late

[checks]
# hidden = ["{function}::*"]   # students see only the points of these checks; * matches any name

[limits]
# call_seconds = 60            # the most CPU time of one call. A call gets 300 times the CPU time that the official
#                              # solution needs for the same input, at least 1 s, but never more than this
# submission_seconds = 300     # time, and CPU time, of all calls of one submission
# memory_mib = 2048            # of each process
# output_mib = 8               # printed by one submission
# result_mib = 64              # returned by one call
# student_attempts = 100       # with attempts = "best": how many attempts of a student are graded, the newest first
# student_seconds = 1800       # CPU time for all attempts of a student in one run, the grader's included

# If any assignments are named here, only those are graded. Without points, an assignment is worth the points of its
# functions, and a function the points of its checks. Give weights to all assignments or to none.

# [assignments.{first}]
# points = 20
# weight = 40
# due = 2026-10-01T23:59:00+02:00

# [assignments.{first}.functions]
# {name} = 5                  # points of this function, in place of those of its checks; 0: not counted

# [[assignments.{first}.rubric]]      # a question that you mark, as many as you need: headway comment OUT STUDENT
# id = "q1"                           # TEXT --rubric q1 --points 4. Its points are added to those of the assignment
# title = "Why is the maximum subtracted?"
# points = 5
"""

_TAIL = """
# Exceptions for single students, as many as you need. The student is a name, id or email of the roster, or the name of
# the submission. Without an assignment, due, late_days and excused apply to all of them. Students see their exceptions.

# [[exceptions]]
# student = "ada@example.org"
# assignment = "{first}"
# due = 2026-10-08T23:59:00+02:00    # replaces the due date
# late_days = 3                      # if the time of submission is unknown
# bonus = 2                          # points added; -2 deducts two points
# score = 17.5                       # points given by hand; they replace checks and late penalty
# excused = true                     # does not count for this student
# reason = "ill"
"""


def template(curriculum: Curriculum) -> str:
    """Return the text of a `course.toml` for the assignments of a course."""
    first, *others = curriculum.modules
    function = next(iter(curriculum.functions))
    text = _HEAD.replace("{first}", first).replace("{function}", function)
    text = text.replace("{name}", function.partition(".")[2])
    text += "".join(f"\n# [assignments.{name}]" for name in others) + "\n"
    if not curriculum.is_built_in:
        title = curriculum.title.replace("\\", "").replace('"', "'")
        text = text.replace('title = "Transformers"', f'title = "{title}"')
    if curriculum.is_selection:  # Only these are graded.
        text = text.replace("# [assignments.", "[assignments.")
    return text + _TAIL.replace("{first}", first)
