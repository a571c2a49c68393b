"""The border, walked: files and folders are reached name by name from an open root.

Every folder on the way is opened relative to the one before it and never through a link; a link
is read and its target judged like any other path. So a link that is swapped between the check
and the opening leads nowhere: what was judged is what is open.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from finchbot.errors import ToolDenied, ToolError, ToolFailed, ToolInputInvalid, ToolNotFound
from finchbot.tools.files.border import printable, shown, standing, steps

MAX_LINKS = 40
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Spot:
    """A judged place: a name in an open folder. The name was no link when it was looked at."""

    folder_fd: int
    name: str
    """``"."`` when the spot is the open folder itself."""
    shown: str
    """The path for people and the model."""
    status: os.stat_result | None
    """None when nothing is there yet."""


@dataclass(frozen=True, slots=True)
class Border:
    """The folders a tool may touch; all absolute and resolved."""

    workspace: Path
    roots: tuple[Path, ...]

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
            yield walk.to(self._steps(spelling))

    def _steps(self, spelling: str) -> list[str]:
        names = steps(spelling, PurePosixPath(self.workspace))
        place = PurePosixPath("/", *names)
        if spelling.startswith("/") and standing(place, _pure(self.roots)) == "outside":
            # Another spelling of a root, such as /tmp for macOS's /private/tmp. Whatever comes
            # out is judged again on the walk.
            names = list(PurePosixPath(os.path.realpath(spelling)).parts[1:])
        return names


@contextmanager
def opened(spot: Spot, flags: int) -> Iterator[int]:
    """Open the spot itself, never through a link, never waiting for a peer; yield its descriptor.

    Raises:
        ToolNotFound: Nothing is there.
        ToolFailed: The system refuses.
    """
    safe = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with _told(spot.shown):
        descriptor = os.open(spot.name, flags | safe, dir_fd=spot.folder_fd)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


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
        self._roots = _pure(border.roots)
        self._workspace = PurePosixPath(border.workspace)
        self._spelling = printable(spelling)
        self._make_parents = make_parents
        self._place = PurePosixPath("/")
        self._folders: list[int] = []
        self._links = 0

    def to(self, names: Sequence[str]) -> Spot:
        """Take the steps, expanding links, and return where they end."""
        pending = list(reversed(names))
        self._restart()
        while pending:
            name = pending.pop()
            if name == "..":
                self._back()
                continue
            target = self._place / name
            if not self._enters(target):
                continue
            status = self._look(name)
            if status is not None and stat.S_ISLNK(status.st_mode):
                pending.extend(reversed(self._link(name)))
            elif pending:
                self._into(name, status, pending)
            else:
                return Spot(self._folders[-1], name, shown(target, self._workspace), status)
        return self._here()

    def _enters(self, target: PurePosixPath) -> bool:
        """Judge a step; say whether it leads on inside an open folder, to be looked at."""
        match standing(target, self._roots):
            case "outside":
                raise ToolDenied("tool.outside", path=self._spelling)
            case "above":
                self._place = target
                return False
            case "inside" if not self._folders:
                self._folders.append(os.open(target, _FOLDER))
                self._place = target
                return False
            case "inside":
                return True

    def _restart(self) -> None:
        self.close()
        self._place = PurePosixPath("/")
        if self._place in self._roots:
            self._folders.append(os.open("/", _FOLDER))

    def _look(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._folders[-1], follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _link(self, name: str) -> list[str]:
        """Return the steps a link stands for; an absolute one starts the walk anew."""
        self._links += 1
        if self._links > MAX_LINKS:
            raise ToolDenied("tool.outside", path=self._spelling)
        target = os.readlink(name, dir_fd=self._folders[-1])
        if target.startswith("/"):
            self._restart()
        return [step for step in target.split("/") if step not in ("", ".")]

    def _into(self, name: str, status: os.stat_result | None, rest: Sequence[str]) -> None:
        if status is None:
            if not self._make_parents or ".." in rest:
                raise ToolNotFound(path=self._spelling)
            os.mkdir(name, dir_fd=self._folders[-1])
        elif not stat.S_ISDIR(status.st_mode):
            raise ToolNotFound("tool.not_a_folder", path=shown(self._place / name, self._workspace))
        self._folders.append(os.open(name, _FOLDER, dir_fd=self._folders[-1]))
        self._place /= name

    def _back(self) -> None:
        if self._place != PurePosixPath("/") and self._folders:
            os.close(self._folders.pop())
        self._place = self._place.parent

    def _here(self) -> Spot:
        if not self._folders:
            raise ToolDenied("tool.outside", path=self._spelling)
        here = self._folders[-1]
        return Spot(here, ".", shown(self._place, self._workspace), os.fstat(here))

    def close(self) -> None:
        """Close the folders on the way."""
        while self._folders:
            os.close(self._folders.pop())


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


def _pure(roots: Sequence[Path]) -> tuple[PurePosixPath, ...]:
    return tuple(PurePosixPath(root) for root in roots)
