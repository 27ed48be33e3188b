"""A student's workspace: its files, recorded progress, checks, and the watch mode."""
