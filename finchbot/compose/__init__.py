"""The composition root: settings → `open_bot` → FinchBot → the gateway that serves it.

Everything is built here, once, and handed down; nothing else sees the whole of it, and heavy
modules are loaded from here alone, late, so that the port answers first.
"""

from finchbot.compose.core import open_bot
from finchbot.compose.foundation import Foundation, lay_foundation, load_catalogue
from finchbot.compose.options import Options
from finchbot.compose.serving import serve

__all__ = ["Foundation", "Options", "lay_foundation", "load_catalogue", "open_bot", "serve"]
