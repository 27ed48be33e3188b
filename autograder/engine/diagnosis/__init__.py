"""Name the mistake behind a failed check."""
