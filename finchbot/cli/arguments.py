"""The command line, parsed: flags and words in, one request out; wrong ones say what is right."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from finchbot.cli.voice import Voice
from finchbot.errors import ConfigError

PROGRAM = "python -m finchbot"
COMMANDS = ("chat", "serve", "version")
_SWITCHES = frozenset({"--json", "-n/--new", "-h/--help"})


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asked for; None leaves the question to environment and file."""

    command: str | None
    """One of `COMMANDS`; None when no command was given."""
    host: str | None = None
    port: int | None = None
    home: Path | None = None
    model: str | None = None
    lang: str | None = None
    thread: str | None = None
    new: bool = False
    message: str | None = None
    json: bool = False


def parse(words: Sequence[str], voice: Voice) -> Request:
    """Return the request; ``--help`` prints its page and ends the program.

    Raises:
        ConfigError: An unknown command or option, or one without its value.
    """
    if not words or words[0] in ("-h", "--help"):
        return Request(None)
    command, *rest = words
    if command not in COMMANDS:
        code = "cli.unknown_option" if command.startswith("-") else "cli.unknown_command"
        raise ConfigError(code, word=command, known=", ".join(COMMANDS), program=PROGRAM)
    return _request(command, rest, voice)


def overview(voice: Voice) -> str:
    """Return the page that names the commands."""
    page = _Parser(voice, PROGRAM, voice("cli.about"))
    page.usage = f"{PROGRAM} {'|'.join(COMMANDS)} [...]"
    page.epilog = voice("cli.more_help", program=PROGRAM)
    group = page.add_argument_group(voice("cli.commands"))
    for name in COMMANDS:
        group.add_argument(name, help=voice(f"cli.about_{name}"))
    return page.format_help()


def early_language(words: Sequence[str]) -> str | None:
    """Return what ``--lang`` says, before anything is parsed, so that help can speak it."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--lang":
            return following
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
    return None


def _request(command: str, words: Sequence[str], voice: Voice) -> Request:
    page = _Parser(voice, f"{PROGRAM} {command}", voice(f"cli.about_{command}"))
    _fill(page.options, command, voice)
    try:
        found, rest = page.parse_known_args(words)
    except argparse.ArgumentError as error:
        raise _fault(error.argument_name or "") from error
    if rest:
        raise ConfigError("cli.unknown_option", word=rest[0], program=f"{PROGRAM} {command}")
    request = Request(command, **vars(found))
    if request.new and request.thread is not None:
        raise ConfigError("cli.new_or_thread")
    return request


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of printing, and speaks our language."""

    def __init__(self, voice: Voice, program: str, about: str) -> None:
        super().__init__(
            prog=program,
            description=about,
            add_help=False,
            allow_abbrev=False,
            exit_on_error=False,
            formatter_class=lambda prog: _Formatter(prog, voice("cli.usage")),
        )
        self.options = self.add_argument_group(voice("cli.options"))
        self.options.add_argument("-h", "--help", action="help", help=voice("cli.option.help"))

    def error(self, message: str) -> NoReturn:
        raise ConfigError("cli.unusable", program=self.prog)


class _Formatter(argparse.HelpFormatter):
    """The standard help page, but for the word before the usage."""

    def __init__(self, program: str, usage: str) -> None:
        super().__init__(program, max_help_position=28)
        self._usage = usage

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        super().add_usage(usage, actions, groups, f"{self._usage} " if prefix is None else prefix)


def _fill(options: argparse._ArgumentGroup, name: str, voice: Voice) -> None:
    def add(*flags: str, **how: Any) -> None:
        key = flags[-1].removeprefix("--")
        options.add_argument(*flags, help=voice(f"cli.option.{key}"), **how)

    if name == "chat":
        add("-m", "--message", metavar="TEXT")
        add("-s", "--thread", metavar="THREAD")
        add("-n", "--new", action="store_true")
    if name == "serve":
        add("--host", metavar="ADDRESS")
        add("--port", metavar="PORT", type=int)
    if name in ("chat", "serve"):
        add("--home", metavar="FOLDER", type=Path)
        add("--model", metavar="PROVIDER/MODEL")
        add("--lang", metavar="TAG")
    if name in ("chat", "version"):
        add("--json", action="store_true")


def _fault(name: str) -> ConfigError:
    """Say what is wrong with the option argparse stumbled over, such as ``-s/--thread``."""
    option = name.rpartition("/")[2]
    if name in _SWITCHES:
        return ConfigError("cli.takes_no_value", option=option)
    if option == "--port":
        return ConfigError("cli.needs_number", option=option)
    return ConfigError("cli.needs_value", option=option)
