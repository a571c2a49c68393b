"""What the server's own pages (start-up, login) share: tokens, mark, and one small style."""

from dataclasses import dataclass

_STYLE = """
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px;
  background: var(--finch-page); color: var(--finch-text); font-family: var(--finch-font);
  font-size: var(--finch-size-base); line-height: var(--finch-line-height);
  font-variant-numeric: tabular-nums; }
main { width: 100%; max-width: 380px; }
.finch { width: 56px; height: 56px; color: var(--finch-accent); display: block; }
h1 { font-size: var(--finch-size-title); font-weight: 600; margin: 16px 0 8px; }
p { margin: 0 0 16px; color: var(--finch-quiet); }
ul { list-style: none; margin: 16px 0; padding: 0; }
li { display: flex; gap: 8px; align-items: center; color: var(--finch-text); padding: 4px 0; }
li::before { content: ""; width: 8px; height: 8px; border-radius: 50%; flex: none;
  border: 1.5px solid var(--finch-accent); }
li.done { color: var(--finch-quiet); }
li.done::before { background: var(--finch-ok); border-color: var(--finch-ok); }
label { display: block; margin-bottom: 4px; }
input { width: 100%; font: inherit; color: inherit; padding: 8px 12px; min-height: 44px;
  background: var(--finch-surface); border: 1px solid var(--finch-line);
  border-radius: var(--finch-radius); }
button { width: 100%; font: inherit; font-weight: 600; min-height: 44px; margin-top: 16px;
  color: var(--finch-on-accent); background: var(--finch-accent); border: 0;
  border-radius: var(--finch-radius); cursor: pointer; }
input:focus-visible, button:focus-visible { outline: 2px solid var(--finch-accent);
  outline-offset: 2px; }
.wrong { color: var(--finch-error); margin-top: 8px; }
code { font-family: var(--finch-mono); user-select: all; }
"""


@dataclass(frozen=True, slots=True)
class Look:
    """The look, as the composition root takes it from the house's tokens."""

    variables: str
    """CSS custom properties ``--finch-*``, light and dark."""
    mark: str
    """The finch as inline SVG with the class ``finch``."""
    icon: str
    """The finch as an SVG document, for the browser's tab."""

    @property
    def style(self) -> str:
        """The whole style sheet."""
        return self.variables + _STYLE
