"""How much of what people really write is understood, measured on sets of paraphrases."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from finchbot.i18n import Catalogue
from finchbot.providers.builtin.intents import TASKS, Kind
from finchbot.providers.builtin.script import has_han
from finchbot.providers.builtin.understand import understand

HERE = Path(__file__).parent

CONTRACT = [
    ("help", Kind.HELP, {}),
    ("帮助", Kind.HELP, {}),
    ("說明", Kind.HELP, {}),
    ("remember that I like tea", Kind.REMEMBER, {"text": "I like tea"}),
    ("记住：我喜欢茶", Kind.REMEMBER, {"text": "我喜欢茶"}),
    ("記住：我喜歡茶", Kind.REMEMBER, {"text": "我喜歡茶"}),
    ("what do you know about my cat", Kind.RECALL, {"query": "my cat"}),
    ("你知道我的猫叫什么吗", Kind.RECALL, {"query": "我的猫叫什么"}),
    ("你記得我的生日嗎", Kind.RECALL, {"query": "我的生日"}),
    ("forget my old address", Kind.FORGET, {"pattern": "my old address"}),
    ("忘掉我的旧地址", Kind.FORGET, {"pattern": "我的旧地址"}),
    ("忘掉我的舊地址", Kind.FORGET, {"pattern": "我的舊地址"}),
    ("list files", Kind.LIST_FILES, {}),
    ("列出文件", Kind.LIST_FILES, {}),
    ("列出檔案", Kind.LIST_FILES, {}),
    ("read file notes.txt", Kind.READ_FILE, {"path": "notes.txt"}),
    ("读文件笔记.txt", Kind.READ_FILE, {"path": "笔记.txt"}),
    ("讀檔案 筆記.txt", Kind.READ_FILE, {"path": "筆記.txt"}),
    ("write file a.txt : hi", Kind.WRITE_FILE, {"path": "a.txt", "content": "hi"}),
    ("写文件 a.txt：你好", Kind.WRITE_FILE, {"path": "a.txt", "content": "你好"}),
    ("寫檔案 a.txt：你好嗎", Kind.WRITE_FILE, {"path": "a.txt", "content": "你好嗎"}),
    ("search the web for finches", Kind.WEB_SEARCH, {"query": "finches"}),
    ("搜索雀鸟", Kind.WEB_SEARCH, {"query": "雀鸟"}),
    ("搜尋雀鳥", Kind.WEB_SEARCH, {"query": "雀鳥"}),
    ("read the page https://a.example/b?c=d", Kind.READ_PAGE, {"url": "https://a.example/b?c=d"}),
    ("打开网页 https://a.example", Kind.READ_PAGE, {"url": "https://a.example"}),
    ("打開網頁 example.com/x", Kind.READ_PAGE, {"url": "https://example.com/x"}),
    ("run: ls -la", Kind.RUN_COMMAND, {"command": "ls -la"}),
    ('运行：echo "a b"', Kind.RUN_COMMAND, {"command": 'echo "a b"'}),
    ("運行：date", Kind.RUN_COMMAND, {"command": "date"}),
    ("rename this chat to Trip", Kind.RENAME_CHAT, {"title": "Trip"}),
    ("把对话改名为旅行", Kind.RENAME_CHAT, {"title": "旅行"}),
    ("把對話改名為旅程", Kind.RENAME_CHAT, {"title": "旅程"}),
    ("make a skill that counts words", Kind.MAKE_SKILL, {"description": "counts words"}),
    ("做一个技能，把中文翻译成英文", Kind.MAKE_SKILL, {"description": "把中文翻译成英文"}),
    ("做一個技能：把中文翻譯成英文", Kind.MAKE_SKILL, {"description": "把中文翻譯成英文"}),
]


def paraphrases(name: str) -> list[dict[str, str]]:
    with (HERE / f"{name}.toml").open("rb") as file:
        cases: list[dict[str, str]] = tomllib.load(file)["case"]
    return cases


def is_understood(case: dict[str, str]) -> bool:
    slots: dict[str, Any] = {**case}
    said, means = slots.pop("say"), slots.pop("means")
    intents = understand(said)
    return len(intents) == 1 and intents[0].kind == means and intents[0].slots == slots


@pytest.mark.parametrize(
    ("name", "floor"), [("paraphrases", 0.95), ("heldout", 0.95), ("fresh", 0.95)]
)
def test_paraphrases_are_understood_with_their_slots(name: str, floor: float) -> None:
    cases = paraphrases(name)
    wrong = [case for case in cases if not is_understood(case)]
    assert len(wrong) <= len(cases) * (1 - floor), wrong


def test_the_main_set_is_broad() -> None:
    cases = paraphrases("paraphrases")
    chinese = sum(has_han(case["say"]) for case in cases)
    assert chinese >= 50
    assert len(cases) - chinese >= 50
    assert sum(case["means"] == Kind.UNKNOWN for case in cases) >= 20


def test_no_paraphrase_stands_in_two_sets() -> None:
    said = [
        case["say"] for name in ("paraphrases", "heldout", "fresh") for case in paraphrases(name)
    ]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("name", ["paraphrases", "heldout", "fresh"])
def test_what_is_none_of_these_never_writes_a_file(name: str) -> None:
    for case in paraphrases(name):
        kinds = {intent.kind for intent in understand(case["say"])}
        assert Kind.WRITE_FILE not in kinds or case["means"] == Kind.WRITE_FILE, case["say"]


@pytest.mark.parametrize(("said", "kind", "slots"), CONTRACT)
def test_the_ways_of_the_contract_are_understood(
    said: str, kind: Kind, slots: dict[str, str]
) -> None:
    [intent] = understand(said)
    assert (intent.kind, intent.slots) == (kind, slots)


@pytest.mark.parametrize("language", ["en-US", "zh-CN", "zh-HK"])
def test_every_example_the_model_gives_is_understood(catalogue: Catalogue, language: str) -> None:
    for key, text in catalogue.section("builtin.can", language).items():
        for example in text.split("`")[1::2]:
            [intent] = understand(example)
            assert (intent.kind, intent.missing) == (Kind(key), ()), example
            assert intent.language in (language, language.split("-")[0])


@pytest.mark.parametrize("language", ["en-US", "zh-CN", "zh-HK"])
def test_every_starter_of_the_chat_page_is_understood(catalogue: Catalogue, language: str) -> None:
    for starter in catalogue.section("chat.starters.builtin", language).values():
        [intent] = understand(starter)
        assert intent.kind in TASKS | {Kind.HELP}, starter
        assert not intent.missing
