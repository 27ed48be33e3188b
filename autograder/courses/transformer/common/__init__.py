"""What several assignments share."""
