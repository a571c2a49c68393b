"""The bus: events are stamped, stored and handed to whoever listens."""

from finchbot.bus.feed import RESERVED, Position
from finchbot.bus.message_bus import FLUSH_EVENTS, Journal, MessageBus

__all__ = ["FLUSH_EVENTS", "RESERVED", "Journal", "MessageBus", "Position"]
