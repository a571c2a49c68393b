"""The file tools: read, write, edit and list inside the workspace, and nowhere else."""

from threading import Lock

from finchbot.tools.deps import ToolDeps
from finchbot.tools.files.edit import EditFile
from finchbot.tools.files.folder import OpenRoot
from finchbot.tools.files.listing import ListDir
from finchbot.tools.files.native import native
from finchbot.tools.files.read import ReadFile
from finchbot.tools.files.write import WriteFile
from finchbot.tools.registry import AnyTool


def tools(deps: ToolDeps, open_root: OpenRoot | None = None) -> list[AnyTool]:
    """Return the four file tools; `open_root` is the system's best when left out."""
    say = deps.sentences
    # Two calls of one message run side by side; edits of one file must not lose each other.
    changing = Lock()
    disk = open_root or native()
    return [
        ReadFile(say, disk),
        WriteFile(say, disk, changing),
        EditFile(say, disk, changing),
        ListDir(say, disk),
    ]
