"""read_file: text with line numbers, by windows; what is no text is named and not shown."""

import codecs
import os

from pydantic import Field

from finchbot.errors import ToolInputInvalid
from finchbot.tools.base import Arguments, FinchTool, ToolContext, ToolOutcome
from finchbot.tools.deps import Sentences
from finchbot.tools.files.content import chunks
from finchbot.tools.files.encoding import SAMPLE_BYTES, Encoding, detect
from finchbot.tools.files.folder import OpenRoot
from finchbot.tools.files.offload import StopSign, offload
from finchbot.tools.files.opening import Border, Spot, check_regular, opened
from finchbot.tools.files.window import Line, Window


class ReadFileArguments(Arguments):
    path: str = Field(min_length=1, description="File to read, relative to the workspace.")
    offset: int = Field(default=1, ge=1, description="First line to show, counted from 1.")
    limit: int | None = Field(
        default=None, ge=1, description="How many lines to show; as many as fit when left out."
    )


class ReadFile(FinchTool[ReadFileArguments]):
    name = "read_file"
    description = (
        "Read a text file of the workspace. The answer starts with the file's size and encoding; "
        "every line carries its number and a tab, which are not part of the file. Long files come "
        "in windows: read on with offset."
    )
    arguments = ReadFileArguments
    touches = frozenset({"reads"})

    def __init__(self, sentences: Sentences, open_root: OpenRoot) -> None:
        self._say = sentences
        self._open_root = open_root

    async def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolOutcome:
        border = Border(context.workspace, context.readable_roots, self._open_root, context.closed)
        return ToolOutcome(await offload(lambda sign: self._read(arguments, border, sign)))

    def _read(self, arguments: ReadFileArguments, border: Border, sign: StopSign) -> str:
        with border.spot(arguments.path) as spot:
            if spot.status is not None:
                check_regular(spot, spot.status)
            with opened(spot) as descriptor:
                status = os.fstat(descriptor)
                check_regular(spot, status)
                return self._show(arguments, spot, descriptor, status.st_size, sign)

    def _show(
        self,
        arguments: ReadFileArguments,
        spot: Spot,
        descriptor: int,
        size_bytes: int,
        sign: StopSign,
    ) -> str:
        sample = os.read(descriptor, SAMPLE_BYTES)
        if not sample:
            return self._say("tool_output.empty_file", path=spot.shown)
        encoding = detect(sample, whole=len(sample) >= size_bytes)
        if encoding is None:
            return self._say("tool_output.binary", path=spot.shown, size=size_bytes)
        window = _window(descriptor, encoding, Window(arguments.offset, arguments.limit), sign)
        if not window.lines:
            raise ToolInputInvalid("tool.offset_past_end", path=spot.shown, lines=window.number - 1)
        return "\n".join(self._lines(window, spot, encoding, size_bytes))

    def _lines(self, window: Window, spot: Spot, encoding: Encoding, size_bytes: int) -> list[str]:
        first, last = window.lines[0].number, window.lines[-1].number
        label = f"{encoding.label}, CRLF" if window.crlf else encoding.label
        header = self._say(
            "tool_output.read",
            path=spot.shown,
            size=size_bytes,
            encoding=label,
            first=first,
            last=last,
        )
        tail = [self._say("tool_output.read_on", offset=last + 1)] if window.more else []
        return [header, *map(self._numbered, window.lines), *tail]

    def _numbered(self, line: Line) -> str:
        cut = self._say("tool_output.line_cut", hidden=line.hidden) if line.hidden else ""
        return f"{line.number:>6}\t{line.text}{cut}"


def _window(descriptor: int, encoding: Encoding, window: Window, sign: StopSign) -> Window:
    """Feed the window from the file until it is full."""
    os.lseek(descriptor, len(encoding.mark), os.SEEK_SET)
    # What does not decode, deep in a file whose beginning did, is shown as U+FFFD.
    decoder = codecs.getincrementaldecoder(encoding.codec)("replace")
    for chunk in chunks(descriptor, sign):
        if not window.feed(decoder.decode(chunk)):
            return window
    if window.feed(decoder.decode(b"", final=True)):
        window.end()
    return window
