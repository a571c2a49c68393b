"""Health: which part is well, which is not, and what that means."""

import streamlit as st

from pages.frame import Visit, page, plain


def show(visit: Visit) -> None:
    """Say the whole first, then each part."""
    health = visit.client.health()
    sentence = visit.say(f"health.status.{health.status}", version=health.version)
    (st.success if health.status == "ok" else st.warning)(sentence)
    st.subheader(visit.say("health.parts"), anchor=False)
    for part, state in health.parts.items():
        name, meaning = st.columns([1, 3])
        name.markdown(f"**{visit.say(f'health.part.{part}')}**")
        meaning.markdown(plain(visit.say(f"health.state.{state}")))
    show_notices(visit)
    st.button(visit.say("health.check_again"))


def show_notices(visit: Visit) -> None:
    """Show what the user must know: a broken settings file, a home that will not last."""
    settings = visit.client.settings()
    if settings.safe_mode is not None:
        broken = settings.safe_mode
        st.error(
            visit.say(
                "health.safe_mode", file=plain(broken.file), line=broken.line, column=broken.column
            )
        )
        st.code(broken.detail, language=None)


with page("health") as visit:
    if visit is not None:
        show(visit)
