"""Known mistakes, one module per assignment."""
