import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from finchbot.agent.desk import SCHEMA_VERSION, open_desk
from finchbot.errors import StoreTooNew, ThreadError
from tests.support.agent_stage import THREAD, agent_stage
from tests.support.clock import FakeClock
from tests.support.scripted_chat_model import saying


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.db"


def content(path: Path) -> bytes:
    return path.read_bytes()


def damaged(path: Path, damage: bytes) -> None:
    path.write_bytes(damage)


ROWS = {
    "checkpoints": "SELECT checkpoint_id FROM checkpoints",
    "writes": "SELECT task_id FROM writes",
}


def rows(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return len(connection.execute(ROWS[table]).fetchall())


async def test_one_checkpoint_stays_of_a_thread_however_many_turns(tmp_path: Path) -> None:
    async with agent_stage(tmp_path, saying("answer")) as stage:
        for number in range(5):
            await stage.ask(f"question {number}")
            assert rows(stage.checkpoints, "checkpoints") == 1
            assert rows(stage.checkpoints, "writes") == 0
        desk = stage.agent._desk
        messages = await desk.read(THREAD)
        assert messages is not None
        assert len(messages) == 10


async def test_a_thread_is_forgotten_on_a_desk_that_was_never_used(checkpoints: Path) -> None:
    async with open_desk(checkpoints) as desk:
        await desk.forget(THREAD)
        assert await desk.read(THREAD) is None


async def test_a_forgotten_thread_leaves_no_word_in_the_files(tmp_path: Path) -> None:
    word = "xylophone-4711"
    async with agent_stage(tmp_path, saying("yes")) as stage:
        for number in range(3):
            await stage.ask(f"{word} {number}")
        assert _in_files(tmp_path, word)
        await stage.agent.forget(THREAD)
        assert not _in_files(tmp_path, word)
        assert rows(stage.checkpoints, "checkpoints") == 0


def _in_files(folder: Path, word: str) -> bool:
    return any(word.encode() in file.read_bytes() for file in folder.glob("checkpoints.db*"))


async def test_a_file_of_a_newer_program_is_refused_and_left_alone(checkpoints: Path) -> None:
    async with open_desk(checkpoints):
        pass
    with closing(sqlite3.connect(checkpoints)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = content(checkpoints)
    with pytest.raises(StoreTooNew) as caught:
        async with open_desk(checkpoints):
            pass
    assert caught.value.params == {
        "file": "checkpoints.db",
        "found": SCHEMA_VERSION + 1,
        "known": SCHEMA_VERSION,
    }
    assert content(checkpoints) == before


@pytest.mark.parametrize("damage", [b"this is no database at all" * 99, b"SQLite format 3\0short"])
async def test_a_damaged_file_is_set_aside_and_a_fresh_one_begun(
    checkpoints: Path, damage: bytes
) -> None:
    damaged(checkpoints, damage)
    async with open_desk(checkpoints, clock=FakeClock()) as desk:
        assert await desk.read(THREAD) is None
    aside = checkpoints.with_name("checkpoints.db.corrupt-20261201T080000Z")
    assert content(aside) == damage


def blocked(path: Path) -> None:
    """Let a folder stand in the place of the file."""
    path.mkdir()


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


async def test_what_cannot_be_opened_is_not_taken_for_damaged(checkpoints: Path) -> None:
    blocked(checkpoints)
    with pytest.raises(ThreadError) as caught:
        async with open_desk(checkpoints):
            pass
    assert caught.value.code == "store.failed"
    assert names(checkpoints.parent) == [checkpoints.name]


async def test_a_truncated_file_does_not_keep_the_agent_from_opening(tmp_path: Path) -> None:
    async with agent_stage(tmp_path, saying("x" * 9000)) as stage:
        await stage.ask("hi")
        record = stage.record
    whole = content(stage.checkpoints)
    damaged(stage.checkpoints, whole[: len(whole) // 2])
    async with agent_stage(tmp_path, saying("again"), record=record) as stage:
        await stage.ask("still there?")
        assert len(stage.model.requests[-1].messages) == 4
