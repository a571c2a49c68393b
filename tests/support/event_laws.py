"""The laws of events, as a checker that any test can hold against a thread's events."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from finchbot.events import (
    ApprovalRequested,
    ApprovalResolved,
    InRun,
    MessageCompleted,
    MessageReceived,
    ReasoningDelta,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunQueued,
    RunStarted,
    TextDelta,
    TextRetracted,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
    event_adapter,
)
from finchbot.ids import RunId
from finchbot.run_view import fold_all

TERMINAL = (RunFinished, RunCancelled, RunInterrupted, RunFailed)
DELTA = (TextDelta, ReasoningDelta)


def check_laws(events: Iterable[RunEvent], *, stamped: bool = True, ended: bool = True) -> None:
    """Assert that a thread's complete list of events keeps every law of the wire.

    Args:
        events: All events of one thread, in order, from its first.
        stamped: Whether a bus has stamped them; False skips the laws about `seq`.
        ended: Whether every run has ended; False lets runs be under way.
    """
    everything = list(events)
    if stamped:
        seqs = [event.seq for event in everything]
        assert seqs == list(range(1, len(seqs) + 1)), f"seq has gaps or restarts: {seqs}"
        assert len({event.thread_id for event in everything}) <= 1, "events of several threads"
    for run_id, run in runs_of(everything).items():
        check_run(run_id, run, ended=ended)
    _check_one_run_at_a_time(everything)


def check_run(run_id: RunId, events: Sequence[RunEvent], *, ended: bool = True) -> None:
    """Assert the laws of one run; it need not begin with its `MessageReceived`."""
    _check_frame(run_id, events, ended=ended)
    _check_messages(run_id, events, ended=ended)
    _check_tool_calls(run_id, events, ended=ended)
    for event in events:
        again = event_adapter.validate_json(event.model_dump_json())
        assert again == event, f"{event.type} changes through JSON"
    if ended:
        without = [event for event in events if not isinstance(event, DELTA)]
        assert fold_all(run_id, without) == fold_all(run_id, events), (
            f"{run_id}: dropping deltas changes the final view"
        )


def runs_of(events: Iterable[RunEvent]) -> dict[RunId, list[RunEvent]]:
    """Return the events of each run, runs in order of their first event."""
    runs: dict[RunId, list[RunEvent]] = {}
    for event in events:
        if isinstance(event, InRun):
            runs.setdefault(event.run_id, []).append(event)
    return runs


def _check_frame(run_id: RunId, events: Sequence[RunEvent], *, ended: bool) -> None:
    kinds = [event.type for event in events]
    started = [i for i, event in enumerate(events) if isinstance(event, RunStarted)]
    assert len(started) <= 1, f"{run_id} started {len(started)} times"
    before = events[: started[0]] if started else events
    for event in before:
        assert isinstance(
            event, MessageReceived | RunQueued | RunFailed | RunCancelled | RunInterrupted
        ), f"{run_id}: {event.type} before run.started: {kinds}"
    if started:
        for event in events[started[0] + 1 :]:
            assert not isinstance(event, MessageReceived | RunQueued), f"{event.type} after start"
    assert sum(isinstance(event, MessageReceived) for event in events) <= 1
    terminal = [i for i, event in enumerate(events) if isinstance(event, TERMINAL)]
    assert len(terminal) <= 1, f"{run_id} ends {len(terminal)} times: {kinds}"
    if terminal:
        assert terminal[0] == len(events) - 1, f"{run_id}: something follows the end: {kinds}"
    elif ended:
        raise AssertionError(f"{run_id} never ends: {kinds}")


def _check_messages(run_id: RunId, events: Sequence[RunEvent], *, ended: bool) -> None:
    text: dict[str, str] = {}
    reasoning: dict[str, str] = {}
    streamed: set[str] = set()
    done: set[str] = set()
    for event in events:
        match event:
            case TextDelta(message_id=mid) | ReasoningDelta(message_id=mid):
                assert mid not in done, f"{run_id}: a delta follows message.completed of {mid}"
                pieces = text if isinstance(event, TextDelta) else reasoning
                pieces[mid] = pieces.get(mid, "") + event.text
                streamed.add(mid)
            case TextRetracted(message_id=mid):
                assert mid not in done, f"{run_id}: retracted after message.completed of {mid}"
                text.pop(mid, None)
                reasoning.pop(mid, None)
            case MessageCompleted(message_id=mid):
                assert mid not in done, f"{run_id}: {mid} is completed twice"
                done.add(mid)
                # A message whose model does not stream comes without a single delta.
                if mid in streamed:
                    assert event.text == text.get(mid, ""), (
                        f"{mid}: text deltas {text.get(mid, '')!r} are not {event.text!r}"
                    )
                    assert event.reasoning == reasoning.get(mid, ""), (
                        f"{mid}: reasoning deltas {reasoning.get(mid, '')!r} are not"
                        f" {event.reasoning!r} (after text.retracted the reasoning is told again)"
                    )
            case _:
                pass
    if ended:
        assert streamed <= done, f"{run_id}: never completed: {sorted(streamed - done)}"
        broken = [e for e in events if isinstance(e, MessageCompleted) and e.partial]
        if broken:
            assert not isinstance(events[-1], RunFinished), "a partial message in a finished run"


def _check_tool_calls(run_id: RunId, events: Sequence[RunEvent], *, ended: bool) -> None:
    open_calls: set[str] = set()
    asked: set[str] = set()
    seen: set[str] = set()
    for event in events:
        match event:
            case ToolCallStarted(call_id=cid):
                assert cid not in seen, f"{run_id}: call {cid} starts twice"
                seen.add(cid)
                open_calls.add(cid)
            case ToolCallOutput(call_id=cid):
                assert cid in open_calls, f"{run_id}: output of a call that is not open: {cid}"
            case ApprovalRequested(call_id=cid):
                assert cid in open_calls - asked, f"{run_id}: approval of {cid} out of order"
                asked.add(cid)
            case ApprovalResolved(call_id=cid):
                assert cid in asked, f"{run_id}: {cid} was decided but not asked"
                asked.discard(cid)
            case ToolCallFinished(call_id=cid):
                assert cid in open_calls, f"{run_id}: call {cid} finishes but is not open"
                assert cid not in asked, f"{run_id}: call {cid} finishes with an open question"
                open_calls.discard(cid)
            case _:
                pass
    if ended:
        assert not open_calls, f"{run_id}: calls without a result: {sorted(open_calls)}"


def _check_one_run_at_a_time(events: Sequence[RunEvent]) -> None:
    busy = [
        event.run_id
        for event in events
        if isinstance(event, InRun) and not isinstance(event, MessageReceived | RunQueued)
    ]
    # Runs that never started may be closed while another works.
    started = {event.run_id for event in events if isinstance(event, RunStarted)}
    order = [run_id for run_id, _ in groupby(run for run in busy if run in started)]
    assert len(order) == len(set(order)), f"runs of one thread overlap: {order}"
