"""RunView → the messages of Gradio's chatbot. Pure: the same view and words give the same page."""

import json
from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict, assert_never

from pydantic import JsonValue

from finchbot.events import ContextCompacted, HistoryRepaired, MemoryRecalled, ModelFallback
from finchbot.ids import RunId
from finchbot.run_view import Item, NoticeItem, RunView, SpokenItem, ToolItem
from finchbot.ui import inert
from finchbot.ui.words import Words

SHOWN_CHARACTERS = 6_000
"""Of a tool's arguments or output; the whole stands in the transcript."""
WHAT_CHARACTERS = 90
_TELLING = ("path", "command", "query", "url", "urls", "title", "text", "pattern", "name")
"""Arguments that say best what a step is about, the most telling first."""


class Metadata(TypedDict):
    """Makes a message fold: `title` stays, the content opens under it."""

    title: str
    status: Literal["done"]


class Shown(TypedDict):
    """One entry of the chatbot."""

    role: Literal["user", "assistant"]
    content: str
    metadata: NotRequired[Metadata]


def shown(view: RunView, words: Words) -> list[Shown]:
    """Return what the page shows of one run, the user's words first."""
    messages: list[Shown] = []
    if view.user_message is not None:
        messages.append({"role": "user", "content": inert.spoken(view.user_message.text)})
    for item in view.items:
        messages += _item(item, view, words)
    return messages + _ending(view, words)


def earlier_button(words: Words) -> Shown:
    """Return the line above the oldest message while there is more to load."""
    return _own(_button("earlier", "", words.say("earlier")))


def _item(item: Item, view: RunView, words: Words) -> list[Shown]:
    match item:
        case SpokenItem():
            return _spoken(item, words)
        case ToolItem():
            return [_tool(item, view, words)]
        case NoticeItem():
            return [_own(f'<p class="notice">{inert.literal(_notice(item, words))}</p>')]
        case _:
            assert_never(item)


def _spoken(item: SpokenItem, words: Words) -> list[Shown]:
    parts: list[Shown] = []
    if item.reasoning:
        label = words.say("thoughts" if item.text or item.done else "thinking")
        title = f'<span class="step thoughts"><b>{inert.literal(label)}</b></span>'
        parts.append(_folded(title, inert.markdown(item.reasoning)))
    if item.text:
        parts.append({"role": "assistant", "content": inert.markdown(item.text)})
    return parts


def _tool(item: ToolItem, view: RunView, words: Words) -> Shown:
    state = "failed" if item.state in ("running", "waiting") and view.ended else item.state
    spans = [
        f"<b>{inert.literal(words.tool(item.name))}</b>",
        f"<code>{inert.literal(telling(item.arguments))}</code>",
        f"<i>{inert.literal(_time(item, words))}</i>",
        f"<em>{inert.literal(words.say(f'step.{state}'))}</em>",
    ]
    title = f'<span class="step {state}">{"".join(spans)}</span>'
    return _folded(title, _step_body(item, words))


def telling(arguments: Mapping[str, JsonValue]) -> str:
    """Return the argument that says best what a step is about, on one short line."""
    named = [arguments[name] for name in _TELLING if name in arguments]
    for value in (*named, *arguments.values()):
        text = value[0] if isinstance(value, list) and value else value
        if isinstance(text, str) and text.strip():
            line = " ".join(text.split())
            return line if len(line) <= WHAT_CHARACTERS else f"{line[: WHAT_CHARACTERS - 1]}…"
    return ""


def _time(item: ToolItem, words: Words) -> str:
    if item.elapsed_s is None:
        return ""
    return words.say("step.seconds", seconds=f"{max(item.elapsed_s, 0.1):.1f}")


def _step_body(item: ToolItem, words: Words) -> str:
    arguments = json.dumps(item.arguments, ensure_ascii=False, indent=2) if item.arguments else ""
    parts = [_pane(words.say("step.arguments"), inert.block(_cut(arguments)))]
    if item.request is not None:
        parts.append(_pane(words.say("step.reason"), inert.block(item.request.reason)))
    if item.diff:
        parts.append(_pane(words.say("step.diff"), _diff(_cut(item.diff))))
    parts.append(_pane(words.say("step.output"), inert.block(_cut(item.output))))
    return "".join(parts) or f'<p class="notice">{inert.literal(words.say("step.nothing"))}</p>'


def _pane(label: str, inside: str) -> str:
    if not inside.strip():
        return ""
    return f'<p class="pane">{inert.literal(label)}</p><pre class="pane">{inside}</pre>'


def _diff(diff: str) -> str:
    return "&#10;".join(_diff_line(line) for line in diff.splitlines())


def _diff_line(line: str) -> str:
    kinds = {"+": "added", "-": "removed", "@": "where"}
    kind = "where" if line.startswith(("+++", "---")) else kinds.get(line[:1])
    shown_line = inert.block(line)
    return f'<span class="{kind}">{shown_line}</span>' if kind else shown_line


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}\n…"


def _notice(item: NoticeItem, words: Words) -> str:
    match item.event:
        case MemoryRecalled(hits=hits):
            return words.say("notice.recalled", count=len(hits))
        case HistoryRepaired():
            return words.say("notice.repaired")
        case ContextCompacted(before_tokens=before, after_tokens=after):
            return words.say("notice.compacted", before=before, after=after)
        case ModelFallback(from_=first, to=second):
            return words.say("notice.fallback", first=first, second=second)
        case _:
            assert_never(item.event)


def _ending(view: RunView, words: Words) -> list[Shown]:
    match view.status:
        case "queued":
            if view.position is None:
                # It starts in a moment: one look until the first words, not two.
                return [_waiting(words)]
            cancel = _button("unqueue", view.run_id, words.say("unqueue"))
            return [_own(f'<p class="queued">{inert.literal(words.say("queued"))} {cancel}</p>')]
        case "running":
            return [] if view.items else [_waiting(words)]
        case "waiting" | "finished":
            return []
        case "cancelled":
            return [_own(f'<p class="notice">{inert.literal(words.say("stopped"))}</p>')]
        case "interrupted":
            return [_broken(view, words.say("interrupted"), "", words)]
        case "failed":
            error = view.error
            sentence = words.say("failed") if error is None else words.explain_stored(error)
            reference = "" if error is None else _reference(error.code, error.params)
            return [_broken(view, sentence, reference, words)]
        case _:
            assert_never(view.status)


def _waiting(words: Words) -> Shown:
    return _own(f'<p class="waiting">{_dots(words)}</p>')


def _broken(view: RunView, sentence: str, reference: str, words: Words) -> Shown:
    retry = _button("retry", view.run_id, words.say("retry")) if view.user_message else ""
    code = f"<code>{inert.literal(reference)}</code>" if reference else ""
    return _own(f'<div class="broken"><p>{inert.literal(sentence)}</p>{retry}{code}</div>')


def _reference(code: str, params: Mapping[str, JsonValue]) -> str:
    reference = params.get("reference")
    return f"{code} · {reference}" if isinstance(reference, str) else code


def _dots(words: Words) -> str:
    return f'<span class="dots">{inert.literal(words.say("thinking"))}</span>'


def _button(action: str, run_id: RunId | str, label: str) -> str:
    # The sanitizer keeps classes and drops data attributes, so the run's id is a class.
    return f'<button class="act {action} {run_id}">{inert.literal(label)}</button>'


def _own(content: str) -> Shown:
    return {"role": "assistant", "content": content}


def _folded(title: str, content: str) -> Shown:
    return {
        "role": "assistant",
        "content": content,
        "metadata": {"title": title, "status": "done"},
    }
