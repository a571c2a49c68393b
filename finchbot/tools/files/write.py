"""write_file: a file made or replaced, whole."""

import os
import stat
from threading import Lock

from pydantic import Field

from finchbot.errors import ToolInputInvalid
from finchbot.tools.base import Arguments, FinchTool, ToolContext, ToolOutcome
from finchbot.tools.deps import Sentences
from finchbot.tools.files.content import WHOLE_BYTES, chunks
from finchbot.tools.files.diff import comparable, unified
from finchbot.tools.files.folder import OpenRoot
from finchbot.tools.files.offload import StopSign, offload
from finchbot.tools.files.opening import Border, Spot, opened
from finchbot.tools.files.saving import save


class WriteFileArguments(Arguments):
    path: str = Field(min_length=1, description="File to write, relative to the workspace.")
    content: str = Field(description="The whole new content, stored as UTF-8.")


class WriteFile(FinchTool[WriteFileArguments]):
    name = "write_file"
    description = (
        "Write a text file of the workspace, making missing folders. Replaces what was there; "
        "to change a part of a file use edit_file."
    )
    arguments = WriteFileArguments
    touches = frozenset({"writes"})

    def __init__(self, sentences: Sentences, open_root: OpenRoot, changing: Lock) -> None:
        self._say = sentences
        self._open_root = open_root
        self._changing = changing

    async def run(self, arguments: WriteFileArguments, context: ToolContext) -> ToolOutcome:
        border = Border(context.workspace, context.writable_roots, self._open_root, context.closed)
        return await offload(lambda sign: self._write(arguments, border, sign))

    def _write(self, arguments: WriteFileArguments, border: Border, sign: StopSign) -> ToolOutcome:
        data = _encoded(arguments)
        with self._changing, border.spot(arguments.path, make_parents=True) as spot:
            if arguments.path.endswith(("/", os.sep)):
                raise ToolInputInvalid("tool.is_folder", path=spot.shown)
            old = _old_text(spot, sign)
            save(spot, data, sign)
        key = "tool_output.created" if spot.status is None else "tool_output.replaced"
        diff = None if old is None else unified(spot.shown, old, arguments.content)
        return ToolOutcome(self._say(key, path=spot.shown, size=len(data)), diff=diff)


def _encoded(arguments: WriteFileArguments) -> bytes:
    data = arguments.content.encode(errors="replace")
    if len(data) > WHOLE_BYTES:
        raise ToolInputInvalid("tool.file_too_large", path=arguments.path, limit_bytes=WHOLE_BYTES)
    return data


def _old_text(spot: Spot, sign: StopSign) -> str | None:
    """Return what the diff starts from; None when that is no text, or too much of it."""
    if spot.status is None:
        return ""
    if not stat.S_ISREG(spot.status.st_mode) or spot.status.st_size > WHOLE_BYTES:
        return None
    with opened(spot) as descriptor:
        return comparable(b"".join(chunks(descriptor, sign)))
