"""Runs: read, stop, decide."""

from typing import Literal

from fastapi import APIRouter

from finchbot.ids import CallId, RunId
from finchbot.server.rest.request import NoFields, Nothing, Strict, Who
from finchbot.server.services import Services
from finchbot.threads.records import Run


class Verdict(Strict):
    """A person's decision on one tool call."""

    call_id: str
    decision: Literal["once", "thread", "always", "deny"]


def router(services: Services) -> APIRouter:
    """Return ``/api/v1/runs/{id}…``."""
    routes = APIRouter(prefix="/api/v1/runs/{run_id}", tags=["runs"])
    bot = services.bot

    @routes.get("")
    async def get_run(run_id: str, caller: Who, _: Nothing) -> Run:
        """Return one run."""
        return await bot.threads.run(caller.user_id, RunId(run_id))

    @routes.post("/cancel")
    async def cancel_run(run_id: str, caller: Who, _: Nothing, body: NoFields | None = None) -> Run:
        """Stop a run; a run that has ended stays as it is."""
        await bot.cancel(caller.user_id, RunId(run_id))
        return await bot.threads.run(caller.user_id, RunId(run_id))

    @routes.post("/approve")
    async def approve(run_id: str, body: Verdict, caller: Who, _: Nothing) -> Run:
        """Decide the open question of a tool call."""
        await bot.approve(caller.user_id, RunId(run_id), CallId(body.call_id), body.decision)
        return await bot.threads.run(caller.user_id, RunId(run_id))

    return routes
