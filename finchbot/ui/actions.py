"""What a person does on the page, as typed actions, and how the core is asked to do it."""

from typing import Annotated, Literal, assert_never

from pydantic import Field, TypeAdapter, ValidationError

from finchbot.bot import FinchBot
from finchbot.errors import FinchError, InputInvalid
from finchbot.ids import RunId, ThreadId
from finchbot.messages import InboundMessage, Wire
from finchbot.ui.page import RUNS_AT_ONCE, THREADS_AT_ONCE, OpenPage
from finchbot.ui.words import Words

LISTED_AT_MOST = 200


class Send(Wire):
    """Say something in the open thread, or begin one with it."""

    do: Literal["send"]
    text: str
    client_id: str


class Stop(Wire):
    """End the run that is under way, or one that waits."""

    do: Literal["stop", "unqueue"]
    run_id: RunId | None = None


class Retry(Wire):
    """Say once more what a broken run was to answer."""

    do: Literal["retry"]
    run_id: RunId
    client_id: str


class Open(Wire):
    """Show a thread; None shows the empty page."""

    do: Literal["open"]
    thread_id: ThreadId | None = None


class Rename(Wire):
    """Give a thread a title by hand."""

    do: Literal["rename"]
    thread_id: ThreadId
    title: str


class Delete(Wire):
    """Remove a thread for good; the page has asked before."""

    do: Literal["delete"]
    thread_id: ThreadId


class Search(Wire):
    """Look for threads by title and text."""

    do: Literal["search"]
    query: str = Field(max_length=500)


class Speak(Wire):
    """Change the language of the page."""

    do: Literal["language"]
    language: str = Field(max_length=35)


class Simple(Wire):
    """What needs no more said."""

    do: Literal["earlier", "more", "dismiss", "sleep"]


Action = Annotated[
    Send | Stop | Retry | Open | Rename | Delete | Search | Speak | Simple,
    Field(discriminator="do"),
]
_action: TypeAdapter[Action] = TypeAdapter(Action)


def parse_action(data: object) -> Action:
    """Return the action the page's script sent.

    Raises:
        InputInvalid: It is none.
    """
    try:
        return _action.validate_python(data)
    except ValidationError as error:
        raise InputInvalid(detail=error.errors()[0]["type"]) from error


async def perform(action: Action, page: OpenPage, bot: FinchBot, words: Words) -> None:
    """Do it; what goes wrong becomes a sentence on the page."""
    page.problem = ""
    try:
        await _perform(action, page, bot)
    except FinchError as error:
        if isinstance(action, Send):
            page.refused = action.client_id
        page.problem = words.explain(error)
    page.touch()


async def _perform(action: Action, page: OpenPage, bot: FinchBot) -> None:
    user = page.visitor.user_id
    match action:
        case Send(text=text, client_id=client_id):
            await _send(text, client_id, page, bot)
        case Stop(run_id=run_id):
            run_id = run_id or page.active_run
            if run_id is not None:
                await bot.cancel(user, run_id)
        case Retry(run_id=run_id, client_id=client_id):
            await _send(await _asked(run_id, page, bot), client_id, page, bot)
        case Open(thread_id=thread_id):
            page.open(thread_id)
        case Rename(thread_id=thread_id, title=title):
            await bot.threads.update(user, thread_id, title=title.strip())
            page.listed += 1
        case Delete(thread_id=thread_id):
            if thread_id == page.thread_id:
                page.open(None)
            await bot.threads.delete(user, thread_id)
            page.listed += 1
        case Search(query=query):
            page.query = query.strip()
            page.threads = THREADS_AT_ONCE
        case Speak(language=language):
            page.language = language
        case Simple(do=do):
            _simple(do, page)
        case _:
            assert_never(action)


def _simple(do: Literal["earlier", "more", "dismiss", "sleep"], page: OpenPage) -> None:
    match do:
        case "earlier":
            page.runs += RUNS_AT_ONCE
        case "more":
            page.threads = min(page.threads + THREADS_AT_ONCE, LISTED_AT_MOST)
        case "dismiss":
            page.problem = ""
        case "sleep":
            page.asleep = True
        case _:
            assert_never(do)


async def _send(text: str, client_id: str, page: OpenPage, bot: FinchBot) -> None:
    # One at a time: two quick messages on an empty page belong to one new thread.
    async with page.sending:
        accepted = await bot.send(
            InboundMessage(
                user_id=page.visitor.user_id,
                text=text,
                thread_id=page.thread_id,
                client_id=client_id,
                language=page.language,
            )
        )
        if page.thread_id is None:
            page.open(accepted.thread_id)
        page.runs = RUNS_AT_ONCE
        page.taken = client_id


async def _asked(run_id: RunId, page: OpenPage, bot: FinchBot) -> str:
    """Return the words a run of the open thread was to answer."""
    if page.thread_id is None:
        raise InputInvalid(detail="no thread is open")
    runs = await bot.threads.recent_runs(page.visitor.user_id, page.thread_id, limit=page.runs)
    for view in runs:
        if view.run_id == run_id and view.user_message is not None:
            return view.user_message.text
    raise InputInvalid(detail="the run is not shown")
