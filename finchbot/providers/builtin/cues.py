"""The second look at a message that no phrase fits: what it names and the words around it.

A sentence that names one file and has a word of looking, and no word of any other doing, asks
to see that file, whatever its grammar. Each guess needs such evidence, and one word that points
elsewhere (delete, translate, how, 怎么, 总结 …) is enough to make none.
"""

import re
from collections.abc import Iterator, Mapping

from finchbot.providers.builtin.grammar import Grammar
from finchbot.providers.builtin.intents import Kind
from finchbot.providers.builtin.phrases import EXTENSION
from finchbot.providers.builtin.skeleton import FENCE, QUOTE, Skeleton

LONGEST = 160
"""A longer sentence has more on its mind than one file."""

Guess = tuple[Kind, Mapping[str, str]]

_NAME = re.compile(rf"([^\s,;:!?\"'()<>\ue000-\ue003]{{1,120}}?{EXTENSION})")
_TITLE = re.compile(r"\s*(?:to|is|be|as|为|成|叫|做)?\s*[,:]*\s*(\ue001|[^\n,;?]{1,80})")
_PAST_QUESTION = re.compile(r"(?<![a-z])(?:did|have) (?:i|we|you) [a-z]+")
"""Its verb tells of the past and asks for nothing to be done."""


def guess(skeleton: Skeleton, grammar: Grammar) -> Guess | None:
    """Return what the message probably asks for, or None when the evidence is thin."""
    written = _guess_write(skeleton, grammar)
    text = _PAST_QUESTION.sub("", skeleton.text.strip().rstrip(" .,?!~"))
    if written or len(text) > LONGEST or FENCE in text:
        return written
    return _guess_rename(skeleton, grammar) or _guess_look(skeleton, grammar, text)


def files_to_read(skeleton: Skeleton, grammar: Grammar) -> list[str]:
    """Return the files a short message names and asks to see; empty without such evidence."""
    text = skeleton.text.strip()
    if len(text) > LONGEST or FENCE in text or points_elsewhere(text, grammar):
        return []
    read = grammar.cues["looking"].search(text) and not grammar.cues["writing"].search(text)
    return _files(skeleton, grammar, skeleton.text) if read else []


def points_elsewhere(text: str, grammar: Grammar) -> bool:
    """Return whether a word, outside the names of files, asks for what no phrase is about."""
    kept, at = [], 0
    for start, end in _file_names(grammar, text):
        kept.append(text[at:start])
        at = end
    return grammar.cues["elsewhere"].search(" ".join([*kept, text[at:]])) is not None


def _guess_write(skeleton: Skeleton, grammar: Grammar) -> Guess | None:
    """A head that names one file and speaks of writing, then a colon or a line break, then text."""
    cut = re.search(r":|\n|(?=\ue000)", skeleton.text[:LONGEST])
    if not cut:
        return None
    head = skeleton.text[: cut.start()]
    path = _only_file(skeleton, grammar, head)
    content = skeleton.value(cut.end(), len(skeleton.text))
    if not path or not content.strip() or points_elsewhere(head.replace("lines", ""), grammar):
        return None
    writes = grammar.cues["writing"].search(head)
    return (Kind.WRITE_FILE, {"path": path, "content": content}) if writes else None


def _guess_rename(skeleton: Skeleton, grammar: Grammar) -> Guess | None:
    """The word chat, soon after it a word of naming, then the name."""
    chat = grammar.cues["chat"].search(skeleton.text)
    named = chat and grammar.cues["naming"].search(skeleton.text, chat.end(), chat.end() + 40)
    title = named and _TITLE.match(skeleton.text, named.end())
    if (
        not chat
        or not named
        or not title
        or points_elsewhere(skeleton.text[: chat.start()], grammar)
    ):
        return None
    if grammar.cues["asking"].fullmatch(title[1].strip(" .?!")):
        return None
    return Kind.RENAME_CHAT, {"title": skeleton.value(*title.span(1))}


def _guess_look(skeleton: Skeleton, grammar: Grammar, text: str) -> Guess | None:
    if grammar.asks_for_help.search(text):
        return Kind.HELP, {}
    if points_elsewhere(text, grammar):
        return None
    looks = grammar.cues["looking"].search(text)
    path = _only_file(skeleton, grammar, skeleton.text)
    if path:
        return (Kind.READ_FILE, {"path": path}) if looks else None
    asks = len(text) <= LONGEST // 2 and grammar.cues["asking"].search(text)
    folder = grammar.folder.search(skeleton.text)
    if folder and (asks or looks):
        name = skeleton.value(*folder.span("after" if folder["after"] else "before"))
        return Kind.LIST_FILES, {} if name.lower() in grammar.here else {"path": name}
    if asks and grammar.cues["files"].search(text) and QUOTE not in text:
        return Kind.LIST_FILES, {}
    return None


def _only_file(skeleton: Skeleton, grammar: Grammar, text: str) -> str | None:
    """Return the one file the text names, or None when it names none or several."""
    names = _files(skeleton, grammar, text)
    return names[0] if len(names) == 1 else None


def _files(skeleton: Skeleton, grammar: Grammar, text: str) -> list[str]:
    names = [skeleton.words(start, end) for start, end in _file_names(grammar, text)]
    for at, character in enumerate(text):
        if character == QUOTE and re.search(EXTENSION + "$", skeleton.value(at, at + 1).lower()):
            names.append(skeleton.value(at, at + 1))
    return names


def _file_names(grammar: Grammar, text: str) -> Iterator[tuple[int, int]]:
    """Yield where names stand; words that run into a name, as in Chinese, are not part of it."""
    for found in _NAME.finditer(text):
        start, end = found.span(1)
        dot = text.rindex(".", start, end)
        leads = [lead.end() for lead in grammar.leads.finditer(text, start, dot)]
        yield max((at for at in leads if at < dot), default=start), end
