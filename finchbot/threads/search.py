"""Words to search by (pure): Chinese by character, other scripts by word, always quoted.

Every Chinese, Japanese or Korean character is a word of its own in the index, and a run of
them in a query is a phrase; so any part of a sentence is found, two characters or twenty. Where
scripts touch, as in ``重跑gen-itgc后``, words end.
"""

import re
import unicodedata
from dataclasses import dataclass

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
CHARACTER = re.compile(f"([{CJK}])")
CHARACTERS = re.compile(f"([{CJK}]+)")
WORD = re.compile(r"[^\W_]+")
LONGEST = 1000
"""Characters of a query that count; SQLite takes no more terms than fit into them."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a search asks of one text: all of it must hold."""

    match: str | None
    """An FTS5 expression, safe as it stands; None when nothing of the query is a word."""
    likes: tuple[str, ...]
    """LIKE patterns with ``\\`` as escape: the parts whose marks matter, such as ``C++``."""


def index_words(text: str) -> str:
    """Return the text as it goes into the full-text index."""
    return CHARACTER.sub(r" \1 ", _folded(text)).replace("\0", " ")


def parse_query(q: str) -> Query:
    """Return what to ask for; operators, quotes and wildcards in `q` are plain characters.

    Only the first `LONGEST` characters count.
    """
    phrases: list[str] = []
    likes: list[str] = []
    for term in q[:LONGEST].replace("\0", " ").split():
        words = [
            word
            for run in CHARACTERS.split(_folded(term))
            for word in ([" ".join(run)] if CHARACTERS.fullmatch(run) else WORD.findall(run))
        ]
        phrases += [
            f'"{word}"' if " " in word or CHARACTER.match(word) else f'"{word}"*' for word in words
        ]
        if not words or any(not char.isalnum() for char in term):
            likes.append(f"%{_escaped(term)}%")
    return Query(" AND ".join(phrases) or None, tuple(likes))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _escaped(term: str) -> str:
    return re.sub(r"([%_\\])", r"\\\1", term)
