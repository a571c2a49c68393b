"""A bench can fail: a figure beyond its reach is called so, one within never is."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.__main__ import main
from tests.bench.report import CLEAR_MARGIN, Figure, Reach, missed, table

amounts = st.floats(0.01, 1000)
kinds = st.sampled_from(["ours", "ratio", "difference"])


def figure(
    kind: Literal["ours", "ratio", "difference"], *, share: float, quiet_only: bool = False
) -> Figure:
    """Return a figure that takes so much of its reach."""
    limit, floor = 1.25, 8.0
    ours = {"ours": 0.0, "ratio": 0.0, "difference": floor}[kind]
    ours += share * limit * (floor if kind == "ratio" else 1)
    return Figure("f", ours, floor, "ms", Reach(kind, limit), quiet_only)


@given(kinds, st.floats(0, 0.999), st.booleans())
def test_what_is_within_its_reach_is_met(
    kind: Literal["ours", "ratio", "difference"], share: float, quiet: bool
) -> None:
    assert figure(kind, share=share).verdict(quiet=quiet) == "yes"


@given(kinds, st.floats(CLEAR_MARGIN + 0.001, 100))
def test_what_is_clearly_beyond_it_fails_the_bench(
    kind: Literal["ours", "ratio", "difference"], share: float
) -> None:
    assert missed([figure(kind, share=share)], quiet=True) == ["f"]


@given(kinds, st.floats(1.001, CLEAR_MARGIN - 0.001))
def test_what_is_a_little_beyond_is_said_and_does_not_fail(
    kind: Literal["ours", "ratio", "difference"], share: float
) -> None:
    assert figure(kind, share=share).verdict(quiet=True) == "near"
    assert missed([figure(kind, share=share)], quiet=True) == []


def test_a_reach_for_a_quiet_machine_is_held_on_a_quiet_machine_only() -> None:
    slow = figure("ours", share=3, quiet_only=True)
    assert slow.verdict(quiet=True) == "no"
    assert slow.verdict(quiet=False) == "near"


@given(amounts)
def test_a_figure_for_information_has_no_verdict(ours: float) -> None:
    assert Figure("f", ours, None, "MB").verdict(quiet=True) == "–"


@given(st.lists(amounts, min_size=1, max_size=5))
def test_the_columns_stand_below_their_names(values: list[float]) -> None:
    figures = [Figure("n" * n, v, v, "s", Reach("ratio", 2)) for n, v in enumerate(values)]
    head, _, *rows = table(figures, quiet=True).splitlines()
    assert len(rows) == len(values)
    assert {row.rindex("  ") + 2 for row in rows} == {head.index("met?")}


def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["start", "nothing"]) == 2
    assert "no such row: nothing" in capsys.readouterr().out
