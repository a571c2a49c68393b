"""Events ↔ rows (pure): exact both ways; consecutive deltas of a message share one row."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from finchbot.events import Delta, InRun, ReasoningDelta, RunEvent, TextDelta, event_adapter
from finchbot.ids import MessageId, RunId, ThreadId
from finchbot.threads.moments import from_ms, to_ms

ROW_CHARACTERS = 16_384
"""A row of deltas this long is not added to: the next delta begins another."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of `events`."""

    seq: int
    last_seq: int
    run_id: str | None
    type: str
    at_ms: int
    data: str
    """The event's JSON; for deltas ``{"message_id", "text", "marks"}``, where marks are, delta
    after delta, its length in characters and its distance from `at_ms`."""


def encode(events: Iterable[RunEvent], *, last: Row | None = None) -> list[Row]:
    """Return the rows of events of one thread, in order.

    Args:
        events: Stamped, with `seq` following one another.
        last: The row before them. When the events go on where it ends, the first row returned
            takes its place: it has the same `seq`.
    """
    grown: list[Row | _Deltas] = []
    deltas = None if last is None else _Deltas.of(last)
    for event in events:
        if isinstance(event, TextDelta | ReasoningDelta):
            if deltas is None or not deltas.takes(event):
                deltas = _Deltas.begin(event)
            if not grown or grown[-1] is not deltas:
                grown.append(deltas)
            deltas.add(event)
        else:
            deltas = None
            grown.append(_row(event))
    return [item.row() if isinstance(item, _Deltas) else item for item in grown]


def decode(thread_id: ThreadId, row: Row) -> Iterator[RunEvent]:
    """Yield the events of a row as they were published."""
    deltas = _Deltas.of(row)
    if deltas is None:
        yield event_adapter.validate_json(row.data)
    else:
        yield from deltas.events(thread_id)


def _row(event: RunEvent) -> Row:
    run_id = event.run_id if isinstance(event, InRun) else None
    return Row(event.seq, event.seq, run_id, event.type, to_ms(event.at), event.model_dump_json())


@dataclass(slots=True)
class _Deltas:
    """Consecutive deltas of one message and type."""

    type: str
    run_id: RunId
    message_id: MessageId
    seq: int
    at_ms: int
    texts: list[str] = field(default_factory=list)
    """Concatenated they are the row's text; not always one per delta."""
    marks: list[int] = field(default_factory=list)
    characters: int = 0

    @classmethod
    def begin(cls, event: Delta) -> Self:
        return cls(event.type, event.run_id, event.message_id, event.seq, to_ms(event.at))

    @classmethod
    def of(cls, row: Row) -> Self | None:
        if row.type not in ("text.delta", "reasoning.delta"):
            return None
        data = json.loads(row.data)
        text = data["text"]
        return cls(
            row.type,
            RunId(row.run_id or ""),
            MessageId(data["message_id"]),
            row.seq,
            row.at_ms,
            [text],
            data["marks"],
            len(text),
        )

    def takes(self, event: Delta) -> bool:
        return (
            self.type == event.type
            and self.message_id == event.message_id
            and self.run_id == event.run_id
            and self.characters < ROW_CHARACTERS
            and len(self.marks) < ROW_CHARACTERS
            and self.seq + len(self.marks) // 2 == event.seq
        )

    def add(self, event: Delta) -> None:
        self.texts.append(event.text)
        self.marks += (len(event.text), to_ms(event.at) - self.at_ms)
        self.characters += len(event.text)

    def row(self) -> Row:
        data = {"message_id": self.message_id, "text": "".join(self.texts), "marks": self.marks}
        last_seq = self.seq + len(self.marks) // 2 - 1
        return Row(
            self.seq,
            last_seq,
            self.run_id,
            self.type,
            self.at_ms,
            json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        )

    def events(self, thread_id: ThreadId) -> Iterator[RunEvent]:
        kind = TextDelta if self.type == "text.delta" else ReasoningDelta
        text = "".join(self.texts)
        start = 0
        for at, (length, after_ms) in enumerate(
            zip(self.marks[::2], self.marks[1::2], strict=True)
        ):
            yield kind(
                thread_id=thread_id,
                run_id=self.run_id,
                seq=self.seq + at,
                at=from_ms(self.at_ms + after_ms),
                message_id=self.message_id,
                text=text[start : start + length],
            )
            start += length
