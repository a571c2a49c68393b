"""Everything a person reads, in their language: texts, plurals, dates, numbers."""

from finchbot.i18n.catalogue import Catalogue
from finchbot.i18n.negotiation import DEFAULT, system_languages

__all__ = ["DEFAULT", "Catalogue", "system_languages"]
