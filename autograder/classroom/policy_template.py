"""A `course.toml` to begin with: every key that there is, with its default or an example, switched off by a `#`."""

from autograder.curriculum import Curriculum

_HEAD = """\
# The policy of a course, for headway grade. It lies in the folder of submissions, or anywhere: --course FILE.
# A line that begins with # is off: it shows a default or an example. After a change, the same headway grade again
# takes some seconds: nothing is graded twice unless limits, feedback, hidden checks or the seed change.

title = "Transformers"

# roster = "class.csv"         # beside this file, with the columns name, id, email; or what Canvas or Moodle exports
# layout = "auto"              # plain, nbgrader, canvas, moodle, gradescope
# attempts = "last"            # which attempt counts: last, first, best
# drop_lowest = 0              # so many of the lowest assignments do not count
# feedback = "summary"         # full: expected values, too (not to be handed out); none: points only
# own_prerequisites = false    # true: each assignment on top of the student's own earlier ones
# seed = 7                     # the inputs; without it fresh ones are drawn, and kept with the results

[late]
# penalty_per_day = 0.1        # a tenth of the points for each day begun; without it being late costs nothing
# grace_hours = 0              # so much later is still in time
# cap = 1.0                    # the largest share that can be lost: 0.5 leaves half of the points
# of = "earned"                # a share of the points earned, or of those "possible"
# marked_days = 1              # Canvas says only that it was late: taken for so many days

[checks]
# hidden = ["{function}::*"]   # of these checks only points are told; * stands for any name

[limits]                       # what one submission may use
# call_seconds = 10
# submission_seconds = 300
# memory_mib = 2048
# output_mib = 8
# result_mib = 64

# As soon as assignments are named here, only they are graded. Without points an assignment is worth those of its
# checks. Weights are for all or for none; weights that add up to 100 make the score a percentage.

# [assignments.{first}]
# points = 20
# weight = 40
# due = 2026-10-01T23:59:00+02:00
"""

_TAIL = """
# One student's exceptions, as many as there are. Who it is: a name, number or address of the roster, or what the
# submission is called. Without an assignment, due, late_days and excused hold for all. The student is told them.

# [[exceptions]]
# student = "ada@example.org"
# assignment = "{first}"
# due = 2026-10-08T23:59:00+02:00    # instead of the date for all
# late_days = 3                      # where nobody knows when it was handed in; Canvas says only that it was late
# bonus = 2                          # points on top; -2 takes them off
# score = 17.5                       # points given by hand, whatever the checks and the clock say
# excused = true                     # does not count for this student
# reason = "ill"
"""


def template(curriculum: Curriculum) -> str:
    """The text for a course of these assignments."""
    first, *others = curriculum.modules
    function = next(iter(curriculum.functions))
    text = _HEAD.replace("{first}", first).replace("{function}", function)
    text += "".join(f"\n# [assignments.{name}]" for name in others) + "\n"
    return text + _TAIL.replace("{first}", first)
