"""One talk with a real language model through the whole program: over the socket, in the page."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import websockets
from playwright.sync_api import expect

from tests.e2e.harness import ServerProcess, Visitors, picture
from tests.support.real_model import API_KEY, MODEL

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

MOST_TOKENS = 120
STORY = "Tell me a long story about a finch."


@pytest.fixture(scope="module")
def server(
    real_model_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    environ = {
        "OPENAI_API_KEY": API_KEY,
        "OPENAI_API_BASE": real_model_url,
        "FINCHBOT_DEFAULT_MODEL": f"openai/{MODEL}",
        "FINCHBOT_AGENTS__DEFAULTS__MAX_TOKENS": str(MOST_TOKENS),
        # The most probable word each time: the same answer on every machine of a kind.
        "FINCHBOT_AGENTS__DEFAULTS__TEMPERATURE": "0",
    }
    with ServerProcess(tmp_path_factory.mktemp("real") / "home", environ) as server:
        yield server


async def test_a_real_model_speaks_word_by_word_over_the_socket(server: ServerProcess) -> None:
    url = server.url.replace("http", "ws", 1) + "/ws"
    async with websockets.connect(url, proxy=None) as socket:
        await socket.send(json.dumps({"type": "message.send", "text": STORY}))
        events = [json.loads(await socket.recv())]
        while events[-1]["type"] not in {"run.finished", "run.failed"}:
            events.append(json.loads(await socket.recv()))
    said = [event["text"] for event in events if event["type"] == "text.delta"]
    (completed,) = [event for event in events if event["type"] == "message.completed"]
    assert len(said) > 20
    assert "".join(said) == completed["text"]
    assert re.search("[a-z]{3,} [a-z]{2,}", completed["text"])
    usage: dict[str, Any] = events[-1]["usage"]
    # Both sides count: what the model was shown, and that the limit reached it.
    assert 200 < usage["input_tokens"] < 2000
    assert 20 < usage["output_tokens"] <= MOST_TOKENS
    assert 0 < usage["ttft_ms"] < usage["duration_ms"]


def test_words_of_a_real_model_are_in_the_page_before_its_answer_ends(
    visitors: Visitors, server: ServerProcess
) -> None:
    page = visitors.open(server.url)
    page.wait_for_selector(".finch-ready")
    box = page.get_by_role("textbox", name="Message")
    box.fill(STORY)
    box.press("Enter")
    early = page.wait_for_function(
        """() => {
            const running = document.querySelector(".composer").dataset.running === "true";
            const said = document.querySelector("#finch-chat [data-testid=bot]")?.innerText ?? "";
            return running && said.split(" ").length > 5 && said;
        }""",
        timeout=30_000,
    ).json_value()
    picture(page, "real-model-streaming")
    expect(page.locator(".composer")).to_have_attribute("data-running", "false", timeout=20_000)
    whole = page.get_by_test_id("bot").inner_text()
    assert whole.startswith(early.strip()[:20])
    assert len(whole) > len(early)
