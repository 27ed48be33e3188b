"""A student's workspace: the files, what is known about them, and the commands that check them."""
