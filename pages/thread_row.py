"""One thread as a row: what it is called, what is in it, and the way into it."""

from urllib.parse import quote

import streamlit as st

from finchbot.client import Thread
from pages.frame import Visit
from pages.visitor import outer_path

CHANNELS = frozenset({"chat", "terminal", "api", "ws"})


def show_thread(visit: Visit, thread: Thread, actions: dict[str, str] | None = None) -> str | None:
    """Draw the row.

    Args:
        visit: The visit.
        thread: The thread.
        actions: What else can be done with it: names and what they are called.

    Returns:
        The name of the action that was chosen just now.
    """
    say = visit.say
    with st.container(
        key=f"row-{thread.id}", horizontal=True, vertical_alignment="center", wrap=False
    ):
        with st.container(key=f"words-{thread.id}", gap=None):
            st.text(title_of(visit, thread))
            st.text(_facts(visit, thread))
        address = outer_path(f"/?thread={quote(thread.id)}")
        st.link_button(say("threads.open"), address, key=f"open-{thread.id}")
        if actions is None:
            return None
        chosen: str | None = st.menu_button(
            say("threads.more"),
            list(actions),
            format_func=lambda name: actions[name],
            key=f"more-{thread.id}",
            type="tertiary",
        )
        return chosen


def title_of(visit: Visit, thread: Thread) -> str:
    """Return a thread's title on one line."""
    return " ".join(thread.title.split()) or visit.say("threads.untitled")


def _facts(visit: Visit, thread: Thread) -> str:
    channel = thread.channel if thread.channel in CHANNELS else "other"
    facts = [
        visit.say("threads.messages", count=thread.message_count),
        visit.when(thread.last_active_at),
        visit.say(f"threads.channel.{channel}"),
    ]
    if thread.pinned:
        facts.insert(0, visit.say("threads.pinned"))
    if thread.running:
        facts.append(visit.say("threads.running"))
    return " · ".join(facts)
