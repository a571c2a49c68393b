"""A file put in place whole or not at all."""

import os
import secrets
import stat
from contextlib import suppress

from finchbot.errors import ToolDenied
from finchbot.tools.files.offload import StopSign
from finchbot.tools.files.opening import Spot, check_regular

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
        os.replace(name, spot.name, src_dir_fd=spot.folder_fd, dst_dir_fd=spot.folder_fd)
        os.fsync(spot.folder_fd)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=spot.folder_fd)


def _write(name: str, spot: Spot, data: bytes, sign: StopSign) -> None:
    descriptor = os.open(name, _NEW, 0o666, dir_fd=spot.folder_fd)
    try:
        if spot.status is not None:
            os.fchmod(descriptor, stat.S_IMODE(spot.status.st_mode))
        view = memoryview(data)
        while view:
            sign.check()
            view = view[os.write(descriptor, view[: 1 << 20]) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
