"""Everybody gets the nearest language there is, and nothing a system says can break that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.i18n.negotiation import negotiate, system_languages

ALL = ("en-US", "zh-CN", "zh-HK")
WITHOUT_HK = ("en-US", "zh-CN")


@pytest.mark.parametrize(
    ("wish", "tag"),
    [
        ("zh-CN", "zh-CN"),
        ("zh", "zh-CN"),
        ("ZH_cn.GB18030", "zh-CN"),
        ("zh_SG", "zh-CN"),
        ("zh_SG.UTF-8", "zh-CN"),
        ("zh-Hans", "zh-CN"),
        ("zh-Hans-HK", "zh-CN"),
        ("zh_MY", "zh-CN"),
        ("cmn-Hans-CN", "zh-CN"),
        ("zho", "zh-CN"),
        ("zh-HK", "zh-HK"),
        ("zh_TW.UTF-8", "zh-HK"),
        ("zh-TW", "zh-HK"),
        ("zh-MO", "zh-HK"),
        ("zh-Hant", "zh-HK"),
        ("zh-hant-cn", "zh-HK"),
        ("yue", "zh-HK"),
        ("yue-Hant-HK", "zh-HK"),
        ("zh_CN.UTF-8@pinyin", "zh-CN"),
        ("en", "en-US"),
        ("en_GB.ISO8859-15@euro", "en-US"),
        ("fr-FR", "en-US"),
        ("C", "en-US"),
        ("C.UTF-8", "en-US"),
        ("POSIX", "en-US"),
        ("auto", "en-US"),
        ("*", "en-US"),
        ("", "en-US"),
        ("fr, zh-TW;q=0.8, en;q=0.5", "zh-HK"),
        ("en;q=0.5, zh;q=0.9", "zh-CN"),
        ("zh-CN;q=0, en", "en-US"),
        ("zh-HK,zh;q=0.9", "zh-HK"),
        ("zh;q=nonsense", "zh-CN"),
        ("fr:zh_TW:en", "zh-HK"),
    ],
)
def test_a_wish_finds_the_nearest_language(wish: str, tag: str) -> None:
    assert negotiate(ALL, [wish]) == tag


@pytest.mark.parametrize("wish", ["zh_TW.UTF-8", "zh-HK", "zh-Hant", "yue"])
def test_without_traditional_chinese_its_readers_get_simplified(wish: str) -> None:
    assert negotiate(WITHOUT_HK, [wish]) == "zh-CN"


def test_the_strongest_wish_that_can_be_met_wins() -> None:
    assert negotiate(ALL, [None, "", "fr-FR", "zh-HK", "en"]) == "zh-HK"
    assert negotiate(ALL, ["en", "zh-HK"]) == "en-US"
    assert negotiate(ALL, []) == "en-US"


def test_a_new_language_is_found_by_its_language_alone() -> None:
    assert negotiate((*ALL, "pt-BR"), ["pt-PT"]) == "pt-BR"


@given(st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=4))
def test_whatever_is_wished_a_language_there_is_comes_back(wishes: list[str | None]) -> None:
    assert negotiate(ALL, wishes) in ALL


@given(st.sampled_from(ALL), st.sampled_from(["{}", "{}.UTF-8", "{};q=0.3", "fr,{};q=0.1"]))
def test_our_own_tags_always_find_themselves(tag: str, form: str) -> None:
    assert negotiate(ALL, [form.format(tag)]) == tag


@pytest.mark.parametrize(
    ("environ", "wishes"),
    [
        ({}, []),
        ({"LANG": "zh_CN.UTF-8"}, ["zh_CN.UTF-8"]),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, ["en_US.UTF-8"]),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_TW:zh"}, ["zh_TW:zh", "en_US.UTF-8"]),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh_TW:zh"}, []),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "POSIX"}, []),
    ],
)
def test_the_system_is_asked_the_way_posix_says(environ: dict[str, str], wishes: list[str]) -> None:
    assert system_languages(environ) == wishes
