"""What the terminal does when a tool asks for approval: it asks the person, or says no."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from finchbot.bot import FinchBot
from finchbot.cli.talk import Question, Talk
from finchbot.errors import NothingToDecide
from finchbot.events import (
    ApprovalRequested,
    ApprovalResolved,
    Decision,
    RunEvent,
    RunFinished,
    RunStarted,
    ToolCallFinished,
    ToolCallStarted,
    Usage,
)
from finchbot.ids import OWNER, CallId, MessageId, RunId, ThreadId, UserId, utc_now
from finchbot.messages import Accepted, InboundMessage
from finchbot.run_view import RunView

IN: dict[str, Any] = {"thread_id": ThreadId("thr_1"), "run_id": RunId("run_1")}
CALL = CallId("call_1")


class AskingConversation:
    """One run whose only tool waits until somebody decides."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.closed = False
        self._decided = asyncio.Event()

    async def send(self, message: InboundMessage) -> Accepted:
        assert message.user_id == OWNER
        return Accepted(**IN, message_id=MessageId("msg_1"), seq=1, queued=False)

    async def cancel(self, user_id: UserId, run_id: RunId) -> None:
        raise NotImplementedError

    async def approve(
        self, user_id: UserId, run_id: RunId, call_id: CallId, decision: Decision
    ) -> None:
        assert (user_id, run_id, call_id) == (OWNER, IN["run_id"], CALL)
        if self.decisions:
            raise NothingToDecide
        self.decisions.append(decision)
        self._decided.set()

    async def events(
        self, user_id: UserId, thread_id: ThreadId, *, after_seq: int | None = None
    ) -> AsyncIterator[RunEvent]:
        assert after_seq == 0
        try:
            yield RunStarted(**IN, model="m")
            yield ToolCallStarted(**IN, call_id=CALL, name="exec", arguments={})
            yield ApprovalRequested(
                **IN, call_id=CALL, name="exec", arguments={}, reason="r", expires_at=utc_now()
            )
            await self._decided.wait()
            decision = self.decisions[0]
            yield ApprovalResolved(**IN, call_id=CALL, decision=decision)
            yield ToolCallFinished(
                **IN, call_id=CALL, output="", is_error=decision == "deny", elapsed_s=0
            )
            yield RunFinished(**IN, usage=Usage())
            await asyncio.Event().wait()
        finally:
            self.closed = True


def bot_of(conversation: AskingConversation) -> FinchBot:
    unused = cast(Any, None)
    return FinchBot(conversation, unused, unused, unused, unused)


async def test_nobody_to_ask_means_no() -> None:
    conversation = AskingConversation()
    talk = Talk(bot_of(conversation), "en-US", interactive=False)
    view = await talk.say("run it", lambda event: None)
    assert conversation.decisions == ["deny"]
    assert view.status == "finished"
    assert conversation.closed


@pytest.mark.parametrize("decision", ["once", "deny"])
async def test_a_person_is_asked_and_answers(decision: Decision) -> None:
    conversation = AskingConversation()
    talk = Talk(bot_of(conversation), "en-US", interactive=True)
    asked = asyncio.Event()

    def show(event: RunEvent) -> None:
        if isinstance(event, ApprovalRequested):
            asyncio.get_running_loop().call_soon(asked.set)

    saying = asyncio.create_task(talk.say("run it", show))
    await asked.wait()
    question = talk.question
    assert question == Question(IN["run_id"], CALL)
    assert conversation.decisions == []
    await talk.decide(question, decision)
    await talk.decide(question, "always")
    view: RunView = await saying
    assert conversation.decisions == [decision]
    assert view.status == "finished"
    assert talk.question is None


async def test_stopping_when_nothing_runs_is_no_error() -> None:
    talk = Talk(bot_of(AskingConversation()), "en-US", interactive=True)
    assert await talk.stop() is False
