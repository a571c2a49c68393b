"""FinchBot's own code run as on Windows: without what only POSIX has, on a POSIX machine.

Only the modules of the package see it: their `os`, `sys`, `signal` and `socket` are views from
which what Windows lacks is gone, importing `fcntl` and its like fails, and `msvcrt` is there. The
libraries below go on as they are, as they have Windows code of their own. As a program::

    python -m tests.support.like_windows chat -m "list files"   # like python -m finchbot
    python -m tests.support.like_windows --import               # every module; prints the failures
"""

import builtins
import errno
import fcntl
import importlib
import importlib.abc
import importlib.machinery
import os
import pkgutil
import signal
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "finchbot"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSIX_MODULES = _words(
    "crypt curses fcntl grp nis ossaudiodev posix pty pwd readline resource spwd syslog termios tty"
)
KEPT_FLAGS = _words("O_RDONLY O_WRONLY O_RDWR O_APPEND O_CREAT O_EXCL O_TRUNC W_OK")
NO_OS = _words(
    "chown ctermid fchdir fchmod fchown fdatasync fork forkpty fpathconf fstatvfs get_blocking "
    "getegid geteuid getgid getgrouplist getgroups getloadavg getpgid getpgrp getpriority "
    "getresgid getresuid getsid getuid initgroups killpg lchown lockf major makedev minor mkfifo "
    "mknod nice openpty pathconf pipe2 posix_fadvise posix_fallocate posix_spawn posix_spawnp "
    "pread preadv pwrite pwritev register_at_fork sched_getaffinity sched_yield sendfile "
    "set_blocking setegid seteuid setgid setgroups setpgid setpriority setsid setuid statvfs sync "
    "sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid"
)
SIGNALS = _words("SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_IGN")
NO_SIGNAL = _words(
    "alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending "
    "sigtimedwait sigwait sigwaitinfo"
)


class View(ModuleType):
    """A module seen with some names gone and some replaced."""

    def __init__(self, seen: ModuleType, gone: frozenset[str], given: Mapping[str, object]) -> None:
        super().__init__(seen.__name__)
        self.__dict__["_seen"] = (seen, gone)
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        seen, gone = self.__dict__["_seen"]
        if name in gone:
            raise AttributeError(f"module {seen.__name__!r} has no attribute {name!r} on Windows")
        return getattr(seen, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_seen"][0], name, value)


def _open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    if isinstance(path, int) or Path(path).is_dir():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return os.open(path, flags, mode)


def _listdir(path: Any = ".") -> list[Any]:
    if isinstance(path, int):
        raise TypeError("listdir: path should be string, bytes or os.PathLike, not int")
    return os.listdir(path)


def _locking(descriptor: int, mode: int, size_bytes: int) -> None:
    """Lock bytes from where the file stands, as Windows' C library does."""
    wanted = {0: fcntl.LOCK_UN, 1: fcntl.LOCK_EX, 2: fcntl.LOCK_EX | fcntl.LOCK_NB}[mode]
    start = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        fcntl.lockf(descriptor, wanted, size_bytes, start)
    except BlockingIOError as error:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from error


def _views() -> dict[str, ModuleType]:
    flags = {name for name in dir(os) if name.startswith(("O_", "SCHED_", "RTLD_", "P_", "W"))}
    gone_of_os = NO_OS | frozenset(flags - KEPT_FLAGS)
    as_windows = {
        "name": "nt",
        "O_BINARY": 0,
        "O_NOINHERIT": 0,
        "supports_dir_fd": set(),
        "supports_fd": {os.stat, os.truncate},
        "supports_follow_symlinks": {os.stat},
        "open": _open,
        "listdir": _listdir,
    }
    other_signals = {n for n in dir(signal) if n.startswith("SIG") and n.isupper()}
    gone_signals = NO_SIGNAL | frozenset(other_signals - SIGNALS)
    gone_of_socket = frozenset({"AF_UNIX", "SO_REUSEPORT", "socketpair", "send_fds", "recv_fds"})
    msvcrt = ModuleType("msvcrt")
    msvcrt.__dict__.update(LK_UNLCK=0, LK_LOCK=1, LK_NBLCK=2, locking=_locking)
    return {
        "os": View(os, gone_of_os, as_windows),
        "sys": View(sys, frozenset({"abiflags"}), {"platform": "win32"}),
        "signal": View(signal, gone_signals, {}),
        "socket": View(socket, gone_of_socket, {"SO_EXCLUSIVEADDRUSE": socket.SO_REUSEADDR}),
        "msvcrt": msvcrt,
    }


def _importing(views: Mapping[str, ModuleType]) -> dict[str, Any]:
    """Return the builtins of FinchBot's modules: an `__import__` that hands out the views."""

    def import_(
        name: str,
        globals_: Mapping[str, object] | None = None,
        locals_: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if level == 0 and (name in views or (top in views and not fromlist)):
            return views[top]
        if level == 0 and top in POSIX_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return builtins.__import__(name, globals_, locals_, fromlist or (), level)

    return {**vars(builtins), "__import__": import_}


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs a module with those builtins."""

    own_builtins: dict[str, Any]

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self.own_builtins
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self._builtins = _importing(_views())

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != PACKAGE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
            spec.loader.own_builtins = self._builtins
        return spec


def install() -> None:
    """Make every later import of the package see Windows.

    Raises:
        RuntimeError: Some of it has been imported already.
    """
    if PACKAGE in sys.modules:
        raise RuntimeError(f"{PACKAGE} is there already")
    sys.meta_path.insert(0, _Finder())


def import_all() -> dict[str, str]:
    """Import every module of the package; return the tracebacks of those that fail."""
    failures = {}
    package = importlib.import_module(PACKAGE)
    for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except Exception:  # noqa: BLE001 - whatever it is, it is reported
            failures[module.name] = traceback.format_exc()
    return failures


def main() -> int:
    """Do what the command line says."""
    install()
    if sys.argv[1:] == ["--import"]:
        failures = import_all()
        for name, trace in failures.items():
            sys.stdout.write(f"{name}\n{trace}\n")
        return len(failures)
    code: int = importlib.import_module(f"{PACKAGE}.cli.main").main()
    return code


if __name__ == "__main__":
    sys.exit(main())
