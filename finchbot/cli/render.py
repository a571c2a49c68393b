"""What the terminal shows of a run: events in, pieces of text out; pure."""

from dataclasses import dataclass, replace
from typing import Literal

from finchbot.cli.plain import plain, plain_line
from finchbot.cli.terminal import Piece
from finchbot.cli.voice import Voice
from finchbot.events import (
    ApprovalRequested,
    ContextCompacted,
    HistoryRepaired,
    MemoryRecalled,
    MessageCompleted,
    ModelFallback,
    ReasoningDelta,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunInterrupted,
    RunQueued,
    TextDelta,
    TextRetracted,
    ToolCallFinished,
    ToolCallStarted,
)
from finchbot.run_view import RunView, ToolItem, fold

_TELLING = ("path", "query", "command", "title", "text", "pattern")
"""The argument that says most about a call, the first of these it has."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a run is on the screen already."""

    view: RunView
    streaming: bool
    """Whether text is shown as it comes; else each message when it is whole."""
    said: str = ""
    """What is shown of the message that is being spoken; its line is still open."""
    thinking: bool = False


def render(shown: Shown, event: RunEvent, voice: Voice) -> tuple[Shown, list[Piece]]:
    """Return what is shown after an event, and what must be written for it."""
    after = replace(shown, view=fold(shown.view, event))
    match event:
        case TextDelta(text=text) if shown.streaming:
            said = replace(after, said=shown.said + text, thinking=False)
            return said, [Piece("answer", plain(text))]
        case ReasoningDelta() if shown.streaming and not shown.thinking:
            pieces = _noted(shown, f"{voice('chat.thinking')}…")
            return replace(after, said="", thinking=True), pieces
        case MessageCompleted(text=text):
            return replace(after, said="", thinking=False), _completed(shown, text)
        case TextRetracted() if shown.said:
            return replace(after, said=""), _noted(shown, voice("cli.retracted"))
        case _:
            note = _note(after.view, event, voice)
            if note is None:
                return after, []
            kind: Literal["note", "error"] = "error" if isinstance(event, RunFailed) else "note"
            return replace(after, said=""), [*_line_end(shown), Piece(kind, f"{note}\n")]


def _completed(shown: Shown, text: str) -> list[Piece]:
    """Finish the message on the screen, or write it when not all its deltas were seen."""
    if text.startswith(shown.said):
        rest = text[len(shown.said) :]
        return [Piece("answer", f"{plain(rest)}\n")] if text else []
    return [*_line_end(shown), Piece("answer", f"{plain(text)}\n")]


def _noted(shown: Shown, note: str) -> list[Piece]:
    return [*_line_end(shown), Piece("note", f"{note}\n")]


def _line_end(shown: Shown) -> list[Piece]:
    return [Piece("answer", "\n")] if shown.said else []


def _note(view: RunView, event: RunEvent, voice: Voice) -> str | None:
    match event:
        case ToolCallStarted(name=name, arguments=arguments):
            telling = next((arguments[key] for key in _TELLING if key in arguments), "")
            return f"· {plain(voice.tool(name))} {plain_line(str(telling), 60)}".rstrip()
        case ToolCallFinished():
            return f"  {_outcome(view, event, voice)}"
        case ApprovalRequested(name=name, reason=reason):
            return voice("cli.approval", tool=plain(voice.tool(name)), reason=plain_line(reason))
        case RunQueued():
            return voice("chat.queued")
        case RunCancelled():
            return voice("chat.stopped")
        case RunInterrupted():
            return voice("chat.interrupted")
        case RunFailed(error=error):
            return plain(error.detail)
        case MemoryRecalled(hits=hits):
            return voice("chat.notice.recalled", count=len(hits))
        case HistoryRepaired():
            return voice("chat.notice.repaired")
        case ContextCompacted(before_tokens=before, after_tokens=after):
            return voice("chat.notice.compacted", before=before, after=after)
        case ModelFallback(from_=first, to=second):
            return voice("chat.notice.fallback", first=plain(first), second=plain(second))
        case _:
            return None


def _outcome(view: RunView, event: ToolCallFinished, voice: Voice) -> str:
    if event.is_error:
        return f"✗ {plain_line(event.output, 200)}"
    calls = [item for item in view.items if isinstance(item, ToolItem)]
    name = next((item.name for item in calls if item.call_id == event.call_id), "")
    seconds = round(event.elapsed_s, 1)
    took = f", {voice('chat.step.seconds', seconds=seconds)}" if seconds else ""
    return f"✓ {plain(voice.tool(name))}{took}"
