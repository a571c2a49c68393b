from hypothesis import given
from hypothesis import strategies as st

from finchbot.tools.files.window import LINE_CHARS, WINDOW_BYTES, Line, Window

TEXT = st.text(st.sampled_from("ab\n\r名"), max_size=40)


def windowed(text: str, first: int, limit: int | None, size: int) -> Window:
    window = Window(first, limit)
    for start in range(0, len(text), size):
        if not window.feed(text[start : start + size]):
            return window
    window.end()
    return window


@given(TEXT, st.integers(1, 12), st.none() | st.integers(1, 12), st.integers(1, 7))
def test_a_window_is_a_slice_of_the_lines_however_the_text_arrives(
    text: str, first: int, limit: int | None, size: int
) -> None:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    wanted = lines[first - 1 :][:limit]
    window = windowed(text, first, limit, size)
    assert [line.text for line in window.lines] == [line.removesuffix("\r") for line in wanted]
    assert [line.number for line in window.lines] == list(range(first, first + len(wanted)))
    assert window.more is (first - 1 + len(wanted) < len(lines) and bool(wanted))


@given(TEXT, st.integers(1, 7))
def test_a_window_past_the_end_knows_how_many_lines_there_are(text: str, size: int) -> None:
    lines = text.count("\n") + (not text.endswith("\n") if text else 0)
    window = windowed(text, 1000, None, size)
    assert window.lines == []
    assert window.number - 1 == lines


def test_a_long_line_is_cut_and_the_rest_counted() -> None:
    window = windowed("名" * 20_000 + "\nnext", 1, None, 1000)
    assert window.lines == [Line(1, "名" * LINE_CHARS, 20_000 - LINE_CHARS), Line(2, "next")]


def test_a_window_is_full_at_its_size() -> None:
    window = windowed("x" * 99 + "\n" + ("x" * 99 + "\n") * 5000, 1, None, 4096)
    shown = sum(len(line.text) for line in window.lines)
    assert window.more
    assert WINDOW_BYTES * 0.8 < shown <= WINDOW_BYTES
