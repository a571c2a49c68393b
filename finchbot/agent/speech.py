"""One message of the model while it is spoken: chunks in, events out (pure)."""

from typing import TypeVar

from finchbot.agent.characters import CharacterJoiner, sound
from finchbot.agent.thinking import Piece, Said, ThoughtSplitter
from finchbot.events import MessageCompleted, ReasoningDelta, RunEvent, TextDelta, TextRetracted
from finchbot.ids import MessageId, RunId, ThreadId

DeltaT = TypeVar("DeltaT", TextDelta, ReasoningDelta)


class Speech:
    """Gathers what one message says; its deltas always add up to its completion."""

    def __init__(self, thread_id: ThreadId, run_id: RunId, message_id: MessageId) -> None:
        self.thread_id = thread_id
        self.run_id = run_id
        self.message_id = message_id
        self._splitter = ThoughtSplitter()
        self._joiner = CharacterJoiner()
        self._thought_joiner = CharacterJoiner()
        self._text: list[str] = []
        self._reasoning: list[str] = []

    def hear(self, chunk: Said) -> list[RunEvent]:
        """Return the events of a chunk; what may yet be a tag or half a character waits."""
        thought = self._thought_joiner.feed(chunk.reasoning)
        words = self._splitter.feed(self._joiner.feed(chunk.text))
        return self._told([*_thoughts(thought), *words])

    def complete(self, whole: Said) -> list[RunEvent]:
        """Return the last deltas and the completion.

        Args:
            whole: What the finished message says, for a model that does not stream, or when
                other words were put in the place of an empty answer.
        """
        late = [*self._splitter.feed(self._joiner.finish()), *self._splitter.finish()]
        events = self._told([*_thoughts(self._thought_joiner.finish()), *late])
        if whole.reasoning and not self._reasoning:
            events += self._told([Piece("reasoning", sound(whole.reasoning))])
        if whole.text and not self._text:
            events += self._told([Piece("text", sound(whole.text))])
        completed = MessageCompleted(
            thread_id=self.thread_id,
            run_id=self.run_id,
            message_id=self.message_id,
            text="".join(self._text),
            reasoning="".join(self._reasoning),
        )
        return [*events, completed]

    def _told(self, pieces: list[Piece]) -> list[RunEvent]:
        return [event for piece in pieces for event in self._tell(piece)]

    def _tell(self, piece: Piece) -> list[RunEvent]:
        match piece.kind:
            case "text":
                self._text.append(piece.text)
                return [self._delta(TextDelta, piece.text)]
            case "reasoning":
                self._reasoning.append(piece.text)
                return [self._delta(ReasoningDelta, piece.text)]
            case "retract":
                return self._retract()

    def _retract(self) -> list[RunEvent]:
        """Take all back, and tell it again as the thought it was."""
        thought = "".join((*self._reasoning, *self._text))
        self._reasoning, self._text = [thought], []
        retracted = TextRetracted(
            thread_id=self.thread_id, run_id=self.run_id, message_id=self.message_id
        )
        return [retracted, self._delta(ReasoningDelta, thought)]

    def _delta(self, kind: type[DeltaT], text: str) -> DeltaT:
        return kind(
            thread_id=self.thread_id, run_id=self.run_id, message_id=self.message_id, text=text
        )


def _thoughts(text: str) -> list[Piece]:
    return [Piece("reasoning", text)] if text else []
