from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from finchbot import events as ev
from finchbot.bus import MessageBus
from finchbot.events import RunEvent
from finchbot.ids import OWNER, CallId, MessageId, RunId, ThreadId
from finchbot.messages import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from finchbot.threads.records import empty_thread
from finchbot.threads.store import ThreadStore
from tests.support.clock import START, FakeClock
from tests.support.event_strategies import THREAD, message

ONE: dict[str, Any] = {"thread_id": THREAD, "run_id": RunId("run_1")}
TWO: dict[str, Any] = {"thread_id": THREAD, "run_id": RunId("run_2")}


def asked(frame: dict[str, Any], text: str) -> RunEvent:
    return ev.MessageReceived(**frame, message=message(frame["run_id"], text))


def started(frame: dict[str, Any]) -> RunEvent:
    return ev.RunStarted(**frame, model="scripted/one")


def said(frame: dict[str, Any], mid: str, text: str, **fields: Any) -> RunEvent:
    return ev.MessageCompleted(**frame, message_id=MessageId(mid), text=text, **fields)


def call(frame: dict[str, Any], call_id: str) -> RunEvent:
    return ev.ToolCallStarted(
        **frame, call_id=CallId(call_id), name="read_file", arguments={"path": call_id}
    )


def result(frame: dict[str, Any], call_id: str, output: str, is_error: bool = False) -> RunEvent:
    return ev.ToolCallFinished(
        **frame, call_id=CallId(call_id), output=output, is_error=is_error, elapsed_s=0.0
    )


def finished(frame: dict[str, Any]) -> RunEvent:
    return ev.RunFinished(**frame, usage=ev.Usage(input_tokens=3))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ThreadStore]:
    async with ThreadStore.open(tmp_path / "threads.db", clock=FakeClock()) as store:
        await store.create(empty_thread(THREAD, OWNER, channel="chat", now=START))
        yield store


async def transcript(store: ThreadStore, *events: RunEvent) -> list[Message]:
    async with MessageBus(store, FakeClock()) as bus:
        for event in events:
            await bus.publish(event)
    return list((await store.messages(THREAD)).items)


def shown(messages: list[Message]) -> list[tuple[str, str]]:
    """Return the transcript in short: who, and what or which calls."""
    short: list[tuple[str, str]] = []
    for entry in messages:
        words = []
        for part in entry.parts:
            match part:
                case TextPart(text=text):
                    words.append(text)
                case ReasoningPart(text=text):
                    words.append(f"({text})")
                case ToolCallPart(call_id=call_id):
                    words.append(f"->{call_id}")
                case ToolResultPart(call_id=call_id, output=output, is_error=is_error):
                    words.append(f"{call_id}={output}{'!' if is_error else ''}")
        short.append((entry.role, " ".join(words)))
    return short


async def test_a_talk_with_tools_stands_in_the_order_a_model_needs(store: ThreadStore) -> None:
    messages = await transcript(
        store,
        asked(ONE, "read both"),
        started(ONE),
        said(ONE, "m1", "I look.", reasoning="two files"),
        call(ONE, "a"),
        call(ONE, "b"),
        result(ONE, "b", "second"),
        result(ONE, "a", "first"),
        said(ONE, "m2", "Done."),
        finished(ONE),
    )
    assert shown(messages) == [
        ("user", "read both"),
        ("assistant", "(two files) I look. ->a ->b"),
        ("tool", "a=first"),
        ("tool", "b=second"),
        ("assistant", "Done."),
    ]
    assert not any(entry.partial for entry in messages)


async def test_a_call_after_the_result_of_another_still_belongs_to_its_message(
    store: ThreadStore,
) -> None:
    messages = await transcript(
        store,
        asked(ONE, "x"),
        started(ONE),
        said(ONE, "m1", ""),
        call(ONE, "a"),
        result(ONE, "a", "1"),
        call(ONE, "b"),
        result(ONE, "b", "2"),
        said(ONE, "m2", ""),
        call(ONE, "c"),
        result(ONE, "c", "3"),
        finished(ONE),
    )
    assert shown(messages) == [
        ("user", "x"),
        ("assistant", "->a ->b"),
        ("tool", "a=1"),
        ("tool", "b=2"),
        ("assistant", "->c"),
        ("tool", "c=3"),
    ]


async def test_a_broken_off_run_leaves_a_partial_text_and_a_failed_result(
    store: ThreadStore,
) -> None:
    messages = await transcript(
        store,
        asked(ONE, "x"),
        started(ONE),
        said(ONE, "m1", "half", partial=True),
        call(ONE, "a"),
        result(ONE, "a", "cancelled by the user", is_error=True),
        ev.RunCancelled(**ONE),
    )
    assert shown(messages) == [
        ("user", "x"),
        ("assistant", "half ->a"),
        ("tool", "a=cancelled by the user!"),
    ]
    assert [entry.partial for entry in messages] == [False, True, False]


async def test_a_message_that_waited_stands_after_the_answer_before_it(store: ThreadStore) -> None:
    messages = await transcript(
        store,
        asked(ONE, "first"),
        started(ONE),
        asked(TWO, "second"),
        said(ONE, "m1", "one"),
        finished(ONE),
        started(TWO),
        said(TWO, "m2", "two"),
        finished(TWO),
    )
    assert shown(messages) == [
        ("user", "first"),
        ("assistant", "one"),
        ("user", "second"),
        ("assistant", "two"),
    ]


async def test_a_model_never_sees_what_still_waits_or_was_taken_back(store: ThreadStore) -> None:
    await transcript(store, asked(ONE, "first"), started(ONE), asked(TWO, "second"))
    assert shown(await store.recent_messages(THREAD, 10)) == [("user", "first")]
    await transcript(store, finished(ONE), ev.RunCancelled(**TWO))
    assert shown(await store.recent_messages(THREAD, 10)) == [("user", "first")]


async def test_the_newest_messages_come_oldest_first_and_before_a_run(store: ThreadStore) -> None:
    await transcript(
        store,
        asked(ONE, "first"),
        started(ONE),
        said(ONE, "m1", "one"),
        finished(ONE),
        asked(TWO, "second"),
        started(TWO),
    )
    assert shown(await store.recent_messages(THREAD, 2)) == [
        ("assistant", "one"),
        ("user", "second"),
    ]
    before = await store.recent_messages(THREAD, 10, before=RunId("run_2"))
    assert shown(before) == [("user", "first"), ("assistant", "one")]


async def test_an_empty_answer_is_no_message(store: ThreadStore) -> None:
    messages = await transcript(
        store, asked(ONE, "x"), started(ONE), said(ONE, "m1", ""), finished(ONE)
    )
    assert shown(messages) == [("user", "x")]
    assert (await store.get(OWNER, THREAD)).message_count == 1


async def test_a_message_id_may_come_again_in_another_run(store: ThreadStore) -> None:
    messages = await transcript(
        store,
        asked(ONE, "x"),
        started(ONE),
        said(ONE, "same", "one"),
        finished(ONE),
        asked(TWO, "y"),
        started(TWO),
        said(TWO, "same", "two"),
        finished(TWO),
    )
    assert [entry.text for entry in messages] == ["x", "one", "y", "two"]


async def test_a_run_keeps_its_model_usage_and_times(store: ThreadStore) -> None:
    await transcript(store, asked(ONE, "x"), started(ONE))
    running = await store.run(OWNER, RunId("run_1"))
    assert (running.status, running.model, running.ended_at) == ("running", "scripted/one", None)
    await transcript(store, finished(ONE))
    run = await store.run(OWNER, RunId("run_1"))
    assert (run.status, run.usage, run.ended_at) == ("finished", ev.Usage(input_tokens=3), START)


async def test_a_failed_run_keeps_its_error(store: ThreadStore) -> None:
    error = ev.ErrorInfo(code="provider.failed", detail="No.", params={"provider": "x"})
    await transcript(store, asked(ONE, "x"), started(ONE), ev.RunFailed(**ONE, error=error))
    assert (await store.run(OWNER, RunId("run_1"))).error == error.model_dump()


async def test_a_run_waits_while_a_question_is_open(store: ThreadStore) -> None:
    question: dict[str, Any] = {
        "name": "exec",
        "arguments": {},
        "reason": "x",
        "expires_at": START,
    }
    await transcript(
        store,
        asked(ONE, "x"),
        started(ONE),
        *(call(ONE, name) for name in "ab"),
        *(ev.ApprovalRequested(**ONE, call_id=CallId(name), **question) for name in "ab"),
    )
    states = [(await store.run(OWNER, RunId("run_1"))).status]
    for name in "ab":
        resolved = ev.ApprovalResolved(**ONE, call_id=CallId(name), decision="once")
        await transcript(store, resolved)
        states.append((await store.run(OWNER, RunId("run_1"))).status)
    assert states == ["waiting", "waiting", "running"]


async def test_title_count_and_time_change_together_and_all_are_kept(store: ThreadStore) -> None:
    other = empty_thread(ThreadId("thr_2"), OWNER, channel="chat", now=START)
    await store.create(other)
    clock = FakeClock()
    clock.advance(60)
    async with MessageBus(store, clock) as bus:
        for event in (
            asked(ONE, "x"),
            ev.ThreadTitled(thread_id=THREAD, title="Tea", source="user"),
            ev.ThreadUpdated(thread_id=THREAD, fields={"pinned": True}),
        ):
            await bus.publish(event)
    thread = await store.get(OWNER, THREAD)
    assert (thread.title, thread.title_source, thread.pinned) == ("Tea", "user", True)
    assert (thread.message_count, thread.turn_count) == (1, 1)
    assert (thread.created_at, thread.last_active_at) == (START, clock())
    assert await store.get(OWNER, other.id) == other
