"""The settings while the program runs: read again when the file changes, saved with care."""

import contextlib
import copy
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from finchbot.errors import ConfigError, RevisionConflict
from finchbot.home import Home
from finchbot.locks import file_lock
from finchbot.settings.changes import apply_changes
from finchbot.settings.document import stamp_of, write_document
from finchbot.settings.fields import all_fields, dotted, file_path, secrets_of, shown, value_at
from finchbot.settings.layers import Layer, Source, merge
from finchbot.settings.model import Settings
from finchbot.settings.snapshot import (
    Origin,
    SafeMode,
    Snapshot,
    broken,
    nested,
    refuse_wrong_options,
)
from finchbot.settings.values import FieldPath

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One setting as the admin shows it."""

    value: JsonValue
    """Masked where it is a secret."""
    source: Source
    restart: bool
    """A change works after the next start only."""


class SettingsStore:
    """The one way to the settings; shared by all threads of a program.

    Args:
        home: Where ``config.json`` is.
        environ: The process environment, as it is now; later changes are not seen.
        overrides: Settings from the command line, by dotted name.

    Raises:
        ConfigError: A value of the command line or the environment is wrong; ``field`` names
            the setting or the variable.
    """

    def __init__(
        self,
        home: Home,
        *,
        environ: Mapping[str, str],
        overrides: Mapping[str, JsonValue] | None = None,
    ) -> None:
        self._file = home.config_file
        self._lock_file = home.data / "config.lock"
        self._origin = Origin(self._file, dict(environ), nested(overrides or {}))
        self._lock = threading.RLock()
        self._secrets = dict.fromkeys(self._origin.environment_secrets())
        self._snapshot = self._read()
        refuse_wrong_options(self._snapshot)
        for variable in self._snapshot.environment.unknown:
            _log.warning("the variable %s names no setting", variable)

    @property
    def current(self) -> Settings:
        """The settings as file, environment and command line have them now."""
        return self._refreshed().merged.settings

    @property
    def revision(self) -> str:
        """Changes whenever the file does; `patch` asks for it."""
        return self._refreshed().document.revision

    @property
    def safe_mode(self) -> SafeMode | None:
        """What is wrong with the file, or None."""
        return self._refreshed().safe_mode

    def secrets(self) -> tuple[str, ...]:
        """Return every secret seen since the start, replaced ones too, for the log's filter."""
        return tuple(self._secrets)

    def fields(self) -> dict[str, FieldValue]:
        """Return every setting by its dotted name, secrets masked, with the layer that won."""
        snapshot = self._refreshed()
        merged, data = snapshot.merged, snapshot.document.data
        return {
            dotted(file_path(field.path, data)): FieldValue(
                shown(field, value_at(merged.settings, field.path)),
                merged.source_of(field.path),
                field.restart,
            )
            for field in all_fields(merged.settings)
        }

    def patch(self, revision: str, changes: Mapping[str, JsonValue]) -> str:
        """Check the changes and save them all, or none.

        Args:
            revision: What `revision` was when the caller looked.
            changes: New values by dotted name; null takes a value out of the file, a mask
                that was shown keeps the secret behind it.

        Returns:
            The new revision.

        Raises:
            RevisionConflict: The file has changed since.
            ConfigError: A change is wrong (``field``), or the file is broken
                (``config.file_broken``) or cannot be written (``config.not_saved``).
        """
        with self._lock, self._alone():
            self._snapshot = snapshot = self._read()
            document = snapshot.document
            if document.fault is not None:
                raise broken(self._file, document)
            if revision != document.revision:
                raise RevisionConflict()
            data = copy.deepcopy(document.data)
            touched = apply_changes(data, changes, snapshot.merged)
            self._check(data, touched)
            if data != document.data:
                write_document(self._file, data)
                self._snapshot = self._read()
            return self._snapshot.document.revision

    def _check(self, data: dict[str, Any], touched: Sequence[FieldPath]) -> None:
        """Judge what the file would hold, also where a stronger layer hides it today."""
        alone = merge([Layer("file", self._origin.file_values(data))])
        for problem in alone.problems:
            if any(_on_one_line(problem.path, path) for path in touched):
                raise problem.error

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other programs from saving until the block ends."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(file_lock(self._lock_file))
            except OSError as error:
                reason = error.strerror or type(error).__name__
                file = str(self._file)
                raise ConfigError("config.not_saved", file=file, reason=reason) from error
            yield

    def _refreshed(self) -> Snapshot:
        if stamp_of(self._file) != self._snapshot.document.stamp:
            with self._lock:
                if stamp_of(self._file) != self._snapshot.document.stamp:
                    self._snapshot = self._read()
        return self._snapshot

    def _read(self) -> Snapshot:
        snapshot = self._origin.read()
        self._secrets = self._secrets | dict.fromkeys(secrets_of(snapshot.merged.settings))
        if snapshot.safe_mode is not None:
            wrong = snapshot.safe_mode
            _log.warning(
                "%s, line %d, column %d: %s", wrong.file, wrong.line, wrong.column, wrong.detail
            )
        return snapshot


def _on_one_line(one: FieldPath, other: FieldPath) -> bool:
    """Tell whether one path leads to the other."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]
