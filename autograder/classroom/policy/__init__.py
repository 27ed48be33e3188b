"""The grading policy of a class: its types, and the file `course.toml`."""
