"""What is typed at the prompt: a message, or an order to the terminal itself; pure."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

Order = Literal["help", "new", "threads", "open", "stop", "quit"]
_ORDERS: dict[str, Order] = {order: order for order in get_args(Order)} | {
    "exit": "quit",
    "q": "quit",
    "?": "help",
}


@dataclass(frozen=True, slots=True)
class Command:
    """An order, with what follows it."""

    order: Order
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A word after a slash that is no order."""

    word: str


def read_line(line: str) -> Command | Unknown | str:
    """Return the order in a line, or the line itself as a message.

    Only a single plain word after the slash counts: ``/etc/hosts`` is talked about, not obeyed.
    """
    found = re.fullmatch(r"/([a-z]+|\?)(?:\s+(.*))?", line.strip(), re.DOTALL)
    if found is None:
        return line.strip()
    word, argument = found[1], (found[2] or "").strip()
    return Command(_ORDERS[word], argument) if word in _ORDERS else Unknown(word)
