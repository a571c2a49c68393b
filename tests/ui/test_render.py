"""What the chatbot is given for a run."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import JsonValue

from finchbot.events import (
    ContextCompacted,
    ErrorInfo,
    HistoryRepaired,
    MemoryRecalled,
    ModelFallback,
)
from finchbot.i18n import Catalogue
from finchbot.ids import CallId, MessageId, RunId, ThreadId, utc_now
from finchbot.messages import Message, TextPart
from finchbot.run_view import Notice, NoticeItem, RunStatus, RunView, SpokenItem, ToolItem
from finchbot.ui.render import Shown, shown, telling
from finchbot.ui.words import Words

THREAD, RUN = ThreadId("thr_1"), RunId("run_1")
ASKED = Message(
    id=MessageId("msg_1"),
    role="user",
    parts=(TextPart(text="Hi *there*"),),
    run_id=RUN,
    created_at=utc_now(),
)
VIEW = RunView(RUN, status="finished", user_message=ASKED)


def text(messages: Sequence[Shown]) -> str:
    return "\n".join(one["content"] for one in messages)


def titles(messages: Sequence[Shown]) -> list[str]:
    return [one["metadata"]["title"] for one in messages if "metadata" in one]


def test_a_finished_run_is_the_users_words_and_the_answer(words: Words) -> None:
    spoken = SpokenItem(MessageId("m"), text="Hello **you**", done=True)
    assert shown(replace(VIEW, items=(spoken,)), words) == [
        {"role": "user", "content": "Hi &#42;there&#42;"},
        {"role": "assistant", "content": "Hello **you**"},
    ]


def test_reasoning_is_folded_before_what_was_said(words: Words) -> None:
    spoken = SpokenItem(MessageId("m"), text="So.", reasoning="Let me <b>see</b>")
    _, thought, said = shown(replace(VIEW, items=(spoken,)), words)
    assert "Thoughts" in thought["metadata"]["title"]
    assert thought["metadata"]["status"] == "done"
    assert thought["content"] == "Let me &lt;b>see&lt;/b>"
    assert said["content"] == "So."
    thinking = replace(spoken, text="")
    assert "Thinking" in titles(shown(replace(VIEW, items=(thinking,)), words))[0]


def test_a_tool_step_tells_name_what_time_and_state_and_opens_to_the_rest(words: Words) -> None:
    arguments: dict[str, JsonValue] = {"content": "a\n\nb", "path": "<img>.md"}
    step = ToolItem(
        CallId("c"),
        "write_file",
        arguments,
        state="done",
        output="Wrote 4 bytes",
        elapsed_s=1.26,
        diff="--- a\n+++ b\n@@ -1 +1 @@\n-old\n+<new>\n same",
    )
    (message,) = shown(replace(VIEW, user_message=None, items=(step,)), words)
    title = message["metadata"]["title"]
    assert "<img>" not in title
    assert "&#60;img&#62;&#46;md" in title
    assert "1&#46;3 s" in title
    assert "Done" in title
    assert words.tool("write_file") in title
    content = message["content"]
    assert '<span class="removed">-old</span>' in content
    assert '<span class="added">+&lt;new&gt;</span>' in content
    assert "Wrote 4 bytes" in content
    assert "\n" not in content


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_nothing_runs_in_a_run_that_has_ended(
    words: Words, state: str, catalogue: Catalogue
) -> None:
    step = ToolItem(CallId("c"), "exec", {}, state="running" if state == "running" else "waiting")
    ended: RunStatus = "cancelled"
    assert "Failed" in titles(shown(replace(VIEW, status=ended, items=(step,)), words))[0]
    going = shown(replace(VIEW, status="running", items=(step,)), words)
    assert words.say(f"step.{state}") in titles(going)[0]


@pytest.mark.parametrize(
    ("notice", "sentence"),
    [
        (MemoryRecalled(thread_id=THREAD, run_id=RUN, hits=({},)), "One memory came to mind"),
        (MemoryRecalled(thread_id=THREAD, run_id=RUN, hits=({}, {})), "2 memories came"),
        (HistoryRepaired(thread_id=THREAD, run_id=RUN, changes=("x",)), "has been mended"),
        (
            ContextCompacted(thread_id=THREAD, run_id=RUN, before_tokens=9000, after_tokens=80),
            "9&#44;000 to 80",
        ),
        (
            ModelFallback.model_validate(
                {"thread_id": THREAD, "run_id": RUN, "from": "a/x", "to": "b/y", "code": "c"}
            ),
            "a&#47;x did not answer&#44; so b&#47;y took over",
        ),
    ],
)
def test_a_notice_is_one_quiet_sentence(words: Words, notice: Notice, sentence: str) -> None:
    (message,) = shown(replace(VIEW, user_message=None, items=(NoticeItem(notice),)), words)
    assert message["content"].startswith('<p class="notice">')
    assert sentence in message["content"]


def test_a_failed_run_says_why_in_the_readers_language_and_offers_another_try(
    words: Words, catalogue: Catalogue
) -> None:
    error = ErrorInfo(
        code="provider.auth_failed", detail="told in German", params={"provider": "<openai>"}
    )
    failed = replace(VIEW, status="failed", error=error)
    english = text(shown(failed, words))
    assert "&#60;openai&#62; refused the key" in english
    assert "told in German" not in english
    assert f'<button class="act retry {RUN}">' in english
    assert "provider&#46;auth&#95;failed" in english
    assert "不接受" in text(shown(failed, Words(catalogue, "zh-CN")))


def test_an_unexpected_failure_gives_the_reference_to_copy(words: Words) -> None:
    error = ErrorInfo(code="internal", detail="x", params={"reference": "ab12"})
    assert "internal &#183; ab12" in re.sub(
        "·", "&#183;", text(shown(replace(VIEW, status="failed", error=error), words))
    )


def test_how_a_run_ended_is_said(words: Words) -> None:
    stopped = text(shown(replace(VIEW, status="cancelled"), words))
    assert "Stopped" in stopped
    assert "retry" not in stopped
    interrupted = text(shown(replace(VIEW, status="interrupted", interrupted_by="crash"), words))
    assert "was closed before it had finished" in interrupted
    assert "retry" in interrupted


def test_a_waiting_message_is_marked_and_can_be_taken_back(words: Words) -> None:
    queued = text(shown(replace(VIEW, status="queued", position=1), words))
    assert "Waits for the answer before it" in queued
    assert f'class="act unqueue {RUN}"' in queued
    starting = shown(replace(VIEW, status="queued", position=None), words)
    assert starting == shown(replace(VIEW, status="running"), words)


def test_a_run_that_said_nothing_yet_shows_that_it_thinks(words: Words) -> None:
    assert "Thinking" in text(shown(replace(VIEW, status="running"), words))


def test_long_output_is_cut_on_the_page(words: Words) -> None:
    step = ToolItem(CallId("c"), "read_file", {}, state="done", output="x" * 100_000)
    assert len(text(shown(replace(VIEW, items=(step,)), words))) < 10_000


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"content": "c", "path": "p"}, "p"),
        ({"urls": ["https://a", "https://b"]}, "https://a"),
        ({"depth": 2}, ""),
        ({"odd": "  a\n b  "}, "a b"),
        ({"path": "", "other": "o"}, "o"),
        ({}, ""),
    ],
)
def test_the_most_telling_argument_is_shown(arguments: dict[str, JsonValue], what: str) -> None:
    assert telling(arguments) == what


def test_a_telling_argument_is_one_short_line() -> None:
    assert len(telling({"command": "x" * 500})) <= 90
