"""A small typed client of FinchBot's own API, for the admin's pages, the terminal and tests.

It has no power of its own: a page forwards its visitor's cookie, so it sees what they may see.
"""

from finchbot.client.client import ApiError, FinchClient, Unreachable
from finchbot.client.views import Health, Info, Sent, SettingsView, ToolView
from finchbot.messages import Message
from finchbot.threads.records import Page, Run, Thread

__all__ = [
    "ApiError",
    "FinchClient",
    "Health",
    "Info",
    "Message",
    "Page",
    "Run",
    "Sent",
    "SettingsView",
    "Thread",
    "ToolView",
    "Unreachable",
]
