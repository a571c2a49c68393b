"""A disk in memory that takes names the way Windows does, its traps included."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath, PureWindowsPath
from typing import Union

Tree = Mapping[str, Union["Tree", str, "Link"]]


@dataclass(frozen=True)
class Link:
    """A symbolic link or a junction, spelled as the system has it."""

    target: str


class TrapSprung(Exception):
    """A name was used that means something else than it says."""


@dataclass
class Drive:
    """Trees below their anchors, such as ``C:\\``; remembers which anchors were touched."""

    trees: Mapping[str, Tree]
    touched: set[str] = field(default_factory=set)

    def open_root(self, place: PurePath) -> "DriveFolder":
        self.touched.add(place.anchor.casefold())
        [tree] = (
            tree
            for anchor, tree in self.trees.items()
            if anchor.casefold() == place.anchor.casefold()
        )
        for name in place.parts[1:]:
            inner = tree[_literal(name, tree)]
            assert isinstance(inner, Mapping)
            tree = inner
        return DriveFolder(PureWindowsPath(place), tree)


class DriveFolder:
    """A folder of it; read only."""

    def __init__(self, place: PureWindowsPath, tree: Tree) -> None:
        self.place = place
        self._tree = tree

    def names(self) -> list[str]:
        return list(self._tree)

    def look(self, name: str) -> os.stat_result:
        there = self._tree if name == "." else self._there(name)
        mode = {str: stat.S_IFREG, Link: stat.S_IFLNK}.get(type(there), stat.S_IFDIR)
        return os.stat_result((mode | 0o777, 1, 1, 1, 0, 0, 0, 0, 0, 0))

    def link(self, name: str) -> str:
        there = self._there(name)
        assert isinstance(there, Link)
        return there.target

    def enter(self, name: str) -> "DriveFolder":
        there = self._there(name)
        if not isinstance(there, Mapping):
            raise NotADirectoryError
        return DriveFolder(self.place / name, there)

    def make(self, name: str) -> None:
        raise PermissionError

    def open(self, name: str) -> int:
        raise PermissionError

    def create(self, name: str, mode: int | None) -> int:
        raise PermissionError

    def replace(self, name: str, target: str) -> None:
        raise PermissionError

    def remove(self, name: str) -> None:
        raise PermissionError

    def sync(self) -> None:
        raise PermissionError

    def close(self) -> None:
        pass

    def _there(self, name: str) -> object:
        return self._tree[_literal(name, self._tree)]


def _literal(name: str, tree: Tree) -> str:
    """Return the name as it stands in the tree, without regard to case."""
    if name.rstrip(". ") != name or ":" in name or "/" in name or "\\" in name:
        raise TrapSprung(name)
    if PureWindowsPath(name).is_reserved():
        raise TrapSprung(name)
    for known in tree:
        if known.casefold() == name.casefold():
            return known
    raise FileNotFoundError(name)
