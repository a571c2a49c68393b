"""What the page says, in one language: the catalogue with a language chosen."""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date, format_skeleton, format_time

from finchbot.bot import Notice
from finchbot.errors import FinchError, Scalar
from finchbot.events import ErrorInfo
from finchbot.i18n import Catalogue


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences, labels and dates for one reader."""

    catalogue: Catalogue
    language: str
    zone: tzinfo = UTC

    def say(self, key: str, **params: Scalar) -> str:
        """Return the sentence ``chat.<key>``."""
        return self.catalogue.text(f"chat.{key}", self.language, **params)

    def notice(self, notice: Notice) -> str:
        """Return what everybody should know, as a sentence."""
        return self.catalogue.text(f"notice.{notice.code}", self.language, **notice.params)

    def explain(self, error: FinchError) -> str:
        """Return what happened and what to do, as one text."""
        return self.catalogue.describe(error, self.language)

    def explain_stored(self, error: ErrorInfo) -> str:
        """Return the sentence of an error told earlier, perhaps in another language."""
        params = {
            name: value
            for name, value in error.params.items()
            if value is None or isinstance(value, str | int | float | bool)
        }
        return self.explain(FinchError(error.code, **params))

    def tool(self, name: str) -> str:
        """Return the label of a tool; a tool nobody has named is called by its own name."""
        return self.catalogue.section("tool", self.language).get(name, name)

    def moment(self, at: datetime, *, now: datetime) -> str:
        """Return a short time in the reader's zone: of today the hour, else the date."""
        here, today = at.astimezone(self.zone), now.astimezone(self.zone)
        locale = Locale.parse(self.language, sep="-")
        if here.date() == today.date():
            return format_time(here, "short", locale=locale)
        if here.year == today.year:
            return format_skeleton("MMMd", here, locale=locale)
        return format_date(here, "short", locale=locale)


def prepare(catalogue: Catalogue) -> None:
    """Read from disk what dates and plurals need, so that no page waits for it later."""
    now = datetime.now(UTC)
    for language in catalogue.languages:
        Words(catalogue, language).moment(now, now=now)


def zone_of(name: str) -> tzinfo:
    """Return the zone a browser names, or UTC when there is none of that name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC
