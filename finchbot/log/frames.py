"""Where in the code an exception came from, for the log."""

import traceback


def frames_of(error: BaseException) -> str:
    """Return the exception's kind and its way through the code, a line per frame.

    Never its words: those may quote what somebody said.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{type(error).__qualname__}\n{frames}".rstrip()
