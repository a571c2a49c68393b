"""The terminal's words: the catalogue in the one language of whoever sits there."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from finchbot.errors import FinchError, Scalar
from finchbot.i18n import Catalogue, system_languages

LOCALES = Path(__file__).resolve().parents[2] / "locales"


@dataclass(frozen=True, slots=True)
class Voice:
    """Says everything in `language`."""

    catalogue: Catalogue
    language: str

    @classmethod
    def of(cls, environ: Mapping[str, str], *wishes: str | None) -> "Voice":
        """Choose the language: the wishes, ``FINCHBOT_LANG``, then the system's."""
        catalogue = Catalogue.load(LOCALES)
        wanted = (*wishes, environ.get("FINCHBOT_LANG"), *system_languages(environ))
        return cls(catalogue, catalogue.negotiate(*wanted))

    def __call__(self, key: str, /, **params: Scalar) -> str:
        """Return a text with its values."""
        return self.catalogue.text(key, self.language, **params)

    def describe(self, error: FinchError) -> str:
        """Return what happened and what to do next."""
        return self.catalogue.describe(error, self.language)

    def tool(self, name: str) -> str:
        """Return what a tool does; its name when nobody has found words for it."""
        return self.catalogue.section("tool", self.language).get(name, name)
