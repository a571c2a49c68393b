"""`python -m finchbot chat|serve|version`: the command line's one entry.

Nothing heavy is imported here: help and wrong usage answer at once.
"""

import gc
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from finchbot import __version__
from finchbot.cli.arguments import Request, early_language, overview, parse
from finchbot.cli.exits import DONE, FAILED, INTERRUPTED, REFUSED, exit_code
from finchbot.cli.plain import plain
from finchbot.cli.terminal import Terminal
from finchbot.cli.voice import Voice
from finchbot.errors import FinchError
from finchbot.lazy import load


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit code.

    Args:
        words: The words after the program's name; the process's own when left out.
    """
    words = sys.argv[1:] if words is None else words
    terminal = Terminal.of_process(os.environ)
    voice = Voice.of(os.environ, early_language(words))
    sys.excepthook = _unforeseen(voice, terminal)
    request = Request(None, json="--json" in words)
    try:
        request = parse(words, voice)
        return _run(request, asked_for_help=bool(words), voice=voice, terminal=terminal)
    except FinchError as error:
        sentence = voice.describe(error)
        if error.code == "home.in_use" and request.command == "chat":
            sentence = f"{sentence} {voice('cli.talk_to_running')}"
        terminal.fault(error, sentence, as_json=request.json)
        return exit_code(error)
    except BrokenPipeError:
        terminal.hang_up()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(request: Request, *, asked_for_help: bool, voice: Voice, terminal: Terminal) -> int:
    match request.command:
        case "version":
            known = {"name": "FinchBot", "version": __version__}
            terminal.answer(
                f"{json.dumps(known)}\n" if request.json else f"FinchBot {__version__}\n"
            )
            return DONE
        case "serve":
            return _serve(request, terminal)
        case "chat":
            code: int = load("finchbot.cli.repl").chat(request, voice, terminal)
            return code
        case _ if asked_for_help:
            terminal.answer(overview(voice))
            return DONE
        case _:
            terminal.note(overview(voice))
            return REFUSED


def _serve(request: Request, terminal: Terminal) -> int:
    compose = load("finchbot.compose")
    options = compose.Options(
        host=request.host,
        port=request.port,
        home=request.home,
        model=request.model,
        lang=request.lang,
    )
    code: int = compose.serve(options, lambda sentence: terminal.note(f"{sentence}\n"))
    return code


def leave(code: int) -> NoReturn:
    """End the program without delay; everything is closed by now."""
    # Python looks for garbage among all that was ever loaded before it ends: a second or two.
    gc.freeze()
    sys.exit(code)


Hook = Callable[[type[BaseException], BaseException, TracebackType | None], None]


def _unforeseen(voice: Voice, terminal: Terminal) -> Hook:
    """Return what the interpreter calls for a fault of our own: a sentence, the rest in a file."""

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        # Where it happened and what kind it was; its message could quote a key or a talk.
        told = "".join([*traceback.format_tb(trace), kind.__qualname__, "\n"])
        descriptor, name = tempfile.mkstemp(prefix="finchbot-fault-", suffix=".txt")
        os.close(descriptor)
        Path(name).write_text(told, encoding="utf-8")
        terminal.error(f"{plain(voice('cli.fault', file=name))}\n")

    return tell
