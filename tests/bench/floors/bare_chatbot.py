"""A minimal Gradio chatbot: the openai client straight into a `gr.Chatbot`, nothing kept.

``python -m tests.bench.floors.bare_chatbot <base URL of the model>`` prints its own URL first.
"""

import sys
from collections.abc import AsyncIterator
from typing import Any

import gradio as gr
import openai
from fastapi import FastAPI

from tests.bench.floors.serving import serve


def build(model_url: str) -> gr.Blocks:
    """Return the page."""
    client = openai.AsyncOpenAI(api_key="none", base_url=model_url)

    async def answer(text: str, talk: list[Any]) -> AsyncIterator[tuple[str, list[Any]]]:
        wire: list[Any] = [{"role": m["role"], "content": _plain(m["content"])} for m in talk]
        wire.append({"role": "user", "content": text})
        stream = await client.chat.completions.create(model="scripted", messages=wire, stream=True)
        said = {"role": "assistant", "content": ""}
        shown = [*talk, wire[-1], said]
        async for event in stream:
            delta = event.choices[0].delta.content
            if delta:
                said["content"] += delta
                yield "", shown

    blocks: gr.Blocks = gr.Blocks(analytics_enabled=False)
    with blocks:
        chat = gr.Chatbot()
        box = gr.Textbox(elem_id="box")
        box.submit(answer, [box, chat], [box, chat], show_progress="hidden", concurrency_limit=None)
    return blocks


def _plain(content: Any) -> str:
    """Return the text of a message as Gradio gives it back: a text, or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content)


if __name__ == "__main__":
    serve(gr.mount_gradio_app(FastAPI(), build(sys.argv[1]), path="/", ssr_mode=False))
