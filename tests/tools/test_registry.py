import asyncio
import json
import logging
import threading
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, JsonValue

from finchbot.errors import ConfigError, ThreadNotFound, ToolFailed, ToolNotFound
from finchbot.tools.base import Arguments, FinchTool, ToolContext, ToolOutcome
from finchbot.tools.deps import ToolDeps
from finchbot.tools.factory import ToolFactory
from finchbot.tools.registry import AnyTool, ToolRegistry
from tests.support.golden import Golden
from tests.tools.conftest import Invoke, RememberedTitles, describe, spelled

DEPS = ToolDeps(RememberedTitles(), spelled)


class PokeArguments(Arguments):
    times: int = Field(ge=1, le=3)
    how: Literal["softly", "hard"] = "softly"


class Poke(FinchTool[PokeArguments]):
    name = "poke"
    description = "Poke."
    arguments = PokeArguments
    touches = frozenset({"reads"})

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.started = asyncio.Event()

    async def run(self, arguments: PokeArguments, context: ToolContext) -> ToolOutcome:
        return ToolOutcome("ouch " * arguments.times)


class Slow(Poke):
    name = "slow"
    timeout_s = 0.05

    async def run(self, arguments: PokeArguments, context: ToolContext) -> ToolOutcome:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return ToolOutcome("never")


class Broken(Poke):
    name = "broken"

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    async def run(self, arguments: PokeArguments, context: ToolContext) -> ToolOutcome:
        raise self._error


def registry_of(*tools: AnyTool) -> ToolRegistry:
    return ToolRegistry([lambda deps: tools], DEPS, describe)


def test_racing_threads_build_the_tools_once() -> None:
    built: list[int] = []
    start = threading.Barrier(16)

    def source(deps: ToolDeps) -> Sequence[AnyTool]:
        built.append(1)
        return [Poke()]

    registry = ToolRegistry([source], DEPS, describe)
    seen: list[AnyTool] = []

    def ask() -> None:
        start.wait()
        seen.append(registry.get("poke"))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert len(seen) == 16
    assert len({id(tool) for tool in seen}) == 1


def test_nothing_is_built_before_it_is_asked_for() -> None:
    def source(deps: ToolDeps) -> Sequence[AnyTool]:
        raise ConfigError("built.too_early")

    registry = ToolRegistry([source], DEPS, describe)
    with pytest.raises(ConfigError, match=r"built\.too_early"):
        registry.names()


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"tool\.duplicate"):
        registry_of(Poke(), Poke()).names()


def test_the_factory_leaves_out_what_is_switched_off_and_adds_what_others_bring() -> None:
    factory = ToolFactory(switched_off={"files"}, extra=[lambda deps: [Poke()]])
    assert factory.registry(DEPS, describe).names() == ("session_title", "poke")


def test_the_schemas_sent_to_the_model_are_the_reviewed_ones(
    registry: ToolRegistry, golden: Golden
) -> None:
    schemas = json.dumps(registry.definitions(), indent=2, ensure_ascii=False)
    golden("tool_schemas.json", schemas + "\n")


def test_a_property_named_title_survives_the_dropping_of_schema_titles(
    registry: ToolRegistry,
) -> None:
    [parameters] = [
        function["parameters"]
        for definition in registry.definitions()
        if isinstance(function := definition["function"], dict)
        and function["name"] == "session_title"
    ]
    assert isinstance(parameters, dict)
    assert isinstance(parameters["properties"], dict)
    assert set(parameters["properties"]) == {"action", "title"}
    assert parameters["additionalProperties"] is False


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "times"),
        ({"bad": 1, "times": 1}, "bad"),
        ({"times": "2"}, "times"),
        ({"times": True}, "times"),
        ({"times": None}, "times"),
        ({"times": 2.5}, "times"),
        ({"times": -5}, "times"),
        ({"times": 99}, "times"),
        ({"times": 1, "how": "badly"}, "how"),
        ({"times": 1, "how": "\ud800"}, "arguments"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_by_name(
    arguments: dict[str, JsonValue], field: str, context: ToolContext
) -> None:
    outcome = await registry_of(Poke()).invoke("poke", arguments, context)
    assert outcome.is_error
    assert outcome.output.startswith("[tool.input_invalid tool=poke, field=" + field)


async def test_a_whole_number_written_with_a_point_is_a_whole_number(
    context: ToolContext,
) -> None:
    outcome = await registry_of(Poke()).invoke("poke", {"times": 2.0}, context)
    assert outcome == ToolOutcome("ouch ouch ")


async def test_arguments_that_were_no_object_get_an_answer(context: ToolContext) -> None:
    arguments: dict[str, JsonValue] = {"__invalid_arguments__": '{"times": '}
    outcome = await registry_of(Poke()).invoke("poke", arguments, context)
    assert outcome == ToolOutcome("[tool.input_not_object tool=poke]", is_error=True)


@pytest.mark.parametrize("name", ["", "poke ", "nothing"])
async def test_an_unknown_tool_is_answered_with_the_known_ones(
    name: str, context: ToolContext
) -> None:
    outcome = await registry_of(Poke()).invoke(name, {}, context)
    assert outcome.is_error
    assert outcome.output == f"[tool.unknown tool={name}, known=poke]"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(arguments=st.dictionaries(st.sampled_from(["times", "how", "x"]) | st.text(), JSON))
def test_any_arguments_get_an_answer(arguments: dict[str, JsonValue]) -> None:
    context = ToolContext.__new__(ToolContext)
    outcome = asyncio.run(registry_of(Poke()).invoke("poke", arguments, context))
    assert outcome.output.startswith(("ouch", "[tool.input_"))
    assert outcome.is_error is not outcome.output.startswith("ouch")


async def test_a_slow_tool_is_ended_at_its_time(context: ToolContext) -> None:
    tool = Slow()
    outcome = await registry_of(tool).invoke("slow", {"times": 1}, context)
    assert outcome == ToolOutcome("[tool.timeout tool=slow, timeout_s=0.05]", is_error=True)
    assert tool.ended.is_set()


async def test_cancelling_the_call_ends_the_tool_and_passes_on(context: ToolContext) -> None:
    tool = Slow()
    tool.timeout_s = 60.0
    call = asyncio.create_task(registry_of(tool).invoke("slow", {"times": 1}, context))
    await tool.started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert tool.ended.is_set()


@pytest.mark.parametrize(
    ("error", "output"),
    [
        (ToolFailed(what="x"), "[tool.failed what=x]"),
        (ToolNotFound(path="x"), "[tool.not_found path=x]"),
        (ThreadNotFound(), "[thread.not_found ]"),
        (TimeoutError(), "[tool.crashed tool=broken]"),
        (asyncio.CancelledError(), "[tool.crashed tool=broken]"),
        (ZeroDivisionError(), "[tool.crashed tool=broken]"),
    ],
)
async def test_whatever_a_tool_raises_the_call_is_answered(
    error: BaseException, output: str, context: ToolContext
) -> None:
    outcome = await registry_of(Broken(error)).invoke("broken", {"times": 1}, context)
    assert outcome == ToolOutcome(output, is_error=True)


async def test_a_crash_is_logged_with_its_place_and_without_its_words(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        error = ValueError("what somebody said")
        await registry_of(Broken(error)).invoke("broken", {"times": 1}, context)
    assert "ValueError" in caplog.text
    assert "in run" in caplog.text
    assert "somebody" not in caplog.text


async def test_the_agent_reads_and_sets_the_title(invoke: Invoke, titles: RememberedTitles) -> None:
    assert (await invoke("session_title", action="get")).output == "[tool_output.untitled ]"
    outcome = await invoke("session_title", action="set", title="  去苏黎世\n的\x1b旅行 ")
    assert outcome.output == "[tool_output.titled title=去苏黎世 的旅行]"
    assert titles.titles == {("owner", "thr_1"): "去苏黎世 的旅行"}
    assert (await invoke("session_title", action="get")).output == "去苏黎世 的旅行"


@pytest.mark.parametrize("title", [None, "", " \n", "x" * 121])
async def test_a_title_that_is_none_is_refused(
    title: str | None, invoke: Invoke, titles: RememberedTitles
) -> None:
    outcome = await invoke("session_title", action="set", title=title)
    assert outcome.is_error
    assert titles.titles == {}
