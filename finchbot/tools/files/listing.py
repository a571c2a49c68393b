"""list_dir: what is in a folder, sorted, with sizes; links are named and never followed."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from pydantic import Field

from finchbot.errors import ToolInputInvalid, ToolNotFound
from finchbot.tools.base import Arguments, FinchTool, ToolContext, ToolOutcome
from finchbot.tools.deps import Sentences
from finchbot.tools.files.border import printable
from finchbot.tools.files.folder import Folder, OpenRoot, is_link
from finchbot.tools.files.offload import StopSign, offload
from finchbot.tools.files.opening import Border, Spot, entered

SHOWN_ENTRIES = 400
COUNTED_ENTRIES = 20_000
"""Beyond this the rest is said to be more than so many; a tree has no end worth waiting for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a folder."""

    name: str
    depth: int
    """0 for what lies in the folder itself."""
    status: os.stat_result


class ListDirArguments(Arguments):
    path: str = Field(default=".", min_length=1, description="Folder, relative to the workspace.")
    depth: int = Field(default=1, ge=1, le=10, description="How many levels of folders to show.")


class ListDir(FinchTool[ListDirArguments]):
    name = "list_dir"
    description = "List the files and folders of a folder of the workspace, with sizes in bytes."
    arguments = ListDirArguments
    touches = frozenset({"reads"})

    def __init__(self, sentences: Sentences, open_root: OpenRoot) -> None:
        self._say = sentences
        self._open_root = open_root

    async def run(self, arguments: ListDirArguments, context: ToolContext) -> ToolOutcome:
        border = Border(context.workspace, context.readable_roots, self._open_root, context.closed)
        return ToolOutcome(await offload(lambda sign: self._list(arguments, border, sign)))

    def _list(self, arguments: ListDirArguments, border: Border, sign: StopSign) -> str:
        with border.spot(arguments.path) as spot:
            if spot.status is None:
                raise ToolNotFound(path=spot.shown)
            if not stat.S_ISDIR(spot.status.st_mode):
                raise ToolInputInvalid("tool.not_a_folder", path=spot.shown)
            with entered(spot) as folder:
                return self._show(spot, _walk(folder, arguments.depth, 0, sign))

    def _show(self, spot: Spot, entries: Iterator[Entry]) -> str:
        first = list(islice(entries, SHOWN_ENTRIES))
        if not first:
            return self._say("tool_output.empty_folder", path=spot.shown)
        rest = sum(1 for _ in islice(entries, COUNTED_ENTRIES))
        lines = [self._say("tool_output.listed", path=spot.shown), *map(self._line, first)]
        if rest:
            key = "tool_output.more_than" if rest == COUNTED_ENTRIES else "tool_output.more"
            lines.append(self._say(key, count=rest))
        return "\n".join(lines)

    def _line(self, entry: Entry) -> str:
        indent, name, mode = "  " * entry.depth, printable(entry.name), entry.status.st_mode
        linked = is_link(entry.status)
        if stat.S_ISDIR(mode) and not linked:
            return f"{indent}{name}/"
        if stat.S_ISREG(mode) and not linked:
            return f"{indent}{name}  {entry.status.st_size}"
        kind = "link" if linked else "special"
        return f"{indent}{name}  {self._say(f'tool_output.{kind}')}"


def _walk(folder: Folder, levels: int, depth: int, sign: StopSign) -> Iterator[Entry]:
    """Yield the entries, each folder before what is in it."""
    for name in sorted(folder.names(), key=lambda name: (name.casefold(), name)):
        sign.check()
        try:
            status = folder.look(name)
        except FileNotFoundError:
            continue
        yield Entry(name, depth, status)
        if stat.S_ISDIR(status.st_mode) and not is_link(status) and levels > 1:
            yield from _inside(name, folder, levels, depth, sign)


def _inside(name: str, folder: Folder, levels: int, depth: int, sign: StopSign) -> Iterator[Entry]:
    try:
        inner = folder.enter(name)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        # Locked, or gone, or swapped for a link since it was named: it is shown without content.
        return
    with closing(inner):
        yield from _walk(inner, levels - 1, depth + 1, sign)
