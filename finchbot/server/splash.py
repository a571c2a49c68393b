"""The page that is shown while FinchBot starts; it needs nothing but the standard library."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from string import Template

from finchbot.server.look import Look
from finchbot.server.progress import Progress

Say = Callable[[str, str], str]
"""Takes a locale key and an ``Accept-Language`` header; returns the sentence."""

_PAGE = Template("""<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>FinchBot</title>
<noscript><meta http-equiv="refresh" content="2"></noscript>
<style nonce="$nonce">$style</style>
</head>
<body>
<main aria-live="polite">
$mark
<h1>$title</h1>
<p>$text</p>
$more
</main>
<script nonce="$nonce">$script</script>
</body>
</html>
""")
# Asks until the real page can answer in this one's place.
_SCRIPT = Template("""
const look = async () => {
  try {
    const answer = await fetch("$healthz", {cache: "no-store"});
    const health = await answer.json();
    if (health.status !== "starting") { location.reload(); return; }
    for (const part of document.querySelectorAll("[data-part]"))
      part.classList.toggle("done", !health.waiting_for.includes(part.dataset.part));
  } catch (error) { /* not there yet, or gone: ask again */ }
  setTimeout(look, 200);
};
setTimeout(look, 200);
""")


@dataclass(frozen=True, slots=True)
class Splash:
    """Renders the page in the visitor's language.

    Args:
        look: Colours and mark.
        say: Finds the sentences (``server.splash.*``, ``server.part.*``).
        root_path: The path a reverse proxy serves FinchBot under.
    """

    look: Look
    say: Say
    root_path: str = ""

    def starting(self, progress: Progress, accept_language: str) -> tuple[str, str]:
        """Return the page, and the content security policy that goes with it."""
        parts = "".join(
            f'<li data-part="{escape(part)}"{_done(ready)}>'
            f"{escape(self.say(f'server.part.{part}', accept_language))}</li>"
            for part, ready in progress.parts.items()
        )
        script = _SCRIPT.substitute(healthz=f"{self.root_path}/healthz")
        return self._page("starting", accept_language, f"<ul>{parts}</ul>", script)

    def closing(self, accept_language: str) -> tuple[str, str]:
        """Return the page that says the program is ending."""
        return self._page("closing", accept_language, "", "")

    def failed(self, reference: str, accept_language: str) -> tuple[str, str]:
        """Return the page that says the start went wrong; `reference` leads to the log."""
        label = escape(self.say("server.splash.reference", accept_language))
        more = f"<p>{label} <code>{escape(reference)}</code></p>"
        return self._page("failed", accept_language, more, "")

    def _page(self, which: str, language: str, more: str, script: str) -> tuple[str, str]:
        nonce = secrets.token_urlsafe(16)
        page = _PAGE.substitute(
            language=escape(self.say("server.splash.lang", language)),
            nonce=nonce,
            style=self.look.style,
            mark=self.look.mark,
            title=escape(self.say(f"server.splash.{which}.title", language)),
            text=escape(self.say(f"server.splash.{which}.text", language)),
            more=more,
            script=script,
        )
        policy = (
            f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; "
            "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
        )
        return page, policy


def _done(ready: bool) -> str:
    return ' class="done"' if ready else ""
