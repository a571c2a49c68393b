"""The frames a client sends over ``/ws``."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from finchbot.errors import FinchError, InputInvalid, TooLarge
from finchbot.server.body_limit import JSON_BYTES
from finchbot.server.problems import input_error
from finchbot.server.rest.messages import NewMessage
from finchbot.server.rest.request import Strict
from finchbot.server.rest.runs import Verdict


class MessageSend(NewMessage):
    """Send a message; without a thread a new one is made."""

    type: Literal["message.send"]
    thread_id: Annotated[str | None, Field(min_length=1)] = None


class RunCancel(Strict):
    """Stop a run."""

    type: Literal["run.cancel"]
    run_id: str


class RunApprove(Verdict):
    """Decide the open question of a tool call."""

    type: Literal["run.approve"]
    run_id: str


class ThreadSubscribe(Strict):
    """Hear a thread's events: those after `after_seq`, else those to come."""

    type: Literal["thread.subscribe"]
    thread_id: str
    after_seq: Annotated[int | None, Field(ge=0)] = None


class Ping(Strict):
    """Ask for a pong."""

    type: Literal["ping"]


ClientFrame = Annotated[
    MessageSend | RunCancel | RunApprove | ThreadSubscribe | Ping, Field(discriminator="type")
]
_adapter: TypeAdapter[ClientFrame] = TypeAdapter(ClientFrame)


class FrameRefused(Exception):
    """A frame cannot be used; `client_id` is the frame's, when it could be read."""

    def __init__(self, error: FinchError, client_id: str | None = None) -> None:
        super().__init__(error.code)
        self.error = error
        self.client_id = client_id


def parse_frame(text: str | None) -> ClientFrame:
    """Return the frame.

    Args:
        text: Of a text frame; None stands for a binary one.

    Raises:
        FrameRefused: Too large, no JSON, of an unknown type, or with wrong fields.
    """
    if text is None:
        raise FrameRefused(InputInvalid("input.not_json", field="frame"))
    if len(text) > JSON_BYTES or len(text.encode()) > JSON_BYTES:
        raise FrameRefused(TooLarge(limit_bytes=JSON_BYTES))
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameRefused(InputInvalid("input.not_json", field="frame")) from error
    if not isinstance(data, dict):
        raise FrameRefused(InputInvalid("input.not_object", field="frame"))
    try:
        return _adapter.validate_python(data)
    except ValidationError as error:
        refused = input_error(_without_tag(error.errors(include_input=False, include_url=False)))
        raise FrameRefused(refused, _client_id(data)) from error


def _client_id(data: dict[str, Any]) -> str | None:
    """Return the client id of a frame that is wrong somewhere, if it can be sent back."""
    client_id = data.get("client_id")
    usable = isinstance(client_id, str) and len(client_id) <= 200 and client_id.isprintable()
    return client_id if usable else None


def _without_tag(problems: list[Any]) -> list[Any]:
    """Drop the union's tag from the places, which would read ``message.send.text``."""
    return [{**problem, "loc": problem["loc"][1:] or problem["loc"]} for problem in problems]
