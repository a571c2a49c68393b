"""The choice: how this system's folders are opened."""

import os

from finchbot.lazy import load
from finchbot.tools.files.folder import OpenRoot

_RELATIVE = frozenset({"open", "stat", "mkdir", "unlink", "readlink", "rename"})
_FLAGS = ("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK")


def native() -> OpenRoot:
    """Return what holds folders open where the system can, else what checks them by path."""
    # By name: what watches a program may have put functions of its own in their place.
    relative = {function.__name__ for function in os.supports_dir_fd}
    held = relative >= _RELATIVE and all(hasattr(os, flag) for flag in _FLAGS)
    # Each is loaded only where it is used: the first cannot even be imported everywhere.
    open_root: OpenRoot = (
        load("finchbot.tools.files.descriptors").DescriptorFolder.at
        if held
        else load("finchbot.tools.files.checked").CheckedFolder.at
    )
    return open_root
