"""Models that were trained elsewhere, which the functions of the course run: what they are, and their files."""
