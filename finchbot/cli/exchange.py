"""One message and its answer on the screen, with the keys watched meanwhile."""

import concurrent.futures
from collections import deque
from concurrent.futures import Future

from anyio.from_thread import BlockingPortal

from finchbot.cli.commands import Command, read_line
from finchbot.cli.exits import DONE, FAILED, INTERRUPTED, exit_code
from finchbot.cli.keys import bell, typed_until
from finchbot.cli.plain import plain_json
from finchbot.cli.render import Shown, render
from finchbot.cli.talk import Talk
from finchbot.cli.terminal import Terminal
from finchbot.cli.voice import Voice
from finchbot.errors import FinchError
from finchbot.events import Decision, InRun, RunEvent
from finchbot.run_view import RunView

_DECISIONS: dict[str, Decision] = {"o": "once", "t": "thread", "a": "always", "d": "deny"}


class Leave(Exception):
    """Somebody wants out, now; `code` is the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Exchange:
    """Sends messages one at a time and shows what comes of them."""

    def __init__(
        self, portal: BlockingPortal, talk: Talk, voice: Voice, terminal: Terminal, *, as_json: bool
    ) -> None:
        self.ahead: deque[str] = deque()
        """Lines that were typed while an answer came; they are next."""
        self.interrupted = False
        """Whether Ctrl-C ended the last answer: pressed once more, it means leave."""
        self._portal = portal
        self._talk = talk
        self._voice = voice
        self._terminal = terminal
        self._as_json = as_json
        self._shown: Shown | None = None

    def run(self, text: str) -> int:
        """Send a message, hear the answer out, and return the exit code for it.

        Raises:
            Leave: Ctrl-C was pressed a second time.
        """
        self._shown = None
        self.interrupted = False
        future = self._portal.start_task_soon(self._talk.say, text, self._show)
        with bell(future) as rung:
            while not future.done():
                try:
                    self._watch(rung, future)
                except KeyboardInterrupt:
                    if self.interrupted:
                        raise Leave(INTERRUPTED) from None
                    self.interrupted = True
                    self._stop()
        return self._code(future)

    def fault(self, error: FinchError) -> int:
        """Say an error, and return the exit code for it."""
        sentence = self._voice.describe(error)
        self._terminal.fault(error, sentence, as_json=self._as_json)
        return exit_code(error)

    def _watch(self, rung: int, future: Future[RunView]) -> None:
        if not self._terminal.interactive:
            concurrent.futures.wait([future])
            return
        for line in typed_until(rung, future, self._terminal.keys):
            self._typed(line)

    def _typed(self, line: str) -> None:
        question = self._talk.question
        match read_line(line):
            case Command(order="stop"):
                self._stop()
            case str() as answer if question is not None:
                decision = _DECISIONS.get(answer[:1].lower())
                if decision is None:
                    self._terminal.note(f"{self._voice('cli.approval_keys')}\n")
                else:
                    self._portal.call(self._talk.decide, question, decision)
            case "":
                pass
            case _:
                self.ahead.append(line)
                self._terminal.note(f"{self._voice('chat.queued')}\n")

    def _stop(self) -> None:
        self._portal.start_task_soon(self._talk.stop)

    def _code(self, future: Future[RunView]) -> int:
        try:
            view = future.result()
        except FinchError as error:
            return self.fault(error)
        codes = {"finished": DONE, "cancelled": INTERRUPTED}
        return codes.get(view.status, FAILED)

    def _show(self, event: RunEvent) -> None:
        """Show an event; called on the bot's loop, one at a time."""
        if self._as_json:
            self._terminal.answer(f"{plain_json(event.model_dump_json())}\n")
            return
        if self._shown is None:
            if not isinstance(event, InRun):
                return
            self._shown = Shown(RunView(event.run_id), self._terminal.streaming)
        self._shown, pieces = render(self._shown, event, self._voice)
        for piece in pieces:
            self._terminal.write(piece)
