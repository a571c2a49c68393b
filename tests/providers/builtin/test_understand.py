"""Understanding: laws that hold for any text, and the kinds of request beyond paraphrases."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.providers.builtin.intents import REQUIRED, Intent, Kind
from finchbot.providers.builtin.understand import MAX_REQUESTS, understand

MB = 1_000_000
WORDS = st.one_of(
    st.sampled_from(["list", "read", "write", "file", "files", "to", "into", "a.txt", "b/c.md"]),
    st.sampled_from([":", '"', "'", "`", "```", "~~~", "\n", "and then", "please", "chat", "help"]),
    st.sampled_from(
        ["读", "写", "文件", "把", "写入", "到", "里", "内容是", "：", "「", "」", "“"]
    ),
    st.sampled_from(["”", "，", "然后", "吧", "改名为", "对话", "搜索", "https://a.example"]),
    st.sampled_from(["\x00", "\u200b", "﷽", "👍", "rename", "with the content"]),
)
MESSAGES = st.one_of(
    st.text(),
    st.lists(WORDS).map(" ".join),
    st.lists(WORDS).map("".join),
)


def meaning(intents: tuple[Intent, ...]) -> list[tuple[Kind, dict[str, str]]]:
    return [(intent.kind, dict(intent.slots)) for intent in intents]


@given(MESSAGES)
def test_any_text_is_one_intent_or_a_few_tasks(text: str) -> None:
    intents = understand(text)
    assert 1 <= len(intents) <= MAX_REQUESTS
    assert understand(text) == intents
    if len(intents) > 1:
        assert all(not intent.missing for intent in intents)


@given(MESSAGES)
def test_a_slot_holds_what_the_user_wrote(text: str) -> None:
    for intent in understand(text):
        for name, value in intent.slots.items():
            assert value in text or (name == "url" and value.removeprefix("https://") in text)
            assert value or name == "content"


@given(st.text(min_size=1).filter(lambda text: text == text.strip() and "\ufeff" not in text))
def test_content_after_a_colon_is_kept_letter_by_letter(content: str) -> None:
    [intent] = understand(f"write file a.txt:\n```\n{content.replace('```', '')}\n```")
    assert intent.slots == {"path": "a.txt", "content": content.replace("```", "") + "\n"}


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1))
def test_plain_lines_after_a_colon_are_the_content(lines: list[str]) -> None:
    content = "\n  ".join(lines)
    [intent] = understand(f"写文件 notes.txt：\n{content}")
    assert intent.slots == {"path": "notes.txt", "content": content}


@pytest.mark.parametrize(
    "text",
    [
        "a" * MB,
        " " * MB,
        "\n" * MB,
        "\x00" * MB,
        '"' * MB,
        "`" * MB,
        '"a"' * (MB // 3),
        "'a " * (MB // 3),
        "“a" * (MB // 2),
        "```\n" * (MB // 4),
        "a." * (MB // 2),
        "http://" * (MB // 7),
        "list files then " * (MB // 16),
        "put to " * (MB // 7),
        "读" * MB,
        "把写入a.txt里" * (MB // 10),
        "write file a.txt: " + "x y " * (MB // 4),
        'write "' + "x " * (MB // 2) + '" to a.txt',
    ],
    ids=lambda text: repr(text[:18]),
)
def test_a_message_of_a_megabyte_is_understood_within_a_second(text: str) -> None:
    began = time.perf_counter()
    assert understand(text)
    assert time.perf_counter() - began < 1


def test_long_content_is_kept_whole() -> None:
    content = "line of text\n" * 50_000 + "end"
    [intent] = understand(f"write file big.txt: {content}")
    assert intent.slots["content"] == content


@pytest.mark.parametrize(
    ("said", "path", "content"),
    [
        ("write file a.py:\n    indented = 1\nlast", "a.py", "    indented = 1\nlast"),
        ("write file a.md:\n~~~\nx\n~~~\n", "a.md", "x\n"),
        ("write file a.md:\n````\n```\nx\n```\n````", "a.md", "```\nx\n```\n"),
        ('write file a.txt: "quoted" and more', "a.txt", '"quoted" and more'),
        ("write file a.txt: see b.txt: here", "a.txt", "see b.txt: here"),
        ("写文件 a.txt：“引号”里和外", "a.txt", "“引号”里和外"),
        ("write file a.txt: one, and then read b.txt", "a.txt", "one, and then read b.txt"),
        ("write file a.md:\n```\nnever closed", "a.md", "never closed"),
    ],
)
def test_content_ends_where_the_user_ended_it(said: str, path: str, content: str) -> None:
    assert meaning(understand(said)) == [(Kind.WRITE_FILE, {"path": path, "content": content})]


@pytest.mark.parametrize(
    "said",
    [
        "write a short story to story.txt",
        "create todo.md with a list of ten fruits",
        "put a.txt into docs/b.txt",
        "append one line to a.txt",
        "新建 诗.txt，内容是一首关于春天的诗",
        "往a.txt里追加一行",
        "不要写文件",
    ],
)
def test_a_text_that_would_have_to_be_made_up_is_not_written(said: str) -> None:
    assert all("content" not in intent.slots for intent in understand(said))


READ_A, READ_B = (Kind.READ_FILE, {"path": "a.txt"}), (Kind.READ_FILE, {"path": "b.txt"})


@pytest.mark.parametrize(
    ("said", "tasks"),
    [
        ("list files and then read a.txt", [(Kind.LIST_FILES, {}), READ_A]),
        ("列出文件，然后读 a.txt", [(Kind.LIST_FILES, {}), READ_A]),
        ("先列出檔案再讀a.txt", [(Kind.LIST_FILES, {}), READ_A]),
        ("read a.txt and b.txt", [READ_A, READ_B]),
        ("看看a.txt、b.txt", [READ_A, READ_B]),
        (
            'write "x" to a.txt and then read a.txt',
            [(Kind.WRITE_FILE, {"path": "a.txt", "content": "x"}), READ_A],
        ),
    ],
)
def test_two_requests_are_taken_in_order(
    said: str, tasks: list[tuple[Kind, dict[str, str]]]
) -> None:
    assert meaning(understand(said)) == tasks


@pytest.mark.parametrize(
    "said", ["list files and then bake a cake", "compare a.txt and b.txt", "列出文件，然后跳舞"]
)
def test_several_requests_of_which_one_is_unclear_are_not_half_done(said: str) -> None:
    assert meaning(understand(said)) in ([(Kind.UNKNOWN, {})], [(Kind.LIST_FILES, {})])
    assert len(understand(said)) == 1


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("list files", "en-US"),
        ("read 笔记.md", "en-US"),
        ("rename this chat to 旅行", "en-US"),
        ("列出文件", "zh"),
        ("列出檔案", "zh-HK"),
        ("读一下 README.md", "zh-CN"),
        ("读 a.txt 和 b.txt", "zh-CN"),
        ("帮我把 hello world 翻译成法语", "zh-CN"),
        ("幫我寫一首詩", "zh-HK"),
        ("bonjour tout le monde", "en-US"),
        ("ファイルを一覧して", "en-US"),
        ("?!", ""),
        ("👍", ""),
        ("", ""),
    ],
)
def test_the_language_is_that_of_the_words_around_names(said: str, language: str) -> None:
    assert understand(said)[0].language == language


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("把对话改名为旅行吧", "旅行"),
        ("把对话改名为酒吧", "酒吧"),
        ("rename this chat to Plans, please", "Plans"),
        ("rename this chat to Why not?", "Why not?"),
    ],
)
def test_a_title_keeps_its_words_and_loses_the_politeness(said: str, title: str) -> None:
    assert meaning(understand(said)) == [(Kind.RENAME_CHAT, {"title": title})]


@pytest.mark.parametrize("said", ["对话是什么", "这个对话叫什么", "标题是什么", "what is a chat?"])
def test_a_question_about_a_chat_renames_none(said: str) -> None:
    assert meaning(understand(said)) == [(Kind.UNKNOWN, {})]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("read file", Kind.READ_FILE),
        ("写文件", Kind.WRITE_FILE),
        ("rename this chat", Kind.RENAME_CHAT),
        ("把对话改名", Kind.RENAME_CHAT),
        ("记住", Kind.REMEMBER),
        ("search the web", Kind.WEB_SEARCH),
        ("做一个技能", Kind.MAKE_SKILL),
    ],
)
def test_what_was_left_unsaid_is_known_to_be_missing(said: str, kind: Kind) -> None:
    [intent] = understand(said)
    assert intent.kind == kind
    assert intent.missing == REQUIRED[kind]


@pytest.mark.parametrize("said", ["forget it", "never mind", "算了", "ok", "好的"])
def test_waving_something_off_asks_for_nothing(said: str) -> None:
    assert meaning(understand(said)) == [(Kind.OKAY, {})]


def test_confidence_tells_how_the_request_was_recognised() -> None:
    said = ["list files", "lsit files", "any files in here yet?", "sing a song"]
    assert [understand(text)[0].confidence for text in said] == [1.0, 0.7, 0.5, 0.0]
