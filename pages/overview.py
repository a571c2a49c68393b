"""Home: is it well, what answers, and where to go on."""

from datetime import UTC, datetime, timedelta

import streamlit as st

from finchbot.client import Thread
from pages.frame import Visit, page
from pages.health_line import show_state
from pages.model_facts import (
    EXAMPLE_FILE,
    EXAMPLE_LOCAL,
    environment_example,
    is_builtin,
    key_source,
)
from pages.thread_row import show_thread
from pages.visitor import outer_path

RECENT = 5
PAGE_SIZE = 200
PAGES_COUNTED = 5
WEEK = timedelta(days=7)


def show(visit: Visit) -> None:
    """Answer "is it well?", then name the model, then the last threads."""
    with st.spinner(visit.say("overview.loading")):
        health = visit.client.health()
        threads, complete = counted_threads(visit)
    show_state(visit, health)
    show_model(visit)
    show_recent(visit, threads, complete)


def counted_threads(visit: Visit) -> tuple[list[Thread], bool]:
    """Return the threads, most recent first, and whether these are all there are."""
    found: list[Thread] = []
    cursor = None
    for _ in range(PAGES_COUNTED):
        part = visit.client.threads(limit=PAGE_SIZE, cursor=cursor)
        found.extend(part.items)
        cursor = part.next
        if cursor is None:
            break
    return sorted(found, key=lambda thread: thread.last_active_at, reverse=True), cursor is None


def show_model(visit: Visit) -> None:
    """Name the model that answers, and how to bring a real one when there is none."""
    say = visit.say
    st.subheader(say("overview.model"), anchor=False)
    if not is_builtin(visit):
        with st.container(key="model", gap=None):
            st.text(visit.info.model)
            if visit.settings is not None:
                st.text(say("overview.key", source=key_source(visit)))
        return
    st.text(say("overview.builtin"))
    if visit.info.machine is None:
        return
    by_variable, by_file, local = st.tabs(
        [say("overview.by_variable"), say("overview.by_file"), say("overview.local")]
    )
    by_variable.caption(say("overview.by_variable_how"))
    by_variable.code(environment_example(), language=None)
    by_file.caption(say("overview.by_file_how"))
    by_file.text(visit.info.machine.config_file)
    by_file.code(EXAMPLE_FILE, language=None)
    local.caption(say("overview.local_how"))
    local.code(EXAMPLE_LOCAL, language=None)


def show_recent(visit: Visit, threads: list[Thread], complete: bool) -> None:
    """Count the threads and show the last ones."""
    say = visit.say
    st.subheader(say("overview.recent"), anchor=False)
    if not threads:
        st.text(say("overview.empty"))
    else:
        st.caption(counts(visit, threads, complete))
        with st.container(key="rows", gap=None):
            for thread in threads[:RECENT]:
                show_thread(visit, thread)
    with st.container(horizontal=True, key="onward"):
        st.link_button(say("overview.open_chat"), outer_path("/"), type="primary")
        if len(threads) > RECENT:
            st.page_link("threads.py", label=say("overview.all_threads"))


def counts(visit: Visit, threads: list[Thread], complete: bool) -> str:
    """Say how many conversations and messages there are, and how many were active of late."""
    since = datetime.now(UTC) - WEEK
    numbers = {
        "threads": len(threads),
        "messages": sum(thread.message_count for thread in threads),
        "week": sum(thread.last_active_at > since for thread in threads),
    }
    key = "overview.count" if complete else "overview.count_more"
    return " · ".join(visit.say(f"{key}.{name}", count=number) for name, number in numbers.items())


with page("overview") as visit:
    if visit is not None:
        show(visit)
