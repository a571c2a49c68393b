"""Health and facts about this installation."""

import platform
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel

from finchbot import __version__
from finchbot.errors import InputInvalid
from finchbot.home import Home
from finchbot.server.body_limit import JSON_BYTES, UPLOAD_BYTES
from finchbot.server.rest.request import Nothing, Paging, Who
from finchbot.server.services import Services


class Limits(BaseModel):
    """Upper bounds, in bytes."""

    json_bytes: int = JSON_BYTES
    upload_bytes: int = UPLOAD_BYTES


class Machine(BaseModel):
    """Where this installation keeps things."""

    home: str
    config_file: str
    log_file: str
    python: str


class NoticeView(BaseModel):
    """What everybody should know who uses this installation."""

    code: str
    detail: str
    """A sentence in the caller's language."""
    params: dict[str, str | int | float | bool | None]


class Info(BaseModel):
    """What a client wants to know first."""

    name: Literal["FinchBot"] = "FinchBot"
    version: str
    language: str
    model: str
    user_id: str
    demo: bool
    temporary: bool
    """Whether what is kept vanishes with the machine or the visit."""
    machine: Machine | None
    """For who may administer it."""
    limits: Limits = Limits()
    notices: tuple[NoticeView, ...] = ()


class Health(BaseModel):
    """How it is; `parts` says which part is not well."""

    status: Literal["ok", "degraded"]
    version: str
    parts: dict[str, str]


def router(services: Services) -> APIRouter:
    """Return ``/healthz`` and ``/api/v1/info``."""
    routes = APIRouter(tags=["info"])

    @routes.head("/healthz", include_in_schema=False)
    @routes.get("/healthz")
    async def health(_: Nothing) -> Health:
        """Say whether the program is well; open to everybody."""
        parts = dict(services.parts())
        well = "degraded" not in parts.values()
        return Health(status="ok" if well else "degraded", version=__version__, parts=parts)

    @routes.get("/api/v1/info")
    async def info(caller: Who, _: Nothing) -> Info:
        """Return facts about this installation and the caller."""
        return Info(
            version=__version__,
            language=caller.language,
            model=services.model_name(),
            user_id=caller.user_id,
            demo=services.demo,
            temporary=services.bot.home.temporary,
            machine=_machine(services.bot.home) if caller.may_administer else None,
            notices=_notices(services, caller.language),
        )

    @routes.get("/api/v1/tools")
    async def tools(_caller: Who, page: Paging) -> dict[str, Any]:
        """Return the tools with the JSON Schema of their parameters; a cursor is a name."""
        names = services.bot.tools.names()
        if page.cursor is not None and page.cursor not in names:
            raise InputInvalid("list.cursor_invalid")
        begin = 0 if page.cursor is None else names.index(page.cursor) + 1
        end = begin + page.limit
        shown = services.bot.tools.definitions()[begin:end]
        return {
            "items": [definition["function"] for definition in shown],
            "next": names[end - 1] if end < len(names) else None,
        }

    return routes


def _notices(services: Services, language: str) -> tuple[NoticeView, ...]:
    return tuple(
        NoticeView(
            code=notice.code,
            detail=services.catalogue.text(f"notice.{notice.code}", language, **notice.params),
            params=dict(notice.params),
        )
        for notice in services.bot.notices
    )


def _machine(home: Home) -> Machine:
    return Machine(
        home=str(home.root),
        config_file=str(home.config_file),
        log_file=str(home.log_file),
        python=platform.python_version(),
    )
