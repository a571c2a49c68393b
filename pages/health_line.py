"""One line that answers "is it well?"."""

import streamlit as st

from finchbot.client import Health
from pages.frame import Visit

KINDS = {"ok": "ok", "degraded": "warn", "starting": "warn", "draining": "warn"}


def show_state(visit: Visit, health: Health) -> None:
    """Say in one line whether all parts are well."""
    status = health.status if health.status in KINDS else "degraded"
    with st.container(key=f"state-{KINDS[status]}"):
        st.text(visit.say(f"health.status.{status}"))
