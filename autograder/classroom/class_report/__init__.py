"""Summarize a graded class: statistics, comparisons, similar submissions, pages for students."""
