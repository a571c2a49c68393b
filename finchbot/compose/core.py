"""The core: stores, agent and dispatch, opened together on the loop that uses them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finchbot.compose.foundation import ROOT, Foundation, check_model, lay_foundation
from finchbot.compose.loading import collector_at_rest, load_all
from finchbot.compose.options import Options
from finchbot.compose.visitors import VisitorTraces, visitor_folder
from finchbot.errors import FinchError, ProviderError
from finchbot.ids import UserId, new_id, utc_now
from finchbot.lazy import load
from finchbot.server.progress import Progress
from finchbot.settings import SettingsStore

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

    from finchbot.agent.factory import AgentFactory
    from finchbot.agent.late import LateAgent
    from finchbot.agent.run_context import Workspace
    from finchbot.agent.runner import GraphAgent
    from finchbot.bot import FinchBot, Notice
    from finchbot.dispatch import Dispatcher
    from finchbot.events import ErrorInfo
    from finchbot.providers.models import CurrentModels, Models
    from finchbot.threads.store import ThreadStore
    from finchbot.tools.registry import ToolRegistry


FIRST = (
    "finchbot.bot",
    "finchbot.dispatch",
    "finchbot.providers.models",
    "finchbot.threads.service",
    "finchbot.tools.factory",
)
"""What the core is made of, light enough to come before the page."""
LATE = ("finchbot.agent.factory", "finchbot.providers.builtin")
"""What answers a message, with LangChain and LangGraph in it."""
SWITCHED_OFF_IN_DEMO = frozenset({"shell", "web"})
"""Topics of tools no stranger gets: what runs commands or reaches other machines."""


@dataclass(frozen=True, slots=True)
class Core:
    """The bot, and what the gateway asks beside it."""

    bot: "FinchBot"
    agent: "LateAgent"
    """Opened when somebody wants it."""
    dispatcher: "Dispatcher"
    model_name: Callable[[], str]
    parts: Callable[[], dict[str, str]]
    visitors: VisitorTraces


@asynccontextmanager
async def open_bot(options: Options) -> AsyncIterator["FinchBot"]:
    """Open a home and the bot in it, for a program without a server.

    Raises:
        ConfigError: The home cannot be written or is in use, or an option is wrong.
        StoreTooNew: A newer program wrote the home's files.
    """
    ground = ExitStack()
    try:
        base = await asyncio.to_thread(ground.enter_context, lay_foundation(options))
        check_model(base, options)
        async with open_core(base, Progress()) as core:
            await core.agent.there()
            yield core.bot
    finally:
        await asyncio.to_thread(ground.close)


@asynccontextmanager
async def open_core(base: Foundation, progress: Progress) -> AsyncIterator[Core]:
    """Open the stores and all that stands around the agent.

    Raises:
        FinchError: Also later, in place of the block, when the agent cannot be opened.
    """
    async with AsyncExitStack() as stack:
        with progress.step("libraries"):
            await asyncio.to_thread(load_all, FIRST)
        with progress.step("core"):
            core = await _assemble(base, stack)
        yield core


async def _assemble(base: Foundation, stack: AsyncExitStack) -> Core:
    store: ThreadStore = await stack.enter_async_context(
        load("finchbot.threads.store").ThreadStore.open(base.home.threads_db, clock=utc_now)
    )
    bus = await stack.enter_async_context(load("finchbot.bus").MessageBus(store, utc_now))
    titles = load("finchbot.threads.titles").ThreadTitles(store, bus)
    models: Models = load("finchbot.providers.models").Models(_builtin(base), utc_now, new_id)
    stack.push_async_callback(models.close)
    source = load("finchbot.providers.models").CurrentModels(models, lambda: base.settings.current)
    tools = _tools(base, titles)
    agent: LateAgent = load("finchbot.agent.late").LateAgent(
        lambda: _open_agent(base, source, tools, store)
    )
    await stack.enter_async_context(agent.alive())
    dispatcher: Dispatcher = await stack.enter_async_context(
        load("finchbot.dispatch").Dispatcher(
            store, bus, titles, agent, describe=_describe(base), clock=utc_now, new_id=new_id
        )
    )
    threads = load("finchbot.threads.service").ThreadService(
        store,
        bus,
        titles,
        quiet=dispatcher.quiet,
        forget=agent.forget,
        clock=utc_now,
        new_id=new_id,
    )
    bot: FinchBot = load("finchbot.bot").FinchBot(
        conversation=dispatcher,
        threads=threads,
        tools=tools,
        settings=base.settings,
        home=base.home,
        notices=_notices(base, store),
    )
    return Core(
        bot,
        agent,
        dispatcher,
        model_name=lambda: _model_name(source, base.settings),
        parts=lambda: _parts(source) if agent.ready else _parts(None),
        visitors=VisitorTraces(_visitors(base), store, threads),
    )


def _notices(base: Foundation, store: "ThreadStore") -> "list[Notice]":
    """Return what everybody should know; a stranger is told nothing of files and folders."""
    notice = load("finchbot.bot").Notice
    if base.settings.current.demo:
        return [notice("demo")]
    found = []
    if base.home.temporary:
        found.append(notice("home.temporary", {"path": str(base.home.root)}))
    if store.set_aside is not None:
        names = {"file": base.home.threads_db.name, "kept": str(store.set_aside)}
        found.append(notice("store.set_aside", names))
    return found


def _builtin(base: Foundation) -> "Callable[[], BaseChatModel]":
    def make() -> "BaseChatModel":
        builtin = load("finchbot.providers.builtin")
        model: BaseChatModel = builtin.BuiltinChatModel(
            say=lambda key, language, **params: base.catalogue.text(key, language, **params),
            clock=utc_now,
            language=base.language,
        )
        return model

    return make


def _tools(base: Foundation, titles: Any) -> "ToolRegistry":
    deps = load("finchbot.tools.deps").ToolDeps(
        titles=titles,
        sentences=lambda key, /, **params: base.catalogue.text(key, base.language, **params),
    )
    switched_off = SWITCHED_OFF_IN_DEMO if base.settings.current.demo else frozenset()
    registry: ToolRegistry = (
        load("finchbot.tools.factory")
        .ToolFactory(switched_off=switched_off)
        .registry(deps, lambda error: base.catalogue.describe(error, base.language))
    )
    return registry


@asynccontextmanager
async def _open_agent(
    base: Foundation, source: "CurrentModels", tools: "ToolRegistry", store: "ThreadStore"
) -> "AsyncIterator[GraphAgent]":
    with collector_at_rest():
        await asyncio.to_thread(load_all, LATE)
        await asyncio.to_thread(_working, source)
    prompt_files = load("finchbot.agent.prompt_files").PromptFiles(
        ROOT / "bootstrap", base.home.root
    )
    factory: AgentFactory = load("finchbot.agent.factory").AgentFactory(
        models=source,
        tools=tools,
        record=store,
        options=lambda: base.settings.current.agents.defaults,
        workspaces=lambda user_id: _workspace(base, user_id),
        prompt_files=prompt_files,
        say=base.catalogue.text,
        clock=utc_now,
        new_id=new_id,
    )
    async with factory.open(base.home.checkpoints_db) as agent:
        yield agent


def _working(source: "CurrentModels") -> bool:
    """Tell whether a run would find a model; the first time this loads its libraries."""
    try:
        source.chat_model(source.resolve())
    except ProviderError:
        return False
    return True


def _model_name(source: "CurrentModels", settings: SettingsStore) -> str:
    """Return the next run's ``provider/model``, or what is asked for when there is none."""
    try:
        return source.resolve()
    except ProviderError:
        return settings.current.default_model


def _describe(base: Foundation) -> "Callable[[FinchError, str | None], ErrorInfo]":
    info = load("finchbot.events").ErrorInfo

    def describe(error: FinchError, language: str | None) -> "ErrorInfo":
        sentence = base.catalogue.describe(error, language or base.language)
        told: ErrorInfo = info(code=error.code, detail=sentence, params=dict(error.params))
        return told

    return describe


def _visitors(base: Foundation) -> Path:
    return base.home.data / "visitors"


def _workspace(base: Foundation, user_id: UserId) -> "Workspace":
    """Return where a user's tools work; in demo mode each visitor has a folder of their own."""
    settings = base.settings.current
    folder = Path(settings.agents.defaults.workspace or base.home.workspace).expanduser()
    if settings.demo:
        folder = visitor_folder(_visitors(base), user_id)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = folder.resolve()
    roots = (folder,) if settings.demo else (folder, base.home.skills_dir.resolve())
    if not (settings.tools.restrict_to_workspace or settings.demo):
        roots = (*roots, Path(folder.anchor))
    workspace: Workspace = load("finchbot.agent.run_context").Workspace(
        folder, roots, roots, _closed(base)
    )
    return workspace


def _closed(base: Foundation) -> tuple[Path, ...]:
    """Return what no tool may touch, wherever the workspace is: keys, records and logs."""
    home = base.home
    return tuple(path.resolve() for path in (home.config_file, home.data, home.logs))


def _parts(source: "CurrentModels | None") -> dict[str, str]:
    """Return how each part is; None: the model is still being loaded."""
    working = "starting" if source is None else "ok" if _working(source) else "degraded"
    return {"model": working, "memory": "off", "vectors": "off", "channels": "off"}
