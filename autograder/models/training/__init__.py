"""Train the student's own model."""
