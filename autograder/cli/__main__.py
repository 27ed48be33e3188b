"""`python -P -m autograder.cli`: the command line without the installed script."""

from autograder.cli import main

main()
