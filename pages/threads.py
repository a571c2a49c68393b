"""Conversations: find, open, rename, pin, archive and delete them."""

from collections.abc import Callable

import streamlit as st

from finchbot.client import ApiError, FinchClient, Thread, Unreachable
from pages.failure import show_failure
from pages.frame import Visit, page, tell
from pages.thread_row import show_thread, title_of
from pages.visitor import Say, open_client, outer_path

PAGE_SIZE = 25


def show(visit: Visit) -> None:
    """Show the visitor's threads, pinned first, then the last active, with search and pages."""
    asked, archived = show_search(visit)
    cursors = cursors_for(asked, archived)
    with st.spinner(visit.say("threads.loading")):
        found = visit.client.threads(
            q=asked, archived=archived, limit=PAGE_SIZE, cursor=cursors[-1]
        )
    if not found.items:
        show_empty(visit, asked, archived)
        return
    wanted: list[tuple[Thread, str]] = []
    with st.container(key="rows", gap=None):
        for thread in found.items:
            chosen = show_thread(visit, thread, actions_for(visit, thread))
            if chosen is not None:
                wanted.append((thread, chosen))
    show_pager(visit, cursors, found.next)
    for thread, chosen in wanted:
        act(visit, thread, chosen)


def show_search(visit: Visit) -> tuple[str, bool]:
    """Ask for words to look for, and whether the archive is meant."""
    say = visit.say
    with st.container(key="search", horizontal=True, vertical_alignment="center", wrap=False):
        asked = st.text_input(
            say("threads.search"),
            key="asked",
            placeholder=say("threads.search"),
            label_visibility="collapsed",
            max_chars=200,
        )
        archived = st.toggle(say("threads.archive"), key="archived")
    return asked.strip(), archived


def cursors_for(asked: str, archived: bool) -> list[str | None]:
    """Return the cursors of the pages seen so far; another search begins at the first page."""
    if st.session_state.get("listed") != (asked, archived):
        st.session_state["listed"] = (asked, archived)
        st.session_state["cursors"] = [None]
    cursors: list[str | None] = st.session_state["cursors"]
    return cursors


def show_empty(visit: Visit, asked: str, archived: bool) -> None:
    """Say what will be here, and the one thing that leads on."""
    say = visit.say
    if asked:
        st.text(say("threads.none_found"))
        st.button(say("threads.show_all"), on_click=forget_search, key="all")
    elif archived:
        st.text(say("threads.none_archived"))
    else:
        st.text(say("threads.empty"))
        st.link_button(say("overview.open_chat"), outer_path("/"), type="primary")


def forget_search() -> None:
    """Empty the search box."""
    st.session_state["asked"] = ""


def actions_for(visit: Visit, thread: Thread) -> dict[str, str]:
    """Return what can be done with a thread; what cannot be undone comes last."""
    names = (
        "rename",
        "unpin" if thread.pinned else "pin",
        "unarchive" if thread.archived else "archive",
    )
    named = {name: visit.say(f"threads.action.{name}") for name in names}
    return named | {"delete": f":red[{visit.say('threads.action.delete')}]"}


def act(visit: Visit, thread: Thread, chosen: str) -> None:
    """Do at once what can be undone, and ask for the rest."""
    client, say = visit.client, visit.say
    match chosen:
        case "rename":
            st.dialog(say("threads.rename_title"))(rename)(say, thread)
        case "delete":
            st.dialog(say("threads.delete_title"))(delete)(say, thread, title_of(visit, thread))
        case "pin" | "unpin":
            client.update_thread(thread.id, pinned=chosen == "pin")
            st.rerun()
        case _:
            client.update_thread(thread.id, archived=chosen == "archive")
            tell(say(f"threads.done.{chosen}"))


def rename(say: Say, thread: Thread) -> None:
    """Ask for a title and keep it as the user's own."""
    with st.form("rename", border=False):
        title = st.text_input(say("threads.title_label"), thread.title, max_chars=500)
        with st.container(horizontal=True, horizontal_alignment="right"):
            cancelled = st.form_submit_button(say("threads.cancel"), type="tertiary")
            saved = st.form_submit_button(say("threads.rename_do"), type="primary")
    if cancelled:
        st.rerun()
    if saved and done(say, lambda client: client.update_thread(thread.id, title=title)):
        tell(say("threads.done.rename"))


def delete(say: Say, thread: Thread, title: str) -> None:
    """Name what goes, then do it; nothing brings a deleted thread back."""
    with st.container(key="named"):
        st.text(title)
    st.caption(say("threads.delete_ask", count=thread.message_count))
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(say("threads.cancel"), key="cancel", type="tertiary"):
            st.rerun()
        wanted = st.button(say("threads.delete_do"), key="danger", type="primary")
    if wanted and done(say, lambda client: client.delete_thread(thread.id)):
        tell(say("threads.done.delete"))


def done(say: Say, change: Callable[[FinchClient], object]) -> bool:
    """Make a change from a dialog, which outlives the run of the page; show why it failed."""
    with open_client() as client:
        try:
            change(client)
        except (ApiError, Unreachable) as error:
            show_failure(error, say)
            return False
    return True


def show_pager(visit: Visit, cursors: list[str | None], following: str | None) -> None:
    """Offer the pages before and after, where there are any."""
    with st.container(horizontal=True, key="pager"):
        if len(cursors) > 1 and st.button(visit.say("threads.newer"), key="newer"):
            cursors.pop()
            st.rerun()
        if following and st.button(visit.say("threads.older"), key="older"):
            cursors.append(following)
            st.rerun()


with page("threads") as visit:
    if visit is not None:
        show(visit)
