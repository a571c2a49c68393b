"""edit_file: one piece of a file replaced by another, exactly; all else stays byte for byte."""

from threading import Lock

from pydantic import Field

from finchbot.errors import ToolInputInvalid, ToolRetry
from finchbot.tools.base import Arguments, FinchTool, ToolContext, ToolOutcome
from finchbot.tools.deps import Sentences
from finchbot.tools.files.content import Content, read_content
from finchbot.tools.files.diff import unified
from finchbot.tools.files.folder import OpenRoot
from finchbot.tools.files.offload import StopSign, offload
from finchbot.tools.files.opening import Border, Spot
from finchbot.tools.files.replacing import Replacement, find, line_numbers, nearest_lines
from finchbot.tools.files.saving import save

SHOWN_LINES = 10


class EditFileArguments(Arguments):
    path: str = Field(min_length=1, description="File to change, relative to the workspace.")
    old_text: str = Field(
        description="The text to replace, exactly as it stands in the file, without line numbers; "
        "it must occur once unless replace_all is true."
    )
    new_text: str = Field(description="What takes its place; empty to delete.")
    replace_all: bool = Field(default=False, description="Replace every occurrence.")


class EditFile(FinchTool[EditFileArguments]):
    name = "edit_file"
    description = (
        "Replace a piece of a text file of the workspace by another. Line breaks, encoding and "
        "everything around it stay as they are."
    )
    arguments = EditFileArguments
    touches = frozenset({"reads", "writes"})

    def __init__(self, sentences: Sentences, open_root: OpenRoot, changing: Lock) -> None:
        self._say = sentences
        self._open_root = open_root
        self._changing = changing

    async def run(self, arguments: EditFileArguments, context: ToolContext) -> ToolOutcome:
        if not arguments.old_text:
            raise ToolInputInvalid("tool.edit_empty")
        if arguments.old_text == arguments.new_text:
            raise ToolInputInvalid("tool.edit_equal")
        border = Border(context.workspace, context.writable_roots, self._open_root, context.closed)
        return await offload(lambda sign: self._edit(arguments, border, sign))

    def _edit(self, arguments: EditFileArguments, border: Border, sign: StopSign) -> ToolOutcome:
        with self._changing, border.spot(arguments.path) as spot:
            content = read_content(spot, sign)
            found = find(content.text, arguments.old_text, arguments.new_text)
            _check(found, content.text, spot, arguments.replace_all)
            text, count = found.applied(content.text)
            save(spot, _encoded(content, text, spot), sign)
        output = self._say("tool_output.edited", path=spot.shown, count=count)
        return ToolOutcome(output, diff=unified(spot.shown, content.text, text))


def _check(found: Replacement, text: str, spot: Spot, replace_all: bool) -> None:
    if not found.places:
        nearest = nearest_lines(text, found.old)
        code = "tool.edit_no_match_near" if nearest else "tool.edit_no_match"
        raise ToolRetry(code, path=spot.shown, count=0, nearest="\n".join(nearest))
    if len(found.places) > 1 and not replace_all:
        lines = ", ".join(map(str, line_numbers(text, found.places[:SHOWN_LINES])))
        raise ToolRetry(
            "tool.edit_many_matches", path=spot.shown, count=len(found.places), lines=lines
        )


def _encoded(content: Content, text: str, spot: Spot) -> bytes:
    try:
        return content.encoded(text)
    except UnicodeEncodeError as error:
        raise ToolInputInvalid(
            "tool.not_encodable",
            path=spot.shown,
            encoding=content.encoding.label,
            character=error.object[error.start],
        ) from error
