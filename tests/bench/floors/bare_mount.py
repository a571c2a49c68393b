"""Gradio and Streamlit on one FastAPI app and nothing behind them.

``python -m tests.bench.floors.bare_mount`` prints its URL first.
"""

from pathlib import Path
from typing import Any

import gradio as gr
import streamlit
from fastapi import FastAPI
from streamlit.web import bootstrap

from tests.bench.floors.serving import serve


def build() -> FastAPI:
    """Return the app."""
    bootstrap.load_config_options(
        {"browser.gatherUsageStats": False, "server.fileWatcherType": "none"}
    )
    admin: Any = streamlit.App(Path(__file__).with_name("bare_page.py"))
    app = FastAPI(lifespan=admin.lifespan())
    app.mount("/admin", admin)
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Chatbot()
        gr.Textbox(elem_id="box")
    mounted: FastAPI = gr.mount_gradio_app(app, blocks, path="/", ssr_mode=False)
    return mounted


if __name__ == "__main__":
    serve(build())
