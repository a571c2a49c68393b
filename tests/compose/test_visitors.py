"""What a visitor of a demo leaves is removed, and nothing of anybody else's."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from finchbot.compose.visitors import VisitorTraces, visitor_folder
from finchbot.ids import OWNER, UserId
from tests.support.core import Core, open_core

ANN, BO = UserId("visitor_ann"), UserId("visitor_bo")


@pytest.fixture
async def core(tmp_path: Path) -> AsyncIterator[Core]:
    async with open_core(tmp_path) as core:
        yield core


@pytest.fixture
def traces(core: Core, tmp_path: Path) -> VisitorTraces:
    return VisitorTraces(tmp_path / "visitors", core.store, core.threads)


async def left_by(core: Core, traces: VisitorTraces, user: UserId) -> None:
    """Let a user say something, archive a second thread and keep a file."""
    accepted = await core.send(f"words of {user}", user=user)
    await core.until_ended(accepted, user=user)
    archived = await core.threads.create(user, title=f"archive of {user}")
    await core.threads.update(user, archived.id, archived=True)
    folder = visitor_folder(traces.folder, user)
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "notes.txt").write_text("kept")


async def threads_of(core: Core, user: UserId) -> int:
    pages = [await core.threads.list(user, archived=archived) for archived in (False, True)]
    return sum(len(page.items) for page in pages)


async def test_one_visitors_threads_and_files_go_and_the_others_stay(
    core: Core, traces: VisitorTraces
) -> None:
    for user in (ANN, BO):
        await left_by(core, traces, user)
    await traces.remove(ANN)
    assert await threads_of(core, ANN) == 0
    assert await threads_of(core, BO) == 2
    assert not visitor_folder(traces.folder, ANN).exists()
    assert (visitor_folder(traces.folder, BO) / "deep" / "notes.txt").read_text() == "kept"
    assert len(core.desk.asked) == 2


async def test_removing_a_visitor_who_left_nothing_does_nothing(traces: VisitorTraces) -> None:
    await traces.remove(ANN)
    await traces.remove(ANN)


async def test_a_demo_begins_without_traces_and_leaves_none(
    core: Core, traces: VisitorTraces
) -> None:
    await left_by(core, traces, ANN)
    await left_by(core, traces, OWNER)
    async with traces.kept_for_now():
        assert await core.store.user_ids() == [OWNER]
        assert not traces.folder.exists()
        await left_by(core, traces, BO)
    assert await core.store.user_ids() == [OWNER]
    assert await threads_of(core, OWNER) == 2
    assert not traces.folder.exists()
