"""Folders that the tests use."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
SUBMISSIONS = TESTS / "submissions"
