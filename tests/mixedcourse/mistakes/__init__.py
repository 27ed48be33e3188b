"""Known mistakes."""
