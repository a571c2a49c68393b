"""What a page shows when something failed: what happened, what to do, a reference to copy."""

import logging
import secrets

import streamlit as st

from finchbot.client import ApiError, Unreachable
from pages.visitor import Say, browser_language, outer_path, speaker

LANGUAGE = "language"
"""Where a page leaves its visitor's language for what fails later."""
_log = logging.getLogger(__name__)


def show_failure(error: ApiError | Unreachable, say: Say) -> None:
    """Show what the server said, or that it said nothing."""
    if isinstance(error, ApiError):
        detail, reference = error.detail, f"{error.code} · HTTP {error.status_code}"
        if "reference" in error.params:
            reference += f" · {error.params['reference']}"
    else:
        detail, reference = say("failure.unreachable"), f"{error.code} · {error.params['reason']}"
    if isinstance(error, ApiError) and error.status_code == 401:
        _show(detail, say("failure.sign_in_next"), reference, say, sign_in=True)
    else:
        _show(detail, say("failure.next"), reference, say)


def show_unexpected(error: Exception) -> bool:
    """Log an error nobody foresaw, without what it says, and show a reference to it.

    Returns:
        True: it is on the page, and Streamlit need not show it in its own way.
    """
    reference = secrets.token_hex(4)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"
    _log.error("unexpected %s at %s in an admin page [%s]", type(error).__name__, place, reference)
    say = speaker(st.session_state.get(LANGUAGE) or browser_language())
    _show(say("failure.unexpected"), say("failure.unexpected_next"), reference, say)
    return True


def _show(detail: str, following: str, reference: str, say: Say, *, sign_in: bool = False) -> None:
    with st.container(key="failure"):
        for sentence in (say("failure.title"), detail, following, say("failure.reference")):
            st.text(sentence)
        st.code(reference, language=None)
        if sign_in:
            st.link_button(say("failure.sign_in"), outer_path("/login"), type="primary")
        else:
            st.button(say("failure.retry"), key="retry")
