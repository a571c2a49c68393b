"""The page around the conversation, as HTML of our own. Pure; every foreign text is escaped."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from finchbot.bot import Notice
from finchbot.ids import RunId, ThreadId
from finchbot.threads.records import Thread
from finchbot.ui.icons import finch, icon
from finchbot.ui.inert import attribute
from finchbot.ui.words import Words

DIALOG_WORDS = (
    "rename_dialog.title",
    "rename_dialog.label",
    "rename_dialog.save",
    "delete_dialog.title",
    "delete_dialog.meaning",
    "delete_dialog.confirm",
    "cancel",
    "connection_lost",
    "went_wrong",
    "too_long",
    "copy",
    "copied",
    "copy_code",
    "to_bottom",
    "conversation",
)
"""What the page's script says by itself, as keys under ``chat.``."""


@dataclass(frozen=True, slots=True)
class ThreadList:
    """The left side: what is listed, what is open, what is searched for."""

    threads: Sequence[Thread]
    more: bool
    current: ThreadId | None
    query: str


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the page's script reads of the page's state."""

    thread_id: ThreadId | None
    title: str
    taken: str
    refused: str
    beat: int


def side(listed: ThreadList, words: Words, *, languages: Mapping[str, str], now: datetime) -> str:
    """Return the brand, the new-thread button, search, threads, and the foot of the left side."""
    rows = "".join(_thread(thread, listed.current, words, now) for thread in listed.threads)
    if not rows:
        none = words.say("threads_list.nothing_found" if listed.query else "threads_list.none")
        rows = f'<li class="none">{attribute(none)}</li>'
    more = ""
    if listed.more:
        label = attribute(words.say("threads_list.more"))
        more = f'<li><button class="more" data-do="more">{label}</button></li>'
    search = attribute(words.say("search"))
    return (
        f'<nav class="side" aria-label="{attribute(words.say("threads"))}">'
        f'<div class="brand">{finch(28)}<span>FinchBot</span>'
        f"{_tool('close', 'drawer', words.say('drawer.close'), classes='ghost close')}</div>"
        f'<button class="new" data-do="new">{icon("plus")}{attribute(words.say("new"))}</button>'
        f'<label class="search">{icon("search")}<input type="search" placeholder="{search}" '
        f'aria-label="{search}" autocomplete="off" spellcheck="false"></label>'
        f'<ul class="threads">{rows}{more}</ul>'
        f'<div class="foot"><a class="quiet" href="admin/">{icon("admin")}'
        f"{attribute(words.say('admin'))}</a>{_language(words, languages)}</div></nav>"
    )


def head(pulse: Pulse, words: Words, notices: Sequence[Notice] = ()) -> str:
    """Return the line above the conversation, notices, and the state the script reads."""
    said = {key: words.say(key, title="{title}") for key in DIALOG_WORDS}
    menu = _tool("menu", "drawer", words.say("drawer.open"), classes="ghost menu")
    title = attribute(pulse.title or words.say("untitled")) if pulse.thread_id else ""
    banners = "".join(
        f'<p class="banner" role="status">{attribute(words.notice(notice))}</p>'
        for notice in notices
    )
    return (
        f'<header class="head">{menu}<h1>{title}</h1></header>{banners}'
        f'<div id="finch-pulse" hidden data-thread="{attribute(pulse.thread_id or "")}" '
        f'data-title="{title}" data-language="{attribute(words.language)}" '
        f'data-taken="{attribute(pulse.taken)}" data-refused="{attribute(pulse.refused)}" '
        f'data-beat="{pulse.beat}" '
        f'data-words="{attribute(json.dumps(said, ensure_ascii=False))}"></div>'
    )


def hello(starters: Sequence[str], words: Words) -> str:
    """Return what an empty conversation shows: the finch, one sentence, four ways to begin."""
    cards = "".join(
        f'<li><button class="starter" data-do="start">{attribute(text)}</button></li>'
        for text in starters
    )
    return (
        f'<section class="hello">{finch(72)}<h2>{attribute(words.say("hello"))}</h2>'
        f'<ul class="starters">{cards}</ul></section>'
    )


def foot(active: RunId | None, problem: str, words: Words) -> str:
    """Return the input box, with send or stop in the same place, and what went wrong above it."""
    trouble = ""
    if problem:
        close = _tool("close", "dismiss", words.say("dismiss"), classes="ghost", do=True)
        trouble = f'<div class="problem" role="alert"><p>{attribute(problem)}</p>{close}</div>'
    running = "true" if active else "false"
    label = attribute(words.say("box.label"))
    return (
        f'{trouble}<form class="composer" data-running="{running}" novalidate>'
        f'<textarea rows="1" placeholder="{attribute(words.say("box.hint"))}" '
        f'aria-label="{label}" enterkeyhint="send" autocomplete="off"></textarea>'
        f'<button class="send" type="submit" title="{attribute(words.say("send"))}" '
        f'aria-label="{attribute(words.say("send"))}">{icon("send")}</button>'
        f'<button class="stop" type="button" data-do="stop" '
        f'title="{attribute(words.say("stop"))}" '
        f'aria-label="{attribute(words.say("stop"))}">{icon("stop")}</button></form>'
        f'<p class="keys">{attribute(words.say("keys"))}</p>'
    )


def _thread(thread: Thread, current: ThreadId | None, words: Words, now: datetime) -> str:
    title = attribute(thread.title or words.say("untitled"))
    mark = ' aria-current="page"' if thread.id == current else ""
    at = attribute(words.moment(thread.last_active_at, now=now))
    busy = ""
    if thread.running:
        busy = f'<span class="busy" role="img" aria-label="{attribute(words.say("busy"))}"></span>'
    key = attribute(thread.id)
    rename = words.say("rename_dialog.button", title=thread.title or words.say("untitled"))
    delete = words.say("delete_dialog.button", title=thread.title or words.say("untitled"))
    return (
        f'<li class="thread"><a href="?thread={key}" data-do="open" data-id="{key}" '
        f'title="{title}"{mark}>{busy}<span class="title">{title}</span><time>{at}</time></a>'
        f'<span class="tools">{_tool("rename", "rename", rename, key=key, title=title)}'
        f"{_tool('delete', 'delete', delete, key=key, title=title)}</span></li>"
    )


def _tool(
    drawing: str,
    action: str,
    label: str,
    *,
    classes: str = "ghost",
    do: bool = False,
    key: str = "",
    title: str = "",
) -> str:
    """Return an icon button; `do` sends the action, otherwise the script acts on it."""
    name = attribute(label)
    which = f' data-id="{key}" data-title="{title}"' if key else ""
    return (
        f'<button type="button" class="{classes}" data-{"do" if do else "ui"}="{action}"{which} '
        f'aria-label="{name}" title="{name}">{icon(drawing)}</button>'
    )


def _language(words: Words, languages: Mapping[str, str]) -> str:
    label = attribute(words.say("language"))
    options = "".join(
        f'<option value="{attribute(tag)}"{" selected" if tag == words.language else ""}>'
        f"{attribute(name)}</option>"
        for tag, name in languages.items()
    )
    return (
        f'<label class="language quiet" title="{label}">{icon("language")}'
        f'<select data-ui="language" aria-label="{label}">{options}</select></label>'
    )
