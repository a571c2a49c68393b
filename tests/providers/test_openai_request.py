"""Fields a server will not take are left out or renamed, and nothing else is."""

from typing import Any

import pytest

from finchbot.providers.openai_request import Dialect, thinking_fields

BODY: dict[str, Any] = {
    "messages": [],
    "max_tokens": 100,
    "temperature": 0.7,
    "stream_options": {"include_usage": True},
}


@pytest.mark.parametrize(
    ("refusal", "without", "added"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options", {}),
        ("Unsupported value: 'temperature' does not support 0.7", "temperature", {}),
        (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            {"max_completion_tokens": 100},
        ),
        ("'max_tokens' or 'max_completion_tokens' is too large: 100.", "max_tokens", {}),
    ],
)
def test_a_refused_field_goes_or_changes_its_name(
    refusal: str, without: str, added: dict[str, Any]
) -> None:
    learned = Dialect().learn(BODY, refusal)
    assert learned is not None
    rest = {name: value for name, value in BODY.items() if name != without}
    assert learned.speak(BODY) == {**rest, **added}


def test_a_refusal_about_anything_else_changes_nothing() -> None:
    assert Dialect().learn(BODY, "messages.0: empty text") is None


def test_learning_ends_when_there_is_nothing_left_to_leave_out() -> None:
    dialect = Dialect()
    everything = "max_tokens max_completion_tokens too large temperature stream_options"
    for _ in range(3):
        learned = dialect.learn(dialect.speak(BODY), everything)
        assert learned is not None
        dialect = learned
    assert dialect.learn(dialect.speak(BODY), everything) is None
    assert dialect.speak(BODY) == {"messages": []}


@pytest.mark.parametrize(
    ("style", "wish", "fields"),
    [
        ("type", "off", {"thinking": {"type": "disabled"}}),
        ("type", "high", {"thinking": {"type": "enabled"}}),
        ("flag", "off", {"enable_thinking": False}),
        ("effort", "off", {"reasoning_effort": "none"}),
        ("effort", "on", {"reasoning_effort": "medium"}),
        ("effort", "low", {"reasoning_effort": "low"}),
        ("none", "off", {}),
        ("effort", "auto", {}),
        ("type", "auto", {}),
    ],
)
def test_each_provider_is_told_about_thinking_in_its_way(
    style: Any, wish: Any, fields: dict[str, Any]
) -> None:
    assert thinking_fields(style, wish) == fields
