"""What the API shows and the core has no record of, as a client reads it."""

from pydantic import BaseModel, ConfigDict, JsonValue

from finchbot.ids import RunId, ThreadId


class View(BaseModel):
    """Base of what only the API shows; fields of a newer server are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class NoticeView(View):
    """What everybody should know who uses this installation."""

    code: str
    detail: str


class Machine(View):
    """Where an installation keeps things."""

    home: str
    config_file: str
    log_file: str
    python: str


class Info(View):
    """Facts about an installation and the caller."""

    name: str
    version: str
    language: str
    model: str
    user_id: str
    demo: bool
    temporary: bool = False
    machine: Machine | None = None
    """For who may administer it."""
    limits: dict[str, int]
    notices: tuple[NoticeView, ...] = ()


class Health(View):
    """How it is: ``starting``, ``ok``, ``degraded`` or ``draining``."""

    status: str
    version: str
    parts: dict[str, str]


class Sent(View):
    """A message was taken in."""

    run_id: RunId
    thread_id: ThreadId
    seq: int


class SettingView(View):
    """One setting: its value (masked where secret), and which layer it came from."""

    value: JsonValue
    source: str
    restart: bool


class SafeModeView(View):
    """What is wrong with the user's file."""

    file: str
    line: int
    column: int
    detail: str


class SettingsView(View):
    """All settings by dotted name."""

    revision: str
    safe_mode: SafeModeView | None
    fields: dict[str, SettingView]


class ToolView(View):
    """One tool with the JSON Schema of its parameters."""

    name: str
    description: str
    parameters: dict[str, JsonValue]
