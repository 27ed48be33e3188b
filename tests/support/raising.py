"""Let something fail that a test replaces."""


def raising(error):
    """Return a function that raises an error, whatever it is called with."""

    def fail(*args, **options):
        raise error

    return fail
