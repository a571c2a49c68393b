"""A file put in place whole or not at all."""

import os
import secrets
import stat
from contextlib import suppress

from finchbot.errors import ToolDenied
from finchbot.tools.files.offload import StopSign
from finchbot.tools.files.opening import Spot, check_regular


def save(spot: Spot, data: bytes, sign: StopSign) -> None:
    """Write a neighbour, make it durable, and give it the name; keeps the mode of what was there.

    Raises:
        ToolInputInvalid: The place holds a folder, pipe, device or socket.
        ToolDenied: What is there is marked read-only.
        OSError: The system refuses; nothing has changed.
    """
    if spot.status is not None:
        check_regular(spot, spot.status)
        if not spot.status.st_mode & 0o222:
            raise ToolDenied("tool.read_only", path=spot.shown)
    name = f".finchbot-{secrets.token_hex(6)}.tmp"
    try:
        _write(name, spot, data, sign)
        sign.check()
        spot.folder.replace(name, spot.name)
        spot.folder.sync()
    finally:
        with suppress(FileNotFoundError):
            spot.folder.remove(name)


def _write(name: str, spot: Spot, data: bytes, sign: StopSign) -> None:
    mode = None if spot.status is None else stat.S_IMODE(spot.status.st_mode)
    descriptor = spot.folder.create(name, mode)
    try:
        view = memoryview(data)
        while view:
            sign.check()
            view = view[os.write(descriptor, view[: 1 << 20]) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
