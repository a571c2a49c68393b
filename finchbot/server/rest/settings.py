"""Settings: every value with where it came from, and changes."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, JsonValue

from finchbot.errors import NotAllowed
from finchbot.i18n import Catalogue
from finchbot.server.caller import Caller
from finchbot.server.rest.request import Nothing, Strict, Who
from finchbot.server.services import Services
from finchbot.settings import SettingsStore


class SettingView(BaseModel):
    """One setting."""

    value: JsonValue
    """Masked where it is a secret."""
    source: Literal["cli", "env", "file", "default"]
    restart: bool
    """Whether a change works after the next start only."""


class SafeModeView(BaseModel):
    """What is wrong with the user's file."""

    file: str
    line: int
    column: int
    detail: str


class SettingsView(BaseModel):
    """All settings by dotted name."""

    revision: str
    safe_mode: SafeModeView | None
    fields: dict[str, SettingView]


class SettingsChanges(Strict):
    """New values by dotted name."""

    revision: Annotated[str, Field(max_length=200)]
    changes: dict[str, JsonValue]


def router(services: Services) -> APIRouter:
    """Return ``/api/v1/settings``."""
    routes = APIRouter(prefix="/api/v1/settings", tags=["settings"])
    store = services.bot.settings

    @routes.get("")
    async def get_settings(caller: Who, _: Nothing) -> SettingsView:
        """Return every setting, secrets masked, with the layer that won."""
        _require_owner(caller)
        return await asyncio.to_thread(_view, store, services.catalogue, caller.language)

    @routes.patch("")
    async def change_settings(caller: Who, body: SettingsChanges, _: Nothing) -> SettingsView:
        """Save all changes, or none; a stale revision is refused."""
        _require_owner(caller)
        if services.demo:
            raise NotAllowed("access.demo")
        await asyncio.to_thread(store.patch, body.revision, body.changes)
        return await asyncio.to_thread(_view, store, services.catalogue, caller.language)

    return routes


def _require_owner(caller: Caller) -> None:
    if not caller.may_administer:
        raise NotAllowed("access.owner_only")


def _view(store: SettingsStore, catalogue: Catalogue, language: str) -> SettingsView:
    broken = store.safe_mode
    safe_mode = None
    if broken is not None:
        detail = catalogue.describe(broken.error, language)
        safe_mode = SafeModeView(
            file=broken.file, line=broken.line, column=broken.column, detail=detail
        )
    fields = {
        name: SettingView(value=field.value, source=field.source, restart=field.restart)
        for name, field in store.fields().items()
    }
    return SettingsView(revision=store.revision, safe_mode=safe_mode, fields=fields)
