"""The file tools: read, write, edit and list inside the workspace, and nowhere else."""

from threading import Lock

from finchbot.tools.deps import ToolDeps
from finchbot.tools.files.edit import EditFile
from finchbot.tools.files.listing import ListDir
from finchbot.tools.files.read import ReadFile
from finchbot.tools.files.write import WriteFile
from finchbot.tools.registry import AnyTool


def tools(deps: ToolDeps) -> list[AnyTool]:
    """Return the four file tools."""
    say = deps.sentences
    # Two calls of one message run side by side; edits of one file must not lose each other.
    changing = Lock()
    return [ReadFile(say), WriteFile(say, changing), EditFile(say, changing), ListDir(say)]
