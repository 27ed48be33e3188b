"""Returns a function that is wrapped in other functions without end.

Held by: process
Right: 0 points
"""

class Wrapper:
    @property
    def __wrapped__(self):
        return Wrapper()

    @property
    def __code__(self):
        return self.__wrapped__.__code__

    def __call__(self, x, axis=-1):
        return x


log_softmax = Wrapper()
