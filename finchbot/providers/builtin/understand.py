"""What a message asks for: text → intents, pure, the same answer every time, for any text."""

import re
from dataclasses import replace

from finchbot.providers.builtin.cues import LONGEST, files_to_read, guess, points_elsewhere
from finchbot.providers.builtin.grammar import Grammar, read_grammar
from finchbot.providers.builtin.intents import TASKS, Intent, Kind
from finchbot.providers.builtin.phrases import Rule
from finchbot.providers.builtin.script import chinese_of, has_han, language_of
from finchbot.providers.builtin.skeleton import FENCE, QUOTE, Skeleton, skeleton_of
from finchbot.providers.builtin.typos import corrections

MAX_REQUESTS = 3
"""Requests answered in one message."""

_PLAIN, _MENDED, _GUESSED = 1.0, 0.7, 0.5
_MAX_OPENERS = 6
_CLOSING_CHARS = 60
_CHINESE, _ENGLISH = read_grammar("zh"), read_grammar("en")
_THEN = re.compile(
    r"\s*[,.]?\s*(?:;|\n|"
    r"(?<![a-z])(?:and then|then|and also|and after that|after that|afterwards)(?![a-z])|"
    r"(?<![a-z])and(?=\s+(?:read|list|show|open|write|create|save|rename|cat|display|print)\s)|"
    r"然后再|然后|接着再|接着|之后再|再然后|最后|并且|同时|顺便|,\s*再|,\s*并|"
    r"再(?=读|看|打开|列|写|把)|并(?=读|打开|列|写|把))\s*,?\s*"
)
_NAMES = re.compile(r"[\ue000-\ue003]|[a-z0-9_./-]{1,80}\.[a-z0-9]{1,10}")
_CLAUSE = re.compile(r"[,;!?~]\s*|\.\s+|\n")
_MAX_CLAUSES_CHARS = 200
_IN_A_CLAUSE = TASKS | {Kind.HELP, Kind.NOW, Kind.WHO}
_NAMES_IN_BA = ("酒吧", "网吧", "網吧", "贴吧", "貼吧", "书吧", "書吧", "水吧", "茶吧")
"""End in 吧 without being a suggestion."""
_TRIMMED = frozenset({"title", "query", "pattern", "description"})
_FREE_TEXT = frozenset(
    {Kind.WRITE_FILE, Kind.RENAME_CHAT, Kind.REMEMBER, Kind.MAKE_SKILL, Kind.RUN_COMMAND}
)


def understand(text: str) -> tuple[Intent, ...]:
    """Return what the message asks for, in order: one intent, or up to `MAX_REQUESTS` tasks.

    Whatever is not understood is one intent of kind `UNKNOWN`.
    """
    skeleton = _opened(skeleton_of(text))
    whole = _understand(skeleton)
    if whole.kind in _FREE_TEXT and not whole.missing and not _quotes_first(skeleton):
        return (whole,)
    if whole.confidence <= _GUESSED and whole.kind in (Kind.UNKNOWN, Kind.READ_FILE):
        several = _several_files(skeleton)
        if several:
            return several
    return _in_turn(skeleton) or (whole,)


def _several_files(skeleton: Skeleton) -> tuple[Intent, ...]:
    """Return a request per file when the message asks to see two or three."""
    paths = files_to_read(skeleton, _grammar_of(skeleton))
    if not 1 < len(paths) <= MAX_REQUESTS:
        return ()
    language = _language_of_request(skeleton)
    return tuple(Intent(Kind.READ_FILE, language, {"path": path}, _GUESSED) for path in paths)


def _quotes_first(skeleton: Skeleton) -> bool:
    """Return whether the first part of several ends with a quotation: then it ends there."""
    cut = _THEN.search(skeleton.text)
    return cut is not None and skeleton.text[: cut.start()].endswith((QUOTE, FENCE))


def _opened(skeleton: Skeleton) -> Skeleton:
    """Look inside when the whole message stands in quotation marks."""
    if skeleton.text.strip() in (FENCE, QUOTE):
        return skeleton_of(skeleton.value(0, len(skeleton.text)))
    return skeleton


def _in_turn(skeleton: Skeleton) -> tuple[Intent, ...]:
    """Return the tasks of a message that asks for several, or nothing when a part is unclear."""
    cuts = list(_THEN.finditer(skeleton.text))
    if not 1 <= len(cuts) < MAX_REQUESTS:
        return ()
    starts = [0, *(cut.end() for cut in cuts)]
    ends = [*(cut.start() for cut in cuts), len(skeleton.text)]
    intents = tuple(
        _understand(_part(skeleton, start, end)) for start, end in zip(starts, ends, strict=True)
    )
    clear = all(intent.kind in TASKS and not intent.missing for intent in intents)
    return intents if clear else ()


def _part(skeleton: Skeleton, start: int, end: int) -> Skeleton:
    return Skeleton(skeleton.source, skeleton.text[start:end], skeleton.spans[start:end])


def _understand(skeleton: Skeleton) -> Intent:
    found = _match(skeleton)
    if found:
        return found
    words = frozenset(re.findall(r"(?<![a-z0-9./_-])[a-z]+(?![a-z0-9/_-])", skeleton.text[:400]))
    mended = corrections(words, _ENGLISH.vocabulary)
    found = _match(skeleton.with_words(mended)) if mended else None
    if found:
        return replace(found, confidence=_MENDED)
    by_clause = _one_clause(skeleton)
    if by_clause:
        return replace(by_clause, confidence=_GUESSED)
    guessed = guess(skeleton, _grammar_of(skeleton))
    if guessed:
        return Intent(guessed[0], _language_of_request(skeleton), guessed[1], _GUESSED)
    return Intent(Kind.UNKNOWN, _language_around_names(skeleton))


def _one_clause(skeleton: Skeleton) -> Intent | None:
    """Return what the last or the first clause asks for, when nothing in the rest objects.

    So "I'm new here, what can you do?" is a question, and "Read a.txt. It's my diary." a request.
    """
    end = len(skeleton.text.rstrip(" \n.,;!?~"))
    if end > _MAX_CLAUSES_CHARS or points_elsewhere(skeleton.text, _grammar_of(skeleton)):
        return None
    cuts = list(_CLAUSE.finditer(skeleton.text, 0, end))
    if not cuts:
        return None
    last = _match(_part(skeleton, cuts[-1].end(), len(skeleton.text)))
    if last and last.kind in _IN_A_CLAUSE and not last.missing:
        return last
    first = _match(_part(skeleton, 0, cuts[0].start()))
    return first if first and first.kind in TASKS and not first.missing else None


def _grammar_of(skeleton: Skeleton) -> Grammar:
    return _CHINESE if has_han(skeleton.text[:LONGEST]) else _ENGLISH


def _match(skeleton: Skeleton) -> Intent | None:
    if has_han(skeleton.text):
        found = _match_with(skeleton, _CHINESE)
        if found:
            return found
    return _match_with(skeleton, _ENGLISH)


def _match_with(skeleton: Skeleton, grammar: Grammar) -> Intent | None:
    """Try every way of asking, then take one opener off the front and try again."""
    ends = _ends(skeleton.text, grammar.closers)
    start = _past_punctuation(skeleton.text, 0)
    for _ in range(_MAX_OPENERS + 1):
        for rule in grammar.rules:
            for end in ends[:1] if rule.open_ended else ends:
                slots = rule.match(skeleton, start, end)
                if slots is not None:
                    return _intent(skeleton, rule, slots, grammar)
        opener = grammar.openers.match(skeleton.text, start)
        if not opener:
            return None
        start = _past_punctuation(skeleton.text, opener.end())
    return None


def _past_punctuation(text: str, start: int) -> int:
    while start < len(text) and text[start] in " \n,.!?:~":
        start += 1
    return start


def _ends(text: str, closers: re.Pattern[str]) -> tuple[int, ...]:
    """Return where the request may end: at the end of the text, or before words of politeness."""
    for found in closers.finditer(text, max(0, len(text) - _CLOSING_CHARS)):
        if found.end() == len(text) and found.start() > 0:
            return (len(text), found.start())
    return (len(text),)


def _intent(skeleton: Skeleton, rule: Rule, slots: dict[str, str], grammar: Grammar) -> Intent:
    language = chinese_of(skeleton.source) if grammar is _CHINESE else "en-US"
    if not language_of(skeleton.source):
        language = ""
    tidy = {name: _tidy(name, value, grammar) for name, value in slots.items()}
    said = {name: value for name, value in tidy.items() if value or name == "content"}
    return Intent(rule.kind, language, said, _PLAIN)


def _tidy(slot: str, value: str, grammar: Grammar) -> str:
    if slot == "path":
        return value.rstrip(".") if value.strip(".") else value
    if slot == "url" and not value.lower().startswith(("http://", "https://")):
        return f"https://{value}"
    if slot in _TRIMMED:
        return _without_tail(slot, value, grammar)
    return value


def _without_tail(slot: str, value: str, grammar: Grammar) -> str:
    """Take ``, please`` and ``吧`` off a name; of a question its mark, too."""
    marks = ".。!！~,， " if slot == "title" else ".。!！~,，?？ "
    shown = value.strip().rstrip(marks)
    if not shown.endswith(_NAMES_IN_BA):
        shown = shown[: _ends(shown, grammar.tails)[-1]]
    return shown.rstrip(marks).strip('“”"「」')


def _language_of_request(skeleton: Skeleton) -> str:
    in_chinese = _grammar_of(skeleton) is _CHINESE
    return chinese_of(skeleton.source) if in_chinese else "en-US"


def _language_around_names(skeleton: Skeleton) -> str:
    """Return the language of the words outside quotations and file names, if there are any."""
    around = _NAMES.sub(" ", skeleton.text)
    language = language_of(around) or language_of(skeleton.source)
    return chinese_of(skeleton.source) if language.startswith("zh") else language
