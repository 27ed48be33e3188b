"""The pages of a course and their ways to run Python: a website, a local server, and the browser itself."""
