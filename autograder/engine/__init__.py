"""Run the checks of a course on a submission and report what was found."""
