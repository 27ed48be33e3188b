"""Texts that are safe to show, and numbers and times in words."""

import datetime

import pytest

from autograder.core import points, text

NOON = datetime.datetime(2026, 3, 5, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(("given", "limit", "shown"), [
    ("a\x1b[31mb\u202ec\x07\ufeffd\n\te", 40, "abcd\n\te"), ("\x1b]0;title\x07x", 40, "x"), ("y\ud800", 40, "y?"),
    ("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("\0" * 79 + "ab", 4, "a"), (None, 4, "None"),
])  # fmt: skip
def test_clean_text_is_safe_and_short(given, limit, shown):
    assert text.clean(given, limit) == shown and text.clean_name(given, limit) == shown.replace("\n\t", "  ")


def test_escape_controls_keeps_what_they_were():
    assert text.escape_controls('"\x1b[1m\u202e"') == '"\\u001b\\u005b\\u0031\\u006d\\u202e"'


def test_counts_and_lists_in_words():
    assert [text.counted(count, "file") for count in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert [text.listed(["a", "b", "c"], most, "; ") for most in (2, 3)] == ["a; b; and 1 more", "a; b; c"]
    assert (
        text.did_you_mean("sofmax", ["gpt", "softmax"]) == "Did you mean 'softmax'? "
        and text.did_you_mean("x", ["y"]) == ""
    )


@pytest.mark.parametrize("code", ["x = 1", "```", "a ```` b"])
def test_code_block_is_not_ended_by_its_text(code):
    fence, *_, last = text.code_block(code, "python").split("\n")
    assert fence == f"{last}python" and last not in code and len(last) >= 3 and f"\n{code}\n" in text.code_block(code)


@pytest.mark.parametrize(("seconds", "words"), [
    (0, "now"), (59, "now"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (86399, "23 h"), (86400, "1 d"),
    (-5, "now"), (3 * 86400 - 1, "2 d"),
])  # fmt: skip
def test_ago_is_in_the_largest_unit_that_fits(seconds, words):
    since = (NOON - datetime.timedelta(seconds=seconds)).astimezone(datetime.timezone(datetime.timedelta(hours=1)))
    assert text.ago(since.isoformat(), NOON) == words


@pytest.mark.parametrize(("time", "zone", "shown"), [
    ("2026-03-05T12:00:00+00:00", "Europe/Berlin", "5 March 2026, 13:00 (Europe/Berlin)"),
    ("2026-03-05T12:00:00", "UTC", "5 March 2026, 12:00 (UTC)"), (None, "UTC", ""), ("soon\x07", "UTC", "soon"),
    ("2026-03-05T12:00:00-01:00", "nowhere", "5 March 2026, 13:00 (UTC)"),
])  # fmt: skip
def test_local_time_is_that_of_the_zone(time, zone, shown):
    assert text.local_time(time, zone) == shown


@pytest.mark.parametrize(("value", "shown"), [
    (0.285, "0.29"), (-0.001, "0"), (100.0, "100"), (1.5, "1.5"), (1e7, "10000000"), (0.005, "0.01"), (2.999999, "3"),
    (1.005, "1.01"), (12.0, "12"),
])  # fmt: skip
def test_points_have_at_most_two_decimals(value, shown):
    assert points.format_points(value) == shown
