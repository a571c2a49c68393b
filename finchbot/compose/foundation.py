"""The foundation: home, settings, sentences and logs, before anything heavy is loaded."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from finchbot.compose.options import Options
from finchbot.errors import AuthFailed, ConfigError, ProviderError
from finchbot.home import Home, lock_home, open_home
from finchbot.i18n import Catalogue, system_languages
from finchbot.lazy import load
from finchbot.log import setup_logging
from finchbot.settings import SettingsStore

ROOT = Path(__file__).resolve().parents[2]
"""The tree: locales, bootstrap and pages stand here."""


SILENCE = {
    "ANONYMIZED_TELEMETRY": "False",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Any one of these would do, and the first that is set wins.
    **{
        f"{maker}_{what}": "false"
        for maker in ("LANGSMITH", "LANGCHAIN")
        for what in ("TRACING", "TRACING_V2", "OTEL_ENABLED", "OTEL_ONLY")
    },
}
"""What libraries read from the environment when they load: nothing is told to their makers."""


@dataclass(frozen=True, slots=True)
class Foundation:
    """What everything else is built on."""

    home: Home
    settings: SettingsStore
    catalogue: Catalogue
    environ: Mapping[str, str]

    @property
    def language(self) -> str:
        """The language for sentences that nobody in particular asked for."""
        wanted = (self.settings.current.language, *system_languages(self.environ))
        return self.catalogue.negotiate(*wanted)

    def language_for(self, *wishes: str | None) -> str:
        """Return the language for a visitor: what they picked, the settings', the browser's.

        Args:
            wishes: What they picked, where that is known, and an ``Accept-Language`` header.
        """
        *picked, browser = wishes
        return self.catalogue.negotiate(*picked, self.settings.current.language, browser)


@contextlib.contextmanager
def lay_foundation(options: Options) -> Iterator[Foundation]:
    """Open the home for this program alone, and log there until the block ends.

    Raises:
        ConfigError: The home cannot be written or is in use, an option or a variable is wrong.
    """
    os.environ.update(SILENCE)
    environ = dict(os.environ)
    home = open_home(options.home, environ)
    with contextlib.ExitStack() as stack:
        if home.temporary:
            stack.callback(shutil.rmtree, home.root, ignore_errors=True)
        stack.enter_context(lock_home(home))
        settings = SettingsStore(home, environ=environ, overrides=options.overrides())
        level = settings.current.log.level
        stack.enter_context(setup_logging(home, level, settings.secrets))
        yield Foundation(home, settings, load_catalogue(), environ)


def check_model(base: Foundation, options: Options) -> None:
    """Refuse a model that was asked for by name and that no provider of these settings has.

    Raises:
        ConfigError: ``provider.unknown`` or ``provider.no_match``, as a run would say later.
    """
    if options.model is None:
        return
    try:
        load("finchbot.providers.choice").resolve(base.settings.current)
    except AuthFailed:
        # The key may come while the program runs; until then each run says what is missing.
        return
    except ProviderError as error:
        raise ConfigError(error.code, **error.params) from error


def load_catalogue() -> Catalogue:
    """Return the sentences of all languages."""
    return Catalogue.load(ROOT / "locales")
