"""A program that serves a hostile Gradio page and a hostile Streamlit page behind the guard."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import gradio as gr
import streamlit as st
from starlette.types import ASGIApp
from streamlit.web import bootstrap

from finchbot.ids import new_id, utc_now
from finchbot.server.app import create_app
from finchbot.server.bind import make_door
from finchbot.server.cookies import Signer
from finchbot.server.guard import Guard
from finchbot.server.progress import Progress
from finchbot.server.services import Services
from finchbot.server.serving import Server, listen
from finchbot.server.streams import Streams
from tests.support.echo_core import EchoCore, echo_bot
from tests.support.gateway import CATALOGUE, LOOK, boot_for

HOSTILE = (
    "hello ![x](http://evil.example/x.png) <img src='http://evil.example/y.png'>"
    "<form action='http://evil.example/f'><button id='steal'>go</button></form>"
)
ADMIN = f"""
import streamlit as st
st.title("Admin page")
st.markdown({HOSTILE!r}, unsafe_allow_html=True)
st.write("origin", st.context.headers["X-FinchBot-Origin"])
if st.button("Press"):
    st.write("pressed")
st.line_chart([1, 2, 3])
st.file_uploader("Upload")
"""


@asynccontextmanager
async def open_gateway(_progress: Progress) -> AsyncIterator[ASGIApp]:
    """Mount both faces as the program itself does."""
    core, streams = EchoCore(), Streams()
    home = Path(tempfile.mkdtemp())
    environ = {"FINCHBOT_SERVER__PASSWORD": "open sesame"} if "locked" in sys.argv else {}
    bot = echo_bot(core, home, environ)
    settings = bot.settings.current
    door = make_door(
        settings.server,
        demo=False,
        environ={},
        signer=Signer(os.urandom(32)),
        clock=utc_now,
        new_id=new_id,
    )
    services = Services(
        bot=bot,
        catalogue=CATALOGUE,
        door=door,
        streams=streams,
        look=LOOK,
        model_name=lambda: "echo/echo",
        parts=dict,
    )
    page = home / "Home.py"
    page.write_text(ADMIN)
    bootstrap.load_config_options(
        {"browser.gatherUsageStats": False, "server.fileWatcherType": "none"}
    )
    admin = st.App(page)
    app = create_app(services)
    app.mount("/admin", admin)
    gr.mount_gradio_app(app, chat(), path="/", ssr_mode=False, run_history=False)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(core)
        await stack.enter_async_context(admin.lifespan()(app))
        await stack.enter_async_context(app.router.lifespan_context(app))
        yield Guard(app, door, services.problems, CATALOGUE.negotiate)


def chat() -> Any:
    """Return a page that answers whatever it is told with what is hostile."""

    def answer(text: str, history: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
        said = [{"role": "user", "content": text}, {"role": "assistant", "content": HOSTILE}]
        return "", [*history, *said]

    with gr.Blocks(analytics_enabled=False) as blocks:
        talk = gr.Chatbot(elem_id="chat")
        box = gr.Textbox(elem_id="box")
        gr.File(elem_id="file")
        box.submit(answer, [box, talk], [box, talk])
    return blocks


async def main() -> None:
    """Serve on a free port and print it."""
    listener = listen("127.0.0.1", 0)
    boot = boot_for(open_gateway)
    server = Server(boot)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve([listener])


if __name__ == "__main__":
    asyncio.run(main())
