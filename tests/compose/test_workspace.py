"""Where the file tools may go, by the settings."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import cast

import pytest

from finchbot.bot import FinchBot
from finchbot.compose import Options, open_bot
from finchbot.events import RunEvent, ToolCallFinished
from finchbot.ids import OWNER
from finchbot.messages import InboundMessage
from finchbot.run_view import fold_all


async def tool_result(bot: FinchBot, text: str) -> ToolCallFinished:
    """Say something that calls one tool, and return how the call ended."""
    accepted = await bot.send(InboundMessage(user_id=OWNER, text=text))
    seen: list[RunEvent] = []
    stream = cast(AsyncGenerator[RunEvent], bot.events(OWNER, accepted.thread_id, after_seq=0))
    async with aclosing(stream) as events:
        async for event in events:
            seen.append(event)
            if fold_all(accepted.run_id, seen).ended:
                break
    [finished] = [event for event in seen if isinstance(event, ToolCallFinished)]
    return finished


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("restricted", [True, False])
async def test_the_tools_leave_the_workspace_only_when_the_user_says_so(
    tmp_path: Path, restricted: bool
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    config = home / "config.json"
    config.write_text(json.dumps({"tools": {"restrict_to_workspace": restricted}}))
    (tmp_path / "outside.txt").write_text("from outside")
    async with open_bot(Options(home=home, model="builtin")) as bot:
        outside = await tool_result(bot, f"read file `{tmp_path / 'outside.txt'}`")
        assert outside.is_error is restricted
        assert ("from outside" in outside.output) is not restricted
        for shut in (config, home / "data" / "threads.db", home / "logs" / "finchbot.log"):
            assert (await tool_result(bot, f"read file `{shut}`")).is_error
