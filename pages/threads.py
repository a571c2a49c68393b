"""Threads: find, rename and delete conversations."""

import streamlit as st

from finchbot.client import Thread
from pages.frame import Visit, page, plain

PAGE_SIZE = 25
CHANNELS = frozenset({"chat", "terminal", "api", "ws"})


def show(visit: Visit) -> None:
    """Show the visitor's threads, newest first, with search and pages."""
    asked = st.text_input(visit.say("threads.search"), key="q", icon=":material/search:")
    cursors: list[str | None] = st.session_state.setdefault("cursors", [None])
    if st.session_state.get("asked") != asked:
        cursors[:] = [None]
        st.session_state["asked"] = asked
    found = visit.client.threads(q=asked, limit=PAGE_SIZE, cursor=cursors[-1])
    if not found.items:
        st.info(visit.say("threads.none_found" if asked else "threads.empty"))
        st.link_button(visit.say("overview.open_chat"), "/", type="primary")
    for thread in found.items:
        show_row(visit, thread)
    show_pager(visit, cursors, found.next)


def show_row(visit: Visit, thread: Thread) -> None:
    """One thread: what it is, when it was, and what can be done with it."""
    title = thread.title or visit.say("threads.untitled")
    with st.container(border=True):
        words, actions = st.columns([3, 2], vertical_alignment="center")
        words.markdown(f"**{plain(title)}**")
        words.caption(
            visit.say(
                "threads.row",
                count=thread.message_count,
                when=visit.catalogue.format_datetime(thread.last_active_at, visit.info.language),
                channel=channel_name(visit, thread.channel),
            )
        )
        with actions.container(horizontal=True, horizontal_alignment="right"):
            st.link_button(visit.say("threads.open"), f"/?thread={thread.id}")
            with st.popover(visit.say("threads.rename")):
                rename(visit, thread)
            with st.popover(visit.say("threads.delete")):
                delete(visit, thread, title)


def channel_name(visit: Visit, channel: str) -> str:
    """Return what people call the surface a thread came from."""
    return visit.say(f"threads.channel.{channel if channel in CHANNELS else 'other'}")


def rename(visit: Visit, thread: Thread) -> None:
    """Ask for a title and keep it as the user's own."""
    with st.form(f"rename-{thread.id}", border=False):
        title = st.text_input(visit.say("threads.title_label"), thread.title)
        if st.form_submit_button(visit.say("threads.rename")):
            visit.client.update_thread(thread.id, title=title)
            st.rerun()


def delete(visit: Visit, thread: Thread, title: str) -> None:
    """Name what goes, then do it; nothing brings a deleted thread back."""
    st.markdown(visit.say("threads.delete_ask", title=plain(title), count=thread.message_count))
    if st.button(visit.say("threads.delete_do"), key=f"delete-{thread.id}", type="primary"):
        visit.client.delete_thread(thread.id)
        st.rerun()


def show_pager(visit: Visit, cursors: list[str | None], following: str | None) -> None:
    """Offer the pages before and after, where there are any."""
    with st.container(horizontal=True):
        if len(cursors) > 1 and st.button(visit.say("threads.newer")):
            cursors.pop()
            st.rerun()
        if following and st.button(visit.say("threads.older")):
            cursors.append(following)
            st.rerun()


with page("threads") as visit:
    if visit is not None:
        show(visit)
