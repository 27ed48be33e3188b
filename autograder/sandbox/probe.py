"""Find the strongest level of the sandbox that this machine supports, and prove that it holds.

    bubblewrap + Landlock + seccomp     own file system, processes and network; files by rule; system calls by list
    Landlock + seccomp                  without user namespaces: metadata of files whose path is known stays visible
    bubblewrap + seccomp                before Linux 5.13, or with Landlock switched off
    none                                a class is not graded, unless the instructor accepts the risk

Version numbers prove nothing. A level holds if a small hostile submission (`child/probe.py`), started exactly like a
student's, is refused everything that it tries.
"""

import tempfile
from contextlib import closing
from errno import EACCES, ENOENT, EPERM
from pathlib import Path

from autograder.errors import UsageError
from autograder.sandbox.call_timer import Deadline
from autograder.sandbox.limits import Limits
from autograder.sandbox.packages import AllowedPackages
from autograder.sandbox.policy import SandboxPolicy, build
from autograder.sandbox.process import start_workers
from autograder.sandbox.server import CHILD_FOLDER
from autograder.sandbox.student_process import StudentProcess, WorkerTimedOut
from autograder.sandbox.syscalls import MechanismUnavailable
from autograder.sandbox.workers import WorkerDied

NO_PACKAGES = AllowedPackages()
LEVELS = (("bubblewrap", "landlock", "seccomp"), ("landlock", "seccomp"), ("bubblewrap", "seccomp"))
PROBE_SECONDS = 20.0


class SandboxUnavailable(Exception):
    """No level of the sandbox holds on this machine; the text gives the reason for each mechanism."""


def require_level(scratch: Path, otherwise: str = "", packages: AllowedPackages = NO_PACKAGES) -> SandboxPolicy:
    """Return the strongest level; raise UsageError if there is none, with what can be done `otherwise`."""
    try:
        return strongest_level(scratch, packages)
    except SandboxUnavailable as error:
        problem = f"this machine has no sandbox for untrusted code ({error})"
        raise UsageError(f"{problem}. To see what is missing: headway doctor{otherwise}") from None


def strongest_level(submissions_root: Path, packages: AllowedPackages = NO_PACKAGES) -> SandboxPolicy:
    """Return the strongest sandbox that holds on this machine, proven; raise SandboxUnavailable if none does.

    Nothing but submissions may be put into the folder `submissions_root`, which must exist.
    """
    reasons: dict[str, str] = {}
    for level in LEVELS:
        if not reasons.keys().isdisjoint(level):
            continue
        sandbox, problems = prove(level, submissions_root, packages)
        if sandbox is not None:
            return sandbox
        reasons.update(problems)
    raise SandboxUnavailable("; ".join(f"{mechanism}: {reason}" for mechanism, reason in reasons.items()))


def prove(
    level: tuple[str, ...], submissions_root: Path, packages: AllowedPackages = NO_PACKAGES
) -> tuple[SandboxPolicy | None, dict[str, str]]:
    """Build and probe one level. Return the sandbox if it holds; otherwise None and the problem of each mechanism."""
    try:
        sandbox = build(level, submissions_root, packages)
    except MechanismUnavailable as error:
        return None, {error.mechanism: str(error)}
    problems = probe(sandbox, submissions_root)
    return (None if problems else sandbox), problems


# What each mechanism must refuse by itself, and with which error number. Where two mechanisms guard the same thing,
# only the error shows which of them refused: seccomp answers EPERM before it looks at a path, Landlock answers EACCES,
# and what bubblewrap hides does not exist (ENOENT).
REQUIRED_REFUSALS: dict[str, dict[str, tuple[int, ...]]] = {
    "bubblewrap": {"stat_outside": (ENOENT,), "read_outside": (ENOENT,)},
    "landlock": {
        **dict.fromkeys(("read_sibling", "list_sibling", "list_root"), (EACCES,)),
        "read_outside": (EACCES, ENOENT),
    },
    "seccomp": {
        **dict.fromkeys(("write", "fork", "execute", "signal", "memory_file"), (EPERM,)),
        **dict.fromkeys(("internet_socket", "unix_socket", "netlink_socket"), (EPERM,)),
        **dict.fromkeys(("thread", "raise_limit"), (-1,)),  # Python reports these failures without the error number.
    },
}


def probe(sandbox: SandboxPolicy, submissions_root: Path) -> dict[str, str]:
    """Run the hostile submission in the sandbox. Return what each mechanism failed to refuse; empty if all hold."""
    with (
        tempfile.TemporaryDirectory(prefix="headway-") as outside,
        tempfile.TemporaryDirectory(dir=submissions_root) as folder,
    ):
        secret, sibling = Path(outside, "secret"), Path(folder, "sibling", "secret")
        submission = Path(folder, "submission")
        for path in (secret, sibling, submission / "probe.py"):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes((CHILD_FOLDER / "probe.py").read_bytes())
        limits = Limits()
        arguments = {"outside": str(secret), "sibling": str(sibling), "memory": limits.memory_bytes}
        request = {"op": "call", "module": "probe", "function": "probe", "args": (), "handles": {}, "kwargs": arguments}
        try:
            with (
                start_workers(sandbox=sandbox) as workers,
                closing(StudentProcess(workers, submission, limits)) as process,
            ):
                reply = process.request(request, Deadline.fixed(PROBE_SECONDS))
        except (WorkerDied, WorkerTimedOut) as error:
            # The outermost mechanism is blamed: the inner ones had no chance to run.
            return {sandbox.mechanisms[0]: f"does not work here ({error})"}
    outcomes = reply.get("value")
    if not isinstance(outcomes, dict):
        return {sandbox.mechanisms[0]: f"the probe failed ({reply.get('type')}: {reply.get('message')})"}
    problems: dict[str, str] = {}
    for mechanism in sandbox.mechanisms:
        refusals = REQUIRED_REFUSALS[mechanism].items()
        if allowed := [action for action, errors in refusals if outcomes.get(action) not in errors]:
            problems[mechanism] = f"does not hold here ({', '.join(allowed).replace('_', ' ')})"
    if outcomes.get("memory") != -1:
        problems.setdefault(sandbox.mechanisms[0], "does not hold here (memory)")
    return problems
