"""Exit codes: what a script is told."""

from finchbot.errors import ConfigError, FinchError, StoreTooNew

DONE = 0
FAILED = 1
REFUSED = 2
"""Wrong usage, wrong settings, or something that is not allowed."""
NOT_FOUND = 3
INTERRUPTED = 130


def exit_code(error: FinchError) -> int:
    """Return the code for an error that ends the program."""
    if isinstance(error, ConfigError | StoreTooNew) or error.status in (401, 403, 413, 422):
        return REFUSED
    return NOT_FOUND if error.status == 404 else FAILED
