"""The home: the one folder where FinchBot keeps everything that is the user's."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from finchbot.errors import ConfigError
from finchbot.locks import file_lock

_DEFAULT = "~/.finchbot"


@dataclass(frozen=True, slots=True)
class Home:
    """Where each thing of the user's lives.

    Args:
        root: An absolute path; the folder exists.
        temporary: The home vanishes with the machine or the visit; people are told so.
    """

    root: Path
    temporary: bool = False

    @property
    def config_file(self) -> Path:
        """The settings the user changed."""
        return self.root / "config.json"

    @property
    def workspace(self) -> Path:
        """Where the tools read and write, unless a setting names another folder."""
        return self.root / "workspace"

    @property
    def skills_dir(self) -> Path:
        """The user's own skills."""
        return self.workspace / "skills"

    @property
    def data(self) -> Path:
        """The databases."""
        return self.root / "data"

    @property
    def logs(self) -> Path:
        """The log files."""
        return self.root / "logs"

    @property
    def log_file(self) -> Path:
        """The log being written."""
        return self.logs / "finchbot.log"

    @property
    def threads_db(self) -> Path:
        """The record: threads, messages, runs, events."""
        return self.data / "threads.db"

    @property
    def checkpoints_db(self) -> Path:
        """The agent's working state."""
        return self.data / "checkpoints.db"

    @property
    def lock_file(self) -> Path:
        """Held while a program serves this home; holds its process id."""
        return self.data / "home.lock"


def open_home(explicit: Path | None, environ: Mapping[str, str]) -> Home:
    """Return the home with its folders made, each readable by its owner alone.

    Args:
        explicit: The folder of ``--home``; it wins over ``FINCHBOT_HOME``.
        environ: The process environment.

    Returns:
        The named home, else ``~/.finchbot``. When the latter cannot be written, or in a Space
        (``SPACE_ID``) that names no home, a fresh temporary folder with ``temporary`` set.

    Raises:
        ConfigError: ``home.unwritable`` (``path``, ``reason``) for a home that was named.
    """
    named = explicit if explicit is not None else _named(environ)
    if named is not None:
        try:
            return _made(Home(_absolute(named, environ)))
        except (OSError, ValueError) as error:
            raise _unwritable(named, error) from error
    if not environ.get("SPACE_ID"):
        with contextlib.suppress(OSError):
            return _made(Home(_absolute(Path(_DEFAULT), environ)))
    return _made(Home(Path(tempfile.mkdtemp(prefix="finchbot-")), temporary=True))


@contextlib.contextmanager
def lock_home(home: Home) -> Iterator[None]:
    """Keep the home for this program until the block ends.

    Raises:
        ConfigError: ``home.in_use`` (``path``, ``pid``) when another program serves it.
    """
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(file_lock(home.lock_file, wait=False))
        except BlockingIOError as error:
            pid = _holder(home.lock_file)
            raise ConfigError("home.in_use", path=str(home.root), pid=pid) from error
        except OSError as error:
            raise _unwritable(home.root, error) from error
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        yield


def _named(environ: Mapping[str, str]) -> Path | None:
    name = environ.get("FINCHBOT_HOME", "").strip()
    return Path(name) if name else None


def _absolute(path: Path, environ: Mapping[str, str]) -> Path:
    """Expand ``~`` by the given environment, as a shell that has it would."""
    if path.parts[:1] == ("~",) and environ.get("HOME"):
        path = Path(environ["HOME"], *path.parts[1:])
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise OSError("no home directory is known for this user") from error


def _made(home: Home) -> Home:
    for folder in (home.root, home.workspace, home.skills_dir, home.data, home.logs):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (home.root, home.data, home.logs):
        with tempfile.TemporaryFile(dir=folder):
            pass
    return home


def _holder(lock_file: Path) -> str:
    with contextlib.suppress(OSError):
        return lock_file.read_text(errors="replace").strip() or "?"
    return "?"


def _unwritable(path: Path, error: Exception) -> ConfigError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ConfigError("home.unwritable", path=str(path), reason=reason)
