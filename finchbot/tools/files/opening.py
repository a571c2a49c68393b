"""The border, walked: files and folders are reached name by name from an open root.

Every folder on the way is opened in the one before it and never through a link; a link is read
and its target judged like any other path. How much a swap between the check and the opening can
do depends on how the system opens folders: see `descriptors.py` and `checked.py`.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from finchbot.errors import ToolDenied, ToolError, ToolFailed, ToolInputInvalid, ToolNotFound
from finchbot.tools.files.border import Way, link_way, printable, shown, standing, way
from finchbot.tools.files.folder import Folder, OpenRoot, is_link
from finchbot.tools.files.windows import is_remote, windows_link_way, windows_way

MAX_LINKS = 40


@dataclass(frozen=True, slots=True)
class Spot:
    """A judged place: a name in an open folder. The name was no link when it was looked at."""

    folder: Folder
    name: str
    """``"."`` when the spot is the open folder itself."""
    shown: str
    """The path for people and the model."""
    status: os.stat_result | None
    """None when nothing is there yet."""


@dataclass(frozen=True, slots=True)
class Border:
    """The folders a tool may touch; all absolute and resolved, and spelled the system's way."""

    workspace: PurePath
    roots: tuple[PurePath, ...]
    open_root: OpenRoot
    closed: tuple[PurePath, ...] = ()
    """What stays shut inside the roots."""

    @contextmanager
    def spot(self, spelling: str, *, make_parents: bool = False) -> Iterator[Spot]:
        """Walk to a place; its folder stays open inside the block.

        Args:
            spelling: A path as the model wrote it.
            make_parents: Whether to make the folders on the way that are missing.

        Raises:
            ToolDenied: It lies outside, directly or by links.
            ToolInputInvalid: It can name no file.
            ToolNotFound: A folder on the way is missing or is no folder.
            ToolFailed: The system refuses.
        """
        with _told(printable(spelling)), closing(_Walk(self, spelling, make_parents)) as walk:
            yield walk.to(self._way(spelling))

    def _way(self, spelling: str) -> Way:
        workspace = _pure(self.workspace)
        spelled = (
            windows_way(spelling, workspace)
            if isinstance(workspace, PureWindowsPath)
            else way(spelling)
        )
        if spelled.anchor is None:
            return Way(type(workspace)(workspace.anchor), [*workspace.parts[1:], *spelled.names])
        return self._resolved(spelled.anchor, spelled)

    def _resolved(self, anchor: PurePath, spelled: Way) -> Way:
        """Return an absolute way as the disk knows it, if it is not below a root as spelled.

        It may be another spelling of a root, such as /tmp for macOS's /private/tmp. Whatever
        comes out is judged again on the walk.
        """
        place = anchor.joinpath(*spelled.names)
        if standing(place, map(_pure, self.roots), map(_pure, self.closed)) != "outside":
            return spelled
        if isinstance(anchor, PureWindowsPath) and is_remote(anchor):
            return spelled
        real = type(anchor)(os.path.realpath(place))
        return Way(type(anchor)(real.anchor), list(real.parts[1:]))


@contextmanager
def opened(spot: Spot) -> Iterator[int]:
    """Open the file at the spot for reading, never through a link; yield its descriptor.

    Raises:
        ToolNotFound: Nothing is there.
        ToolDenied: It is not what it was any more.
        ToolFailed: The system refuses.
    """
    with _told(spot.shown):
        descriptor = spot.folder.open(spot.name)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


@contextmanager
def entered(spot: Spot) -> Iterator[Folder]:
    """Open the folder at the spot, never through a link.

    Raises:
        ToolNotFound: Nothing is there.
        ToolDenied: It is not what it was any more.
        ToolFailed: The system refuses.
    """
    with _told(spot.shown), closing(spot.folder.enter(spot.name)) as folder:
        yield folder


def check_regular(spot: Spot, status: os.stat_result) -> None:
    """Refuse what is not a plain file.

    Raises:
        ToolInputInvalid: A folder, pipe, device or socket.
    """
    if stat.S_ISDIR(status.st_mode):
        raise ToolInputInvalid("tool.is_folder", path=spot.shown)
    if not stat.S_ISREG(status.st_mode):
        raise ToolInputInvalid("tool.not_regular", path=spot.shown)


class _Walk:
    """One walk; the open folders are a stack, so that ``..`` is the folder one came from."""

    def __init__(self, border: Border, spelling: str, make_parents: bool) -> None:
        self._roots = tuple(map(_pure, border.roots))
        self._closed = tuple(map(_pure, border.closed))
        self._workspace = _pure(border.workspace)
        self._open_root = border.open_root
        self._spelling = printable(spelling)
        self._make_parents = make_parents
        self._place = self._workspace
        self._folders: list[Folder] = []
        self._links = 0

    def to(self, absolute: Way) -> Spot:
        """Take the steps, expanding links, and return where they end."""
        pending = list(reversed(absolute.names))
        self._restart(absolute.anchor)
        while pending:
            name = pending.pop()
            if name == "..":
                self._back()
                continue
            target = self._place / name
            if not self._enters(target):
                continue
            status = self._look(name)
            if status is not None and is_link(status):
                pending.extend(reversed(self._link(name)))
            elif pending:
                self._into(name, status, pending)
            else:
                return Spot(self._folders[-1], name, shown(target, self._workspace), status)
        return self._here()

    def _enters(self, target: PurePath) -> bool:
        """Judge a step; say whether it leads on inside an open folder, to be looked at."""
        match standing(target, self._roots, self._closed):
            case "outside":
                raise ToolDenied("tool.outside", path=self._spelling)
            case "above":
                self._place = target
                return False
            case "inside" if not self._folders:
                self._folders.append(self._open_root(target))
                self._place = target
                return False
            case "inside":
                return True

    def _restart(self, anchor: PurePath | None) -> None:
        """Go to the top of a disk; stay when there is none."""
        if anchor is None:
            return
        self.close()
        self._place = _pure(anchor)
        if self._place in self._roots:
            self._folders.append(self._open_root(self._place))

    def _look(self, name: str) -> os.stat_result | None:
        try:
            return self._folders[-1].look(name)
        except FileNotFoundError:
            return None

    def _link(self, name: str) -> list[str]:
        """Return the steps a link stands for; an absolute one starts the walk anew."""
        self._links += 1
        if self._links > MAX_LINKS:
            raise ToolDenied("tool.outside", path=self._spelling)
        target = self._folders[-1].link(name)
        place = self._place
        led = (
            windows_link_way(target, place)
            if isinstance(place, PureWindowsPath)
            else link_way(target)
        )
        self._restart(led.anchor)
        return led.names

    def _into(self, name: str, status: os.stat_result | None, rest: Sequence[str]) -> None:
        if status is None:
            if not self._make_parents or ".." in rest:
                raise ToolNotFound(path=self._spelling)
            self._folders[-1].make(name)
        elif not stat.S_ISDIR(status.st_mode):
            raise ToolNotFound("tool.not_a_folder", path=shown(self._place / name, self._workspace))
        self._folders.append(self._folders[-1].enter(name))
        self._place /= name

    def _back(self) -> None:
        if self._place != self._place.parent and self._folders:
            self._folders.pop().close()
        self._place = self._place.parent

    def _here(self) -> Spot:
        if not self._folders:
            raise ToolDenied("tool.outside", path=self._spelling)
        here = self._folders[-1]
        return Spot(here, ".", shown(self._place, self._workspace), here.look("."))

    def close(self) -> None:
        """Close the folders on the way."""
        while self._folders:
            self._folders.pop().close()


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Turn the system's refusals into errors the model can act on."""
    try:
        yield
    except OSError as error:
        raise _tool_error(error, path) from error


def _tool_error(error: OSError, path: str) -> ToolError:
    match error.errno:
        case errno.ENOENT:
            return ToolNotFound(path=path)
        case errno.ELOOP | errno.ENOTDIR | errno.EEXIST:
            return ToolDenied("tool.path_changed", path=path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return ToolDenied("tool.no_permission", path=path)
        case errno.ENAMETOOLONG:
            return ToolInputInvalid("tool.name_too_long", path=path)
        case errno.EISDIR:
            return ToolInputInvalid("tool.is_folder", path=path)
        case errno.ENXIO | errno.ENODEV:
            return ToolInputInvalid("tool.not_regular", path=path)
        case _:
            return ToolFailed("tool.io_failed", path=path, reason=os.strerror(error.errno or 0))


def _pure(path: PurePath) -> PurePath:
    """Return a path to reckon with, of the same system."""
    return (PureWindowsPath if isinstance(path, PureWindowsPath) else PurePosixPath)(path)
