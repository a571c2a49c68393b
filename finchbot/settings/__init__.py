"""The settings: what can be set, where each value came from, how a change is saved."""

from finchbot.settings.channels import ChannelSettings, ChannelsSettings
from finchbot.settings.model import (
    AgentDefaults,
    ExecSettings,
    LogSettings,
    MemorySettings,
    ProviderSettings,
    SearchSettings,
    ServerSettings,
    Settings,
    ToolsSettings,
    WebSettings,
)
from finchbot.settings.providers import PROVIDER_ENV
from finchbot.settings.snapshot import SafeMode
from finchbot.settings.store import FieldValue, SettingsStore

__all__ = [
    "PROVIDER_ENV",
    "AgentDefaults",
    "ChannelSettings",
    "ChannelsSettings",
    "ExecSettings",
    "FieldValue",
    "LogSettings",
    "MemorySettings",
    "ProviderSettings",
    "SafeMode",
    "SearchSettings",
    "ServerSettings",
    "Settings",
    "SettingsStore",
    "ToolsSettings",
    "WebSettings",
]
