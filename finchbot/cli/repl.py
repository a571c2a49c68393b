"""`chat`: messages from a prompt, a pipe or the command line; answers as they come.

The bot lives on a loop in a thread of its own; the main thread reads lines and hears Ctrl-C.
"""

import signal
from contextlib import suppress
from typing import NoReturn

from anyio.from_thread import BlockingPortal, start_blocking_portal

from finchbot import __version__
from finchbot.bot import FinchBot
from finchbot.cli.arguments import Request
from finchbot.cli.commands import Command, Unknown, read_line
from finchbot.cli.exchange import Exchange, Leave
from finchbot.cli.exits import DONE, INTERRUPTED
from finchbot.cli.plain import plain_line
from finchbot.cli.talk import Talk
from finchbot.cli.terminal import Terminal
from finchbot.cli.voice import Voice
from finchbot.errors import FinchError
from finchbot.ids import ThreadId, utc_now
from finchbot.lazy import load
from finchbot.threads.records import Thread

with suppress(ImportError):
    # Gives input() its line editing where there is one; the name itself is not used.
    import readline  # noqa: F401

LISTED = 20
PROMPT = "> "


def chat(request: Request, voice: Voice, terminal: Terminal) -> int:
    """Talk until there is nothing more to say; return the exit code.

    Raises:
        ConfigError: The home is in use, or a setting is wrong.
        ThreadNotFound: The thread asked for does not exist.
    """
    compose = load("finchbot.compose")
    options = compose.Options(home=request.home, model=request.model, lang=request.lang)
    signal.signal(signal.SIGTERM, _ended)
    try:
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(compose.open_bot(options)) as bot,
        ):
            return _heard(request, bot, portal, voice, terminal)
    except Leave as leave:
        # It came while the bot was still being opened, or closed.
        return leave.code


def _heard(
    request: Request, bot: FinchBot, portal: BlockingPortal, voice: Voice, terminal: Terminal
) -> int:
    """Talk, and turn a wish to leave into an exit code, so that the bot is closed in order."""
    try:
        return _talk(request, bot, portal, voice, terminal)
    except Leave as leave:
        return leave.code
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        # Closing waits for what runs; who presses Ctrl-C now does not want to wait.
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _ended(signum: int, _: object) -> NoReturn:
    raise Leave(128 + signum)


def _talk(
    request: Request, bot: FinchBot, portal: BlockingPortal, voice: Voice, terminal: Terminal
) -> int:
    catalogue = voice.catalogue
    voice = Voice(catalogue, catalogue.negotiate(bot.settings.current.language, voice.language))
    talk = Talk(bot, voice.language, interactive=terminal.interactive)
    exchange = Exchange(portal, talk, voice, terminal, as_json=request.json)
    repl = Repl(portal, talk, voice, terminal, exchange)
    repl.warn(bot)
    repl.enter(request)
    if request.message is not None:
        whole = terminal.keys.read().rstrip("\n") if request.message == "-" else request.message
        return exchange.run(whole)
    return repl.prompt() if terminal.interactive else repl.pipe()


class Repl:
    """Reads lines and obeys them: messages to the bot, orders to the terminal."""

    def __init__(
        self,
        portal: BlockingPortal,
        talk: Talk,
        voice: Voice,
        terminal: Terminal,
        exchange: Exchange,
    ) -> None:
        self._portal = portal
        self._talk = talk
        self._voice = voice
        self._terminal = terminal
        self._exchange = exchange
        self._entered: Thread | None = None
        self._listed: tuple[Thread, ...] = ()

    def warn(self, bot: FinchBot) -> None:
        """Say what the user should know before writing anything."""
        if bot.home.temporary:
            self._note("cli.temporary_home", path=str(bot.home.root))
        wrong = bot.settings.safe_mode
        if wrong is not None:
            sentence = self._voice(
                "error.config.file_broken",
                file=wrong.file,
                line=wrong.line,
                column=wrong.column,
                reason=wrong.detail,
            )
            self._terminal.error(f"{sentence}\n")

    def enter(self, request: Request) -> None:
        """Go to the thread that was asked for, or the last one, or a new one."""
        if request.thread is not None:
            self._entered = self._portal.call(self._talk.enter, ThreadId(request.thread))
        elif not request.new:
            self._entered = self._portal.call(self._talk.enter_last)

    def pipe(self) -> int:
        """Take every line of standard input as a message; return the worst exit code."""
        code = DONE
        for line in self._terminal.keys:
            try:
                code = max(code, self._obey(line))
            except EOFError:
                break
        return code

    def prompt(self) -> int:
        """Talk with a person until they leave."""
        self._greet()
        pressed = False
        while True:
            try:
                line = self._next_line()
                self._exchange.interrupted = False
                self._obey(line)
                pressed = self._exchange.interrupted
            except EOFError:
                return DONE
            except KeyboardInterrupt:
                self._terminal.note("\n")
                if pressed:
                    return INTERRUPTED
                pressed = True
                self._note("cli.again_to_leave")

    def _greet(self) -> None:
        self._terminal.note(f"FinchBot {__version__}\n")
        if self._entered is not None:
            self._note("cli.continuing", title=self._title(self._entered))
        self._note("cli.hello")

    def _next_line(self) -> str:
        if self._exchange.ahead:
            return self._exchange.ahead.popleft()
        try:
            return input(PROMPT)
        except EOFError:
            self._terminal.note("\n")
            raise

    def _obey(self, line: str) -> int:
        """Do what a line says.

        Raises:
            EOFError: It says to leave.
        """
        match read_line(line):
            case "":
                return DONE
            case str() as text:
                return self._exchange.run(text)
            case Unknown(word=word):
                self._note("cli.unknown_order", word=word)
            case Command(order="quit"):
                raise EOFError
            case Command(order="help"):
                self._note("cli.orders")
            case Command(order="stop"):
                self._note("cli.nothing_runs")
            case Command(order="new"):
                self._talk.thread_id = None
                self._note("cli.new_thread")
            case Command(order="threads"):
                self._list()
            case Command(order="open", argument=wanted):
                return self._open(wanted)
        return DONE

    def _list(self) -> None:
        self._listed = self._portal.call(self._talk.threads, LISTED)
        if not self._listed:
            self._note("chat.threads_list.none")
        for number, thread in enumerate(self._listed, 1):
            mark = "*" if thread.id == self._talk.thread_id else " "
            ago = self._voice.catalogue.format_ago(
                utc_now() - thread.last_active_at, self._voice.language
            )
            line = f"{mark}{number:>3}  {self._title(thread)}  ({ago})  {thread.id}"
            self._terminal.note(f"{line}\n")

    def _open(self, wanted: str) -> int:
        """Go to a thread by its number in the last list, or by its id."""
        numbered = {str(number): thread.id for number, thread in enumerate(self._listed, 1)}
        try:
            thread = self._portal.call(self._talk.enter, numbered.get(wanted, ThreadId(wanted)))
        except FinchError as error:
            return self._exchange.fault(error)
        self._note("cli.continuing", title=self._title(thread))
        return DONE

    def _title(self, thread: Thread) -> str:
        return plain_line(thread.title, 60) or self._voice("chat.untitled")

    def _note(self, key: str, **params: str | int) -> None:
        self._terminal.note(f"{self._voice(key, **params)}\n")
