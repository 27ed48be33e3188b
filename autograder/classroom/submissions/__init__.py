"""Find and read what students submitted."""
