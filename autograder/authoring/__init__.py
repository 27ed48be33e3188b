"""Tools for authors of courses: the rules that every course must keep (`rules.py`), and skeletons of assignments."""
