"""Store what a run knows in its folder OUT, and read it back."""
