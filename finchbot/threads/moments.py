"""Moments as the tables hold them: whole milliseconds since 1970."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime.fromtimestamp(0, UTC)


def to_ms(moment: datetime) -> int:
    """Return the ms since 1970 of an aware moment."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def from_ms(ms: int) -> datetime:
    """Return the moment, in UTC, of so many ms since 1970."""
    return EPOCH + timedelta(milliseconds=ms)
