"""Compare a student's answer with the reference."""
