"""Generate what an instructor starts a class with: a `course.toml` and a repository for students."""
