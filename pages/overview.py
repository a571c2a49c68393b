"""Home: is it well, what answers, and where to go on."""

import streamlit as st

from pages.frame import Visit, page, plain


def show(visit: Visit) -> None:
    """Answer "is it well?", then name the model, then the last threads."""
    show_state(visit)
    show_model(visit)
    st.subheader(visit.say("overview.recent"), anchor=False)
    recent = visit.client.threads(limit=5).items
    if not recent:
        st.write(visit.say("overview.empty"))
    for thread in recent:
        title = thread.title or visit.say("threads.untitled")
        st.markdown(f"[{plain(title)}](/?thread={thread.id})")
    st.link_button(visit.say("overview.open_chat"), "/", type="primary")


def show_state(visit: Visit) -> None:
    """Say in one line whether all parts are well."""
    health = visit.client.health()
    sentence = visit.say(f"health.status.{health.status}", version=health.version)
    show = st.success if health.status == "ok" else st.warning
    show(sentence)


def show_model(visit: Visit) -> None:
    """Name the model that answers, and how to bring a real one when there is none."""
    st.subheader(visit.say("overview.model"), anchor=False)
    if visit.info.model.startswith("builtin"):
        st.write(visit.say("overview.builtin"))
        st.code("export OPENAI_API_KEY=…\npython app.py", language="bash")
    else:
        st.markdown(plain(visit.info.model))


with page("overview") as visit:
    if visit is not None:
        show(visit)
