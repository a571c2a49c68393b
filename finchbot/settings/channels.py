"""The settings of the channels: who may talk, and what each platform gave the user."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from finchbot.settings.values import RESTART, Port, Secret, Section, Text, Texts, Url


def _all_or_none(value: object) -> object:
    if isinstance(value, bool):
        return ("*",) if value else ()
    return value


class ChannelSettings(Section):
    """What every channel has; one from an installed package keeps its own fields as extras."""

    model_config = ConfigDict(extra="allow")

    enabled: bool = Field(default=False, json_schema_extra=RESTART)
    """Whether the channel starts with the program."""
    allow_from: Texts = ()
    """Ids of the senders that may talk; none listed means nobody, ``*`` means everybody."""


class WeComSettings(ChannelSettings):
    """WeCom: the app of a company, or an AI bot."""

    corp_id: Text = None
    agent_id: Text = None
    secret: Secret = None
    token: Secret = None
    encoding_aes_key: Secret = None
    bot_id: Text = None
    bot_secret: Secret = None
    base_url: Url = None
    ws_url: Url = None


class FeishuSettings(ChannelSettings):
    """Feishu and Lark."""

    app_id: Text = None
    app_secret: Secret = None
    encrypt_key: Secret = None
    verification_token: Secret = None
    mode: Literal["socket", "webhook"] = "socket"
    base_url: Url = None


class DingTalkSettings(ChannelSettings):
    """DingTalk."""

    client_id: Text = None
    client_secret: Secret = None
    robot_secret: Secret = None
    mode: Literal["stream", "webhook"] = "stream"
    base_url: Url = None


class DiscordSettings(ChannelSettings):
    """Discord."""

    token: Secret = None
    base_url: Url = None
    gateway_url: Url = None
    allow_bots: Annotated[Texts, BeforeValidator(_all_or_none)] = ()
    """Ids of the bots that may talk; true means all of them."""


class EmailSettings(ChannelSettings):
    """A mailbox: IMAP to read, SMTP to answer."""

    address: Text = None
    username: Text = None
    password: Secret = None
    imap_host: Text = None
    imap_port: Port = 993
    imap_security: Literal["tls", "starttls", "none"] = "tls"
    smtp_host: Text = None
    smtp_port: Port = 465
    smtp_security: Literal["tls", "starttls", "none"] = "tls"
    trusted_authserv: Text = None
    """The server whose Authentication-Results header is believed."""


class WebhookSettings(ChannelSettings):
    """A plain signed webhook for programs of one's own."""

    secret: Secret = None
    reply_url: Url = None


class ChannelsSettings(Section):
    """Every channel by its name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ChannelSettings] = Field(init=False)

    discord: DiscordSettings = DiscordSettings()
    dingtalk: DingTalkSettings = DingTalkSettings()
    feishu: FeishuSettings = FeishuSettings()
    wecom: WeComSettings = WeComSettings()
    email: EmailSettings = EmailSettings()
    webhook: WebhookSettings = WebhookSettings()

    def named(self) -> dict[str, ChannelSettings]:
        """Return every channel's section, those of installed packages included."""
        known: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        return known | (self.__pydantic_extra__ or {})
