"""What every route takes from a request: the caller, and a strict query."""

from typing import Annotated

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from finchbot.server.caller import Caller, caller_of


class Strict(BaseModel):
    """Base of queries and bodies: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoFields(Strict):
    """A query or a body without fields."""


class PageQuery(Strict):
    """Which page of a list."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str | None, Field(max_length=1000)] = None


def _caller(request: Request) -> Caller:
    return caller_of(request.scope)


Who = Annotated[Caller, Depends(_caller)]
Nothing = Annotated[NoFields, Query()]
Paging = Annotated[PageQuery, Query()]
