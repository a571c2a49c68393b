"""The locale files agree: the same keys, the same values to fill in, the words of the house."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from finchbot.i18n import Catalogue
from finchbot.i18n.catalogue import Language, read_language
from finchbot.i18n.template import Template

FOLDER = Path(__file__).parents[2] / "locales"
COMPLETE = ["zh-CN", "zh-HK"]
HAN = "\u4e00-\u9fff"
SIMPLIFIED = (
    "与个临为义买于仅从会传体余关内写决几划则删别办务动区协单历参发变号吗听启响处备复头夹对属带帧帮并库应开当录径"
    "忆态总户损换据携数断无时显暂机权条来标样检欢气没浏点状环现监盘码确种称签简类组终经结给络绝统继绪续编网腾节获"
    "装见规览计认让议记许设访识诉词试话详语误说请读调谈败轮载较输过运还这进连选释钥链错键长闭问间队随静页项须题额馈"
)


def read(tag: str) -> Language:
    return read_language(FOLDER / f"{tag}.toml")


def names(language: Language) -> Mapping[str, frozenset[str]]:
    """Return what each text needs; of several forms, what the general one needs."""
    return {
        key: entry.names if isinstance(entry, Template) else entry["other"].names
        for key, entry in language.texts.items()
    }


def texts(tag: str) -> Iterator[tuple[str, str]]:
    for key, entry in read(tag).texts.items():
        for template in [entry] if isinstance(entry, Template) else entry.values():
            yield key, template.source


def test_hong_kong_reads_traditional_characters_and_its_own_words() -> None:
    foreign = rf"[{SIMPLIFIED}“”]|設置|文件|登錄|消息|默認|渠道|服務器|程序庫|網絡地址|您"
    found = {key: re.findall(foreign, text) for key, text in texts("zh-HK")}
    assert {key: words for key, words in found.items() if words} == {}


def test_every_file_is_read() -> None:
    tags = {path.stem for path in FOLDER.glob("*.toml")} - {"zh"}
    assert set(Catalogue.load(FOLDER).languages) == tags


@pytest.mark.parametrize("tag", COMPLETE)
def test_complete_languages_have_the_keys_of_english(tag: str) -> None:
    assert sorted(names(read(tag))) == sorted(names(read("en-US")))


@pytest.mark.parametrize("tag", [*COMPLETE, "zh"])
def test_the_values_to_fill_in_are_those_of_english(tag: str) -> None:
    english = names(read("en-US"))
    assert {key: wanted for key, wanted in names(read(tag)).items() if wanted != english[key]} == {}


def test_the_shared_chinese_is_the_same_in_both_scripts() -> None:
    shared = dict(texts("zh"))
    assert shared
    assert [text for text in shared.values() if re.search(f"[{SIMPLIFIED}]", text)] == []


@pytest.mark.parametrize("tag", ["en-US", *COMPLETE])
def test_nothing_is_shouted(tag: str) -> None:
    assert [key for key, text in texts(tag) if re.search("[!！]", text)] == []


@pytest.mark.parametrize("tag", COMPLETE)
def test_chinese_stands_apart_from_latin_and_has_its_own_marks(tag: str) -> None:
    glued = rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]|[{HAN}][,;:?()]|[{HAN}]\.(?!\w)|您"
    assert {key: text for key, text in texts(tag) if re.search(glued, text)} == {}
