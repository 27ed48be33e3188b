"""The student's loop: a workspace and what happens in it."""
