"""Health: whether all is well, which part is not, what that means, and where things are kept."""

import streamlit as st

from finchbot.client import Health
from pages.frame import Visit, page
from pages.health_line import show_state
from pages.model_facts import key_source

PARTS = ("model", "memory", "vectors", "channels")
COLOURS = {"ok": "green", "degraded": "yellow", "starting": "yellow", "failed": "red"}
"""By state; what is off or unknown is grey."""


def show(visit: Visit) -> None:
    """Say the whole first, then each part, then the facts of the installation."""
    with st.spinner(visit.say("health.loading")):
        health = visit.client.health()
    show_state(visit, health)
    st.subheader(visit.say("health.parts"), anchor=False)
    with st.container(key="rows", gap=None):
        for part in PARTS:
            show_part(visit, part, health.parts.get(part, "unknown"))
    st.button(visit.say("health.check_again"), key="again")
    show_machine(visit, health)


def show_part(visit: Visit, part: str, state: str) -> None:
    """Name a part, how it is, and what that means for the visitor."""
    say = visit.say
    state = state if state in (*COLOURS, "off") else "unknown"
    with st.container(key=f"row-{part}"):
        name, meaning = st.columns([2, 5])
        name.markdown(f"**{say(f'health.part.{part}')}**")
        name.markdown(f":{COLOURS.get(state, 'gray')}[●] {say(f'health.state.{state}')}")
        if part == "model":
            meaning.text(visit.info.model)
        meaning.text(say(f"health.meaning.{part}.{_kind(part, state, visit.info.model)}"))


def show_machine(visit: Visit, health: Health) -> None:
    """Show what runs, and where it keeps things; a stranger is told nothing of folders."""
    say, machine = visit.say, visit.info.machine
    facts = {"version": f"FinchBot {health.version}"}
    if machine is not None:
        facts |= {
            "python": machine.python,
            "key": key_source(visit),
            "home": machine.home,
            "config": machine.config_file,
            "log": machine.log_file,
        }
    st.subheader(say("health.installation"), anchor=False)
    with st.container(key="facts", gap=None):
        for name, value in facts.items():
            with st.container(key=f"row-{name}"):
                label, shown = st.columns([2, 5])
                label.caption(say(f"health.fact.{name}"))
                shown.text(value)


def _kind(part: str, state: str, model: str) -> str:
    """Return which sentence fits a state."""
    if part == "model" and state == "ok":
        return "builtin" if model.startswith("builtin") else "ok"
    return {"ok": "ok", "off": "off", "starting": "starting"}.get(state, "broken")


with page("health") as visit:
    if visit is not None:
        show(visit)
