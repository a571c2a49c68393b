import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.threads.search import index_words, parse_query


def matches(text: str, q: str) -> bool:
    """Ask SQLite itself whether a text has the words of a query."""
    query = parse_query(q)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5 (words, tokenize = 'unicode61')")
        connection.execute("INSERT INTO t VALUES (?)", (index_words(text),))
        found = query.match is None or connection.execute(
            "SELECT count(*) FROM t WHERE words MATCH ?", (query.match,)
        ).fetchone() == (1,)
        liked = all(
            connection.execute(r"SELECT ? LIKE ? ESCAPE '\'", (text, like)).fetchone() == (1,)
            for like in query.likes
        )
    connection.close()
    return found and liked


@pytest.mark.parametrize(
    ("text", "q"),
    [
        ("今天讨论了部署方案", "部署"),
        ("今天讨论了部署方案", "部署方案"),
        ("今天讨论了部署方案", "案"),
        ("重跑gen-itgc后50条", "itgc"),
        ("重跑gen-itgc后50条", "后50"),
        ("重跑gen-itgc后50条", "gen-itgc"),
        ("I like C++ and Rust", "C++"),
        ("The deployment went well", "deploy"),
        ("The deployment went well", "WELL deployment"),
        ('what\'s "x"', "what's \"x"),
        ("100% sure", "100%"),
        ("a_b", "a_b"),
        ("Ｆｕｌｌ width", "full"),
        ("カタカナの文", "タカ"),
        ("안녕하세요", "안녕"),
        ("café", "cafe"),
        ("b -bar", "-bar"),
    ],
)
def test_a_text_is_found_by_a_part_of_it(text: str, q: str) -> None:
    assert matches(text, q)


@pytest.mark.parametrize(
    ("text", "q"),
    [
        ("今天讨论了部署方案", "署部"),
        ("今天讨论了部署方案", "部案"),
        ("alpha", "%"),
        ("alpha", "_"),
        ("axb", "a_b"),
        ("100 apples", "100%"),
        ("C and D", "C++"),
        ("bar", "-bar"),
        ("a or b", "NEAR("),
        ("plain", "pla*n"),
    ],
)
def test_signs_and_operators_are_plain_characters(text: str, q: str) -> None:
    assert not matches(text, q)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_query_breaks_the_search(text: str, q: str) -> None:
    matches(text, q)


@given(st.text(alphabet="部署方案讨论了今天", min_size=1, max_size=12), st.data())
def test_any_part_of_a_chinese_text_finds_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert matches(f"前{text}后", text[start:end])
