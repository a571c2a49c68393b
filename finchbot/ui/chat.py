"""The chat page: Gradio Blocks around the conversation, wired to the core."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import gradio as gr
from fastapi import FastAPI

from finchbot.bot import FinchBot
from finchbot.errors import InputInvalid
from finchbot.i18n import Catalogue
from finchbot.ids import Clock, ThreadId, utc_now
from finchbot.ui import skin
from finchbot.ui.actions import parse_action, perform
from finchbot.ui.border import Border
from finchbot.ui.caller import visitor_of
from finchbot.ui.follow import Frame, PageStream, Stage
from finchbot.ui.page import OpenPages, TabTaken
from finchbot.ui.words import Words, prepare

OPEN_PAGES = 512
"""Pages that may be followed at the same time; one more waits. Gradio's own limit is 40."""
QUEUE_POLL_S = 0.01

STARTERS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class ChatPage:
    """The page, built; put it on a server with `mount_chat`."""

    blocks: gr.Blocks
    pages: OpenPages


@dataclass(frozen=True, slots=True)
class _Parts:
    """The page's five components, in the order frames name them."""

    side: gr.HTML
    head: gr.HTML
    hello: gr.HTML
    chat: gr.Chatbot
    foot: gr.HTML

    def outputs(self) -> list[Any]:
        return [self.side, self.head, self.hello, self.chat, self.foot]


def build_chat(
    bot: FinchBot,
    catalogue: Catalogue,
    *,
    free_talk: Callable[[], bool] = lambda: False,
    clock: Clock = utc_now,
) -> ChatPage:
    """Return the chat page.

    Args:
        bot: The core.
        catalogue: Everything the page says.
        free_talk: Whether a language model answers; the starters fit what this
            installation can do.
        clock: The present, for the times in the thread list.
    """
    prepare(catalogue)
    pages = OpenPages()
    stage = Stage(
        bot=bot,
        words=lambda page: page.visitor.words(catalogue, page.language),
        starters=lambda words: _starters(words, free_talk=free_talk()),
        languages={tag: catalogue.text("language.name", tag) for tag in catalogue.languages},
        clock=clock,
    )

    async def follow(event: gr.EventData, request: gr.Request) -> AsyncIterator[list[Any]]:
        try:
            page = pages.open(await visitor_of(request), _wanted_thread(event))
        except TabTaken as error:
            raise _refusal(str(error)) from error
        try:
            async for frame in PageStream(stage, page).frames():
                yield _update(frame)
        finally:
            pages.close(page)

    async def act(event: gr.EventData, request: gr.Request) -> None:
        page = pages.find(await visitor_of(request))
        if page is None:
            raise _refusal("the page is not followed")
        try:
            action = parse_action(event._data)
        except InputInvalid as error:
            raise _refusal(str(error)) from error
        await perform(action, page, bot, stage.words(page))

    blocks = gr.Blocks(analytics_enabled=False, title="FinchBot", fill_width=True)
    with blocks:
        parts = _lay_out()
        # gr.HTML has an event for every name its script triggers.
        stream = parts.foot.wake(
            follow,
            None,
            parts.outputs(),
            show_progress="hidden",
            api_visibility="private",
            concurrency_limit=None,
        )
        action = parts.foot.act(
            act,
            None,
            None,
            queue=False,
            show_progress="hidden",
            api_visibility="private",
            trigger_mode="multiple",
        )
        _tell_script(stream.then, "ended")
        _tell_script(stream.failure, "ended")
        _tell_script(action.failure, "refused")
    blocks.max_threads = OPEN_PAGES
    blocks.queue(default_concurrency_limit=None, api_open=False)
    # The queue looks for work every millisecond, 8 % of a core when nothing happens. Only the
    # opening of a page goes through it: nobody feels ten.
    blocks._queue.sleep_when_free = QUEUE_POLL_S
    return ChatPage(blocks, pages)


def mount_chat(app: FastAPI, chat: ChatPage, *, root_path: str | None = None) -> None:
    """Put the page on a server at ``/``, behind a border; mount it last, it takes what is left.

    When the app's lifespan ends, every page's stream is ended first: a server that waits for its
    connections to close does not wait for a page that listens.
    """
    gradio = FastAPI(openapi_url=None)
    gr.mount_gradio_app(
        gradio,
        chat.blocks,
        path="/",
        root_path=root_path,
        theme=skin.theme(),
        head=skin.head(),
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        mcp_server=False,
        show_error=False,
    )
    app.mount("/", Border(gradio, chat.pages))
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with inner(app) as state, gradio.router.lifespan_context(gradio):
            try:
                yield state
            finally:
                await chat.pages.end()

    app.router.lifespan_context = lifespan


def _lay_out() -> _Parts:
    with gr.Row(elem_id="finch-page"):
        side = gr.HTML(elem_id="finch-side", js_on_load=None, apply_default_css=False)
        with gr.Column(elem_id="finch-main"):
            head = gr.HTML(elem_id="finch-head", js_on_load=None, apply_default_css=False)
            hello = gr.HTML(elem_id="finch-hello", js_on_load=None, apply_default_css=False)
            chat = gr.Chatbot(
                elem_id="finch-chat",
                show_label=False,
                container=False,
                layout="bubble",
                buttons=["copy"],
                feedback_options=None,
                sanitize_html=True,
                allow_tags=False,
                height="100%",
                latex_delimiters=[
                    {"left": "$$", "right": "$$", "display": True},
                    {"left": "\\[", "right": "\\]", "display": True},
                    {"left": "\\(", "right": "\\)", "display": False},
                ],
            )
            foot = gr.HTML(elem_id="finch-foot", js_on_load=skin.script(), apply_default_css=False)
    return _Parts(side, head, hello, chat, foot)


def _refusal(why: str) -> gr.Error:
    """Return what makes Gradio call the script's ``refused``, which says it in words of ours."""
    return gr.Error(why, visible=False, print_exception=False)


def _tell_script(after: Callable[..., Any], what: str) -> None:
    """Call a function of the page's script after an event of Gradio's."""
    after(None, None, None, js=f"() => {{ window.finch?.{what}(); }}", api_visibility="private")


def _wanted_thread(event: gr.EventData) -> ThreadId | None:
    data = event._data
    wanted = data.get("thread_id") if isinstance(data, dict) else None
    return ThreadId(wanted) if isinstance(wanted, str) and wanted else None


def _starters(words: Words, *, free_talk: bool) -> list[str]:
    kind = "model" if free_talk else "builtin"
    return [words.say(f"starters.{kind}.{place}") for place in STARTERS]


def _update(frame: Frame) -> list[Any]:
    return [gr.skip() if part is None else part for part in frame]
