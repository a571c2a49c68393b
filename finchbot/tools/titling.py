"""session_title: the agent reads and sets the title of the thread it talks in."""

from typing import Literal

from pydantic import Field

from finchbot.errors import ToolInputInvalid
from finchbot.threads.title_text import clean_title
from finchbot.tools.base import Arguments, FinchTool, ToolContext, ToolOutcome
from finchbot.tools.deps import Sentences, Titles, ToolDeps
from finchbot.tools.registry import AnyTool

TITLE_CHARS = 120


class SessionTitleArguments(Arguments):
    action: Literal["get", "set"] = Field(description="Read the title, or set it.")
    title: str | None = Field(
        default=None,
        max_length=TITLE_CHARS,
        description="The new title, a few words in the user's language; needed to set.",
    )


class SessionTitle(FinchTool[SessionTitleArguments]):
    name = "session_title"
    description = "Read or set the title of this thread. Set it only when the user asks."
    arguments = SessionTitleArguments
    touches = frozenset({"reads", "writes"})

    def __init__(self, titles: Titles, sentences: Sentences) -> None:
        self._titles = titles
        self._say = sentences

    async def run(self, arguments: SessionTitleArguments, context: ToolContext) -> ToolOutcome:
        if arguments.action == "get":
            title = await self._titles.get(context.user_id, context.thread_id)
            return ToolOutcome(title or self._say("tool_output.untitled"))
        title = clean_title(arguments.title or "")
        if not title:
            raise ToolInputInvalid("tool.title_missing")
        await self._titles.set_by_tool(context.user_id, context.thread_id, title)
        return ToolOutcome(self._say("tool_output.titled", title=title))


def tools(deps: ToolDeps) -> list[AnyTool]:
    """Return the one tool."""
    return [SessionTitle(deps.titles, deps.sentences)]
