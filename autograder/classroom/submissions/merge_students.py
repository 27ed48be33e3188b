"""Combine the submissions of several sources: a student has at most one work per source.

With a roster, students are its entries. Without one, submissions belong to the same student if the platform gave them
the same id, or they have the same address, or else the same name. Where that is not certain, they stay apart, with a
note for the instructor: a grade for the wrong student is worse than a student who is listed twice.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from autograder.classroom.submissions.model import INSTITUTION, ClassMember, Student, safe_name
from autograder.classroom.submissions.roster import RosterEntry, normalize, platform_key
from autograder.core.text import counted

Members = Mapping[str, Sequence[ClassMember]]  # by source
KnownNames = Mapping[str, Mapping[str, str]]  # the names that students had before, by source and submission
_NO_ROSTER = "To tell them apart, add a roster: --roster FILE"


@dataclass
class _Group:
    """The submissions of one student while the students are found."""

    work: dict[str, ClassMember] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def merge_students(
    sources: Members,
    entries: Sequence[RosterEntry] | None = None,
    known: KnownNames | None = None,
    owners: Mapping[str, str] | None = None,
) -> list[Student]:
    """Return the students of all sources: the people on the roster in its order, then the others.

    `owners` says whose a stray submission is: both are names of students as this function gives them without it.
    """
    owners = owners or {}
    known = {
        source: {submission: name for submission, name in names.items() if submission not in owners}
        for source, names in (known or {}).items()
    }
    matched, others = ({}, _group(sources)) if entries is None else _match(sources, entries)
    names = _Names(known, [*matched.values(), *others])
    students = [_student(matched.get(number, _Group()), names, entry) for number, entry in enumerate(entries or ())]
    students += [_student(group, names) for group in others]
    by_name = {student.submission: student for student in students}
    for stray, name in owners.items():
        # The owner has the work of the stray as earlier attempts.
        if stray in by_name and name in by_name and stray != name:
            owner, work = by_name[name], dict(by_name.pop(stray).work)
            for source, member in owner.work.items():
                earlier = work[source].attempts if source in work else ()
                work[source] = replace(member, attempts=(*earlier, *member.attempts))
            by_name[name] = replace(owner, work=work)
    return list(by_name.values())


def _match(sources: Members, entries: Sequence[RosterEntry]) -> tuple[dict[int, _Group], list[_Group]]:
    """Return the submissions by position on the roster, and those of students who are not on it."""
    positions: dict[str, set[int]] = defaultdict(set)
    for number, entry in enumerate(entries):
        for key in entry.keys:
            positions[key].add(number)
    matched: dict[int, _Group] = defaultdict(_Group)
    others: dict[str, list[ClassMember]] = {}
    for source, members in sources.items():
        others[source] = []
        found = [_position_of(member, positions, entries) for member in members]
        for chosen, member in _claims(members, found, positions).items():
            matched[chosen].work[source] = member
        for member, position in zip(members, found, strict=True):
            if position is not None and matched[position].work.get(source) is member:
                continue
            namesakes = max(len(positions.get(normalize(text), ())) for text in (member.submission, member.name))
            if position is not None and source in matched[position].work:
                note = f"submitted twice: see {matched[position].work[source].submission}"
            elif position is not None:
                note = "another submission has the same name: name the student by id or email"
            elif namesakes:
                several = f"{counted(namesakes, 'student')} on the roster {'has' if namesakes == 1 else 'have'}"
                note = f"{several} this name, which does not say who it is: name the submission by id or email"
            else:
                note = "not on the roster"
            others[source].append(replace(member, notes=(*member.notes, note)))
    return matched, _group(others)


def _claims(
    members: Sequence[ClassMember], found: Sequence[int | None], positions: Mapping[str, set[int]]
) -> dict[int, ClassMember]:
    """Return whose submission each person on the roster gets.

    Students choose their names, and some platforms let them choose a number: an address or the platform's own number
    counts more. Accounts of a platform that share only a name are of different people.
    """
    claims: dict[int, list[tuple[int, ClassMember]]] = defaultdict(list)
    for member, position in zip(members, found, strict=True):
        if position is not None:
            claims[position].append((_certainty(member, position, positions), member))
    chosen = {}
    for position, rated in claims.items():
        best = max(certainty for certainty, _ in rated)
        first, *more = [member for certainty, member in rated if certainty == best]
        if not (more and best == 0 and all(member.ids for member in (first, *more))):
            chosen[position] = first
    return chosen


def _certainty(member: ClassMember, position: int, positions: Mapping[str, set[int]]) -> int:
    """Return 2 if an address or a platform's own number leads to the position, 1 for an id, 0 for a name."""
    keys = [platform_key(platform.partition(":")[0], number) for platform, number in member.ids.items()]
    keys += [normalize(member.email)] if member.email else []
    if any(_only(positions, key) == position for key in keys):
        return 2
    return int(bool(member.id) and _only(positions, normalize(member.id)) == position)


def _position_of(member: ClassMember, positions: Mapping[str, set[int]], entries: Sequence[RosterEntry]) -> int | None:
    """Find a student on the roster by id, then email, then name, unless several people share the name.

    A roster of Canvas has the number of each account: another account of the same name is another person.
    """
    number = normalize(member.ids.get(INSTITUTION, ""))
    if number and (position := _only(positions, number)) is not None:
        return position
    by_name = [_only(positions, normalize(text)) for text in (member.submission, member.name) if text]
    named = next((position for position in by_name if position is not None), None)
    for platform, number in member.ids.items():
        position = _only(positions, platform_key(platform.partition(":")[0], number))
        if position is not None:
            return position
    if member.id and not any(platform.partition(":")[0] == "moodle" for platform in member.ids):
        position = _only(positions, normalize(member.id))
        # Canvas's own numbers may happen to be the student numbers of others: then the name decides.
        if position is not None and ("canvas" not in member.ids or named in (None, position)):
            return position
    position = _only(positions, normalize(member.email)) if member.email else None
    if position is None and named is not None:
        accounts = entries[named].ids.get("canvas"), member.ids.get("canvas")
        return None if all(accounts) and accounts[0] != accounts[1] else named
    return position


def _only(positions: Mapping[str, set[int]], key: str) -> int | None:
    matching = positions.get(key, ())
    return next(iter(matching)) if len(matching) == 1 else None


def _group(sources: Members) -> list[_Group]:
    """Group the submissions of several sources by student, without a roster."""
    groups: list[_Group] = []
    for source, members in sources.items():
        left = list(members)
        for kind in ("id", "email", "name"):
            left = _join(source, left, groups, kind)
        groups += [_Group({source: member}) for member in left]
    for group in groups:
        group.notes = list(dict.fromkeys(note for member in group.work.values() for note in member.notes))
    return groups


def _join(source: str, members: Sequence[ClassMember], groups: Sequence[_Group], kind: str) -> list[ClassMember]:
    """Add each member to the group that has the same key; return the members without such a group."""
    candidates: dict[str, list[_Group]] = defaultdict(list)
    for group in groups:
        if source not in group.work:
            for key in {key for member in group.work.values() for key in _keys(member, kind)}:
                candidates[key].append(group)
    namesakes = Counter(key for member in members for key in set(_keys(member, kind)))
    left = []
    for member in members:
        keys = set(_keys(member, kind))
        found = {id(group): group for key in keys for group in candidates.get(key, ())}
        if not found:
            left.append(member)
            continue
        group = next(iter(found.values()))
        if len(found) > 1 or any(namesakes[key] > 1 for key in keys) or _differ(member, group):
            other = ", ".join(sorted({other.submission for group in found.values() for other in group.work.values()}))
            note = f"has the same {kind} as {other}, but may be another student. {_NO_ROSTER}"
            left.append(replace(member, notes=(*member.notes, note)))
        elif source not in group.work:
            group.work[source] = member
        else:
            left.append(member)
    return left


def _differ(member: ClassMember, group: _Group) -> bool:
    """Return whether addresses, or ids of one platform, say that the member is not the student of the group."""
    return any(
        (member.email and other.email and member.email.casefold() != other.email.casefold())
        or any(other.ids.get(platform, number) != number for platform, number in member.ids.items())
        for other in group.work.values()
    )


def _keys(member: ClassMember, kind: str) -> Iterator[str]:
    """Yield the normalized texts by which a member can be found: by id, email or name."""
    if kind == "id":
        for platform, number in member.ids.items():
            if number and not platform.startswith("moodle"):  # Moodle's numbers are different for each assignment
                yield platform_key(platform, number)
    elif kind == "email":
        if member.email:
            yield member.email.casefold()
    else:
        # Canvas: "lovelaceada". Where the family name begins is not known, so every rotation of the words counts.
        words = re.split(r"[\s,]+", member.name or member.submission)
        for start in range(len(words)):
            if key := normalize("".join(words[start:] + words[:start])):
                yield key


class _Names:
    """Gives each student a unique name, the same as in earlier runs where possible."""

    def __init__(self, known: KnownNames, groups: Sequence[_Group]) -> None:
        self._known = known
        self._reserved = {member.submission for group in groups for member in group.work.values()}
        self._used: set[str] = set()

    def of_work(self, work: Mapping[str, ClassMember]) -> str:
        before = [self._known.get(source, {}).get(member.submission, "") for source, member in work.items()]
        first = next(iter(work.values())).submission
        names = chain(before, [first], (f"{first} ({source})" for source in work), (f"{first} ({n})" for n in count(2)))
        name = next(name for name in names if name and name not in self._used)
        self._used.add(name)
        return name

    def of_missing(self, entry: RosterEntry) -> str:
        """Return the name of a person on the roster who has no submission."""
        name = safe_name(entry.id or entry.email or entry.name)
        taken = self._used | self._reserved
        while name in taken:
            name = f"{name} (missing)"
        self._used.add(name)
        return name


def _student(group: _Group, names: _Names, entry: RosterEntry | None = None) -> Student:
    members = list(group.work.values())
    ids = {platform: number for member in members for platform, number in member.ids.items()}
    own_id = next((member.id for member in members if member.id), "")
    name = next((member.name for member in members if " " in member.name), "")
    name = name or next((member.name for member in members if member.name), "")
    email = next((member.email for member in members if member.email), "")
    notes = tuple(group.notes or dict.fromkeys(note for member in members for note in member.notes))
    if entry is None:
        return Student(names.of_work(group.work), name, own_id, email, ids, notes=notes, work=group.work)
    submission = names.of_work(group.work) if members else names.of_missing(entry)
    # The platform's form of an id counts: in nbgrader, it is the name of a folder.
    number = own_id if own_id and normalize(own_id) == normalize(entry.id) else entry.id or own_id
    name, email, ids = entry.name or name, entry.email or email, {**entry.ids, **ids}
    return Student(submission, name, number, email, ids, entry.row, entry.section, entry.ta, notes, group.work)
